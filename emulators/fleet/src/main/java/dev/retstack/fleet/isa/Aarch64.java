package dev.retstack.fleet.isa;

import static dev.retstack.unicorn.Arm64Const.*;

import dev.retstack.fleet.isa.AbiCard.Moment;
import dev.retstack.fleet.isa.AbiCard.SiteTable;
import dev.retstack.unicorn.UcConst;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * aarch64, little-endian. Source: Procedure Call Standard for the Arm 64-bit Architecture, 6.1
 * "Machine Registers" and 6.4.6 "The Frame Pointer" (the frame record: x29 points at the pair
 * caller's x29, return address).
 *
 * <pre>
 * -pg: called behind the prologue               -fpatchable-function-entry=2
 *
 *   f: stp  x29, x30, [sp, #-n]!                  f: bti  c                      where built so
 *      mov  x29, sp                                  nop                         selfpc
 *      xpaclri                                       nop
 *      mov  x0, x30   these two may stand apart      stp  x29, x30, [sp, #-n]!
 *      bl   _mcount   selfpc                         ...
 *      ...                                           ret
 *      ldp  x29, x30, [sp], #n
 *      ret
 *
 * in _mcount                                    at the nops
 *   x30        return address: selfpc + 4         x30   frompc
 *   [x29]      caller's frame pointer             sp    retp: what stands for the slot
 *   [x29, #8]  frompc; retp = x29 + 8             x29   caller's frame pointer
 *   x0         frompc once more
 *
 * in return_to_handler, both: x29 is the caller's again; sp is what it was at the call, which tells
 * retp of a patchable function, but not where a frame record was
 * </pre>
 *
 * Results: x0 x1, v0-v3, memory at x8. The way out uses x16, x17 and x30 only, which a return
 * leaves to anyone.
 */
final class Aarch64 {
  private static final AbiCard MCOUNT =
      AbiCard.named("mcount")
          .flags("-pg")
          .moment(Moment.AFTER_PROLOGUE)
          .symbols("_mcount", "\u0001_mcount", "mcount")
          .callForms(
              CallForm.bits(
                      "bl",
                      4,
                      0x9400_0000L,
                      0xfc00_0000L,
                      (at, code) -> at + (((int) code << 6) >> 4))
                  .skippedBy("01 00 00 14"))
          .callRelocations(0, 283) // R_AARCH64_CALL26
          .nop("1f 20 03 d5")
          .entryStub("c0 03 5f d6")
          .returnAddress(Operand.register(UC_ARM64_REG_X30))
          .slot(Operand.sum(UC_ARM64_REG_X29, 8))
          .parent(Operand.register(UC_ARM64_REG_X0))
          .fpMustAgree(Operand.word(UC_ARM64_REG_X29, 0), Operand.register(UC_ARM64_REG_X29))
          .slotFromFp(8)
          .remark("retp cannot be foretold at exit")
          .build();

  private static final AbiCard PATCHABLE =
      AbiCard.named("patchable")
          .flags("-fpatchable-function-entry=2")
          .moment(Moment.BEFORE_PROLOGUE)
          .arguments(
              UC_ARM64_REG_X0,
              UC_ARM64_REG_X1,
              UC_ARM64_REG_X2,
              UC_ARM64_REG_X3,
              UC_ARM64_REG_X4,
              UC_ARM64_REG_X5,
              UC_ARM64_REG_X6,
              UC_ARM64_REG_X7)
          .sites(SiteTable.PATCHABLE, "1f 20 03 d5")
          .slots(Slot.register(UC_ARM64_REG_X30, Operand.register(UC_ARM64_REG_SP)))
          .fpMustAgree(Operand.register(UC_ARM64_REG_X29), Operand.register(UC_ARM64_REG_X29))
          .retpAtExit(Operand.register(UC_ARM64_REG_SP))
          .remark("the nops stay: the site is seen, not patched")
          .build();

  static final Isa ISA =
      new Isa(
          "aarch64",
          183,
          8,
          ByteOrder.LITTLE_ENDIAN,
          new Isa.Engine(UcConst.UC_ARCH_ARM64, UcConst.UC_MODE_ARM, OptionalInt.empty()),
          CodeAddresses.PLAIN,
          new Registers(
              UC_ARM64_REG_PC,
              UC_ARM64_REG_SP,
              UC_ARM64_REG_X30,
              UC_ARM64_REG_X29,
              Registers.NONE,
              UC_ARM64_REG_X0,
              List.of(
                  new Registers.Named("x0", UC_ARM64_REG_X0, 8),
                  new Registers.Named("x1", UC_ARM64_REG_X1, 8),
                  new Registers.Named("v0", UC_ARM64_REG_V0, 16),
                  new Registers.Named("v1", UC_ARM64_REG_V1, 16),
                  new Registers.Named("v2", UC_ARM64_REG_V2, 16),
                  new Registers.Named("v3", UC_ARM64_REG_V3, 16))),
          BringUp.NOTHING,
          SyscallAbi.onInterrupt(2) // svc
              .number(SyscallAbi.Numbers.GENERIC, UC_ARM64_REG_X8)
              .arguments(
                  UC_ARM64_REG_X0,
                  UC_ARM64_REG_X1,
                  UC_ARM64_REG_X2,
                  UC_ARM64_REG_X3,
                  UC_ARM64_REG_X4,
                  UC_ARM64_REG_X5)
              .result(UC_ARM64_REG_X0)
              .platform("aarch64")
              .build(),
          LandingCode.oneBlock(32, Aarch64::wayOut, Aarch64::jump),
          new Isa.Stops(
              List.of(Encoding.littleEndian(0x1400_0000)),
              Map.of(
                  1, "undefined instruction",
                  3, "prefetch abort",
                  4, "data abort",
                  7, "breakpoint")),
          List.of(MCOUNT, PATCHABLE));

  private Aarch64() {}

  /** {@code b target}, 128 MiB either way. */
  private static byte[] jump(long at, long target) {
    long words = (target - at) >> 2;
    return words << 38 >> 38 == words && target % 4 == 0
        ? Encoding.littleEndian(0x1400_0000 | ((int) words & 0x3ff_ffff))
        : new byte[0];
  }

  /** {@code ldr x30, mailbox; ret}. */
  private static byte[] wayOut(long at, long mailbox) {
    int words = (int) (mailbox - at) >> 2;
    return Encoding.littleEndian(0x5800_001e | ((words & 0x7_ffff) << 5), 0xd65f_03c0);
  }
}
