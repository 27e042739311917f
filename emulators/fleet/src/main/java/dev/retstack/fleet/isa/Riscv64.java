package dev.retstack.fleet.isa;

import static dev.retstack.unicorn.RiscvConst.*;

import dev.retstack.fleet.isa.AbiCard.Moment;
import dev.retstack.unicorn.UcConst;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * riscv64, little-endian. Source: RISC-V ELF psABI, "Integer Calling Convention", "Frame Pointer
 * Convention" (the return address at s0 - 8, the caller's frame pointer at s0 - 16).
 *
 * <pre>
 * -pg -fno-omit-frame-pointer: called behind the prologue
 *
 *   f: addi sp, sp, -n
 *      sd   ra, n-8(sp)
 *      sd   s0, n-16(sp)
 *      addi s0, sp, n
 *      mv   a0, ra
 *      call _mcount                  selfpc; auipc+jalr (8), relaxed to jal (4)
 *      ...
 *      ld   ra, n-8(sp); ld s0, n-16(sp)
 *      addi sp, sp, n
 *      ret
 *
 * in _mcount
 *   ra        return address: selfpc + 8 or 4
 *   -8(s0)    frompc; retp = s0 - 8
 *   -16(s0)   caller's frame pointer
 *   a0        frompc once more
 *
 * in return_to_handler: s0 is the caller's again; a variadic function keeps its arguments above
 * s0, so sp does not tell where the slot was
 * </pre>
 *
 * Without a frame pointer s0 is anything: the slot does not hold a0 and the entry is left alone.
 * Results: a0 a1, fa0 fa1. The way out uses t0 and ra only, which a return leaves to anyone.
 */
final class Riscv64 {
  private static final AbiCard MCOUNT =
      AbiCard.named("mcount")
          .flags("-pg -fno-omit-frame-pointer")
          .moment(Moment.AFTER_PROLOGUE)
          .symbols("_mcount", "mcount")
          .callForms(
              // auipc rs, hi; jalr ra, lo(rs): rd of the second is ra, its opcode and funct3 fixed
              CallForm.bits(
                  "auipc+jalr", 8, 0x0000_00e7_0000_0017L, 0x0000_7fff_0000_007fL, Riscv64::far),
              CallForm.bits("jal", 4, 0x0000_00efL, 0x0000_0fffL, Riscv64::near))
          .nop("13 00 00 00")
          .entryStub("67 80 00 00")
          .returnAddress(Operand.register(UC_RISCV_REG_RA))
          .slot(Operand.sum(UC_RISCV_REG_S0, -8))
          .parent(Operand.register(UC_RISCV_REG_A0))
          .fpMustAgree(Operand.word(UC_RISCV_REG_S0, -16), Operand.register(UC_RISCV_REG_S0))
          .slotFromFp(-8)
          .remark("needs -fno-omit-frame-pointer; retp cannot be foretold at exit")
          .build();

  static final Isa ISA =
      new Isa(
          "riscv64",
          243,
          8,
          ByteOrder.LITTLE_ENDIAN,
          new Isa.Engine(UcConst.UC_ARCH_RISCV, UcConst.UC_MODE_RISCV64, OptionalInt.empty()),
          CodeAddresses.PLAIN,
          new Registers(
              UC_RISCV_REG_PC,
              UC_RISCV_REG_SP,
              UC_RISCV_REG_RA,
              UC_RISCV_REG_S0,
              Registers.NONE,
              UC_RISCV_REG_A0,
              List.of(
                  new Registers.Named("a0", UC_RISCV_REG_A0, 8),
                  new Registers.Named("a1", UC_RISCV_REG_A1, 8),
                  new Registers.Named("fa0", UC_RISCV_REG_FA0, 8),
                  new Registers.Named("fa1", UC_RISCV_REG_FA1, 8))),
          (engine, symbols) -> {
            // MSTATUS.FS = dirty: floating point on
            engine.reg_write(UC_RISCV_REG_MSTATUS, engine.reg_read(UC_RISCV_REG_MSTATUS) | 0x6000);
            symbols
                .apply("__global_pointer$")
                .ifPresent(address -> engine.reg_write(UC_RISCV_REG_GP, address));
          },
          SyscallAbi.onInterrupt(8) // ecall
              .number(SyscallAbi.Numbers.GENERIC, UC_RISCV_REG_A7)
              .arguments(
                  UC_RISCV_REG_A0,
                  UC_RISCV_REG_A1,
                  UC_RISCV_REG_A2,
                  UC_RISCV_REG_A3,
                  UC_RISCV_REG_A4,
                  UC_RISCV_REG_A5)
              .result(UC_RISCV_REG_A0)
              .platform("riscv64")
              .build(),
          new LandingCode(
              4, (at, tail, mailbox) -> Encoding.littleEndian(jump(at, tail)), Riscv64::tail),
          new Isa.Stops(
              List.of(Encoding.littleEndian(0x0000_006f), new byte[] {0x01, (byte) 0xa0}),
              Map.of(
                  0, "misaligned fetch",
                  1, "fetch fault",
                  2, "illegal instruction",
                  3, "breakpoint",
                  4, "misaligned load",
                  5, "load fault",
                  6, "misaligned store",
                  7, "store fault")),
          List.of(MCOUNT));

  private Riscv64() {}

  /** Target of auipc+jalr: pc + hi20 + lo12. */
  private static long far(long at, long code) {
    return at + ((int) code & 0xffff_f000) + ((int) (code >> 32) >> 20);
  }

  /** Target of jal: the J-immediate, bits 20|10:1|11|19:12. */
  private static long near(long at, long code) {
    int i = (int) code;
    return at
        + (((i >> 31) << 20)
            | (i & 0xf_f000)
            | (((i >>> 20) & 1) << 11)
            | (((i >>> 21) & 0x3ff) << 1));
  }

  /** {@code j to}. */
  private static int jump(long at, long to) {
    int d = (int) (to - at);
    return (((d >>> 20) & 1) << 31)
        | (((d >>> 1) & 0x3ff) << 21)
        | (((d >>> 11) & 1) << 20)
        | (d & 0xf_f000)
        | 0x6f;
  }

  /** {@code auipc t0, hi(mailbox); ld ra, lo(mailbox)(t0); ret}. */
  private static byte[] tail(long at, long mailbox) {
    int distance = (int) (mailbox - at);
    int high = (distance + 0x800) & 0xffff_f000;
    int low = distance - high;
    int auipc = high | (5 << 7) | 0x17;
    int ld = (low << 20) | (5 << 15) | (3 << 12) | (1 << 7) | 0x03;
    return Encoding.littleEndian(auipc, ld, 0x0000_8067);
  }
}
