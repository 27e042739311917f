package dev.retstack.machine.isa;

import static dev.retstack.unicorn.Arm64Const.*;

import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.AbiCard.Moment;
import dev.retstack.machine.isa.call.AbiCard.SiteTable;
import dev.retstack.machine.isa.call.CallForm;
import dev.retstack.machine.isa.call.Code;
import dev.retstack.machine.isa.call.CodeAddresses;
import dev.retstack.machine.isa.call.Encoding;
import dev.retstack.machine.isa.call.LandingCode;
import dev.retstack.machine.isa.call.Operand;
import dev.retstack.machine.isa.call.Prologue;
import dev.retstack.machine.isa.call.Registers;
import dev.retstack.machine.isa.call.ReturnReads;
import dev.retstack.machine.isa.call.SiteFacts;
import dev.retstack.machine.isa.call.Slot;
import dev.retstack.machine.isa.sigframe.SignalAbi;
import dev.retstack.machine.isa.system.BringUp;
import dev.retstack.machine.isa.system.Dialect;
import dev.retstack.machine.isa.system.DynamicAbi;
import dev.retstack.machine.isa.system.ElfAbi;
import dev.retstack.machine.isa.system.ElfAbi.ForeignAbi;
import dev.retstack.machine.isa.system.InterruptAbi;
import dev.retstack.machine.isa.system.StatLayout;
import dev.retstack.machine.isa.system.SyscallAbi;
import dev.retstack.unicorn.UcConst;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.IntStream;

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
 *   x0         frompc once more; clang does not load it
 *
 * in return_to_handler, both: x29 is the caller's again; sp is what it was at the call, which gives
 * retp of a patchable function, but not where a frame record was
 * </pre>
 *
 * Results: x0 x1, v0-v3, memory at x8. The way out uses x16, x17 and x30 only, which a return
 * leaves to anyone.
 */
final class Aarch64 {
  private static final Prologue FRAME = Aarch64::frame;

  /**
   * {@code mov xn, x30}; {@code xpaclri}; {@code ldr xn, [x29, #8]}; {@code str x30, [xn, #k]}: its
   * own. {@code ldr xn, [x29]}; {@code mov xn, x29}; {@code str x29, [x29, #k]}: those of a walk
   * along frame records.
   */
  private static final ReturnReads READS =
      ReturnReads.byForms(
          code -> 4,
          form(0xaa1e_03e0L, 0xffff_ffe0L, 1L << 30, ReturnReads.Kind.OWN),
          form(0xd503_20ffL, 0xffff_ffffL, 0, ReturnReads.Kind.OWN),
          form(0xf940_07a0L, 0xffff_ffe0L, 1L << 30, ReturnReads.Kind.OWN),
          new ReturnReads.Form(0xf900_001eL, 0xffc0_001fL, 5, 31, 1L << 31, ReturnReads.Kind.OWN),
          form(0xf940_03a0L, 0xffff_ffe0L, 1L << 29, ReturnReads.Kind.ALL),
          form(0xaa1d_03e0L, 0xffff_ffe0L, 0, ReturnReads.Kind.ALL),
          form(0xf900_03bdL, 0xffc0_03ffL, 0, ReturnReads.Kind.ALL));

  private static final AbiCard MCOUNT =
      counting("mcount", "-pg", true).parent(Operand.register(UC_ARM64_REG_X0)).build();

  private static final AbiCard CLANG_MCOUNT =
      counting("clang-mcount", "-pg, by clang", false).build();

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
          .reads(READS)
          .remark("the nops stay: the site is seen, not patched")
          .build();

  static final Isa ISA =
      new Isa(
          "aarch64",
          ElfAbi.plain(183, "aarch64", ForeignAbi.byClass(4, "ILP32", "compile with -mabi=lp64")),
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
              .dialect(Dialect.EXCHANGED_FLAGS)
              .number("generic", UC_ARM64_REG_X8)
              .arguments(
                  UC_ARM64_REG_X0,
                  UC_ARM64_REG_X1,
                  UC_ARM64_REG_X2,
                  UC_ARM64_REG_X3,
                  UC_ARM64_REG_X4,
                  UC_ARM64_REG_X5)
              .result(UC_ARM64_REG_X0)
              .stat(StatLayout.GENERIC)
              .platform("aarch64")
              .dynamic(
                  DynamicAbi.of(
                      "aarch64-linux-gnu", "libc6-arm64-cross", "c0 03 5f d6", Aarch64::importSlot))
              .threads(SyscallAbi.CloneAbi.backwards(UC_ARM64_REG_TPIDR_EL0))
              .signals(signals())
              .build(),
          InterruptAbi.plain(0, 0, 16, UC_ARM64_REG_X0, UC_ARM64_REG_X1, UC_ARM64_REG_X2),
          LandingCode.oneBlock(32, Aarch64::wayOut, Aarch64::jump),
          new Isa.Stops(
              List.of(Encoding.littleEndian(0x1400_0000)),
              Map.of(
                  1, "undefined instruction",
                  3, "prefetch abort",
                  4, "data abort",
                  7, "breakpoint")),
          List.of(MCOUNT, CLANG_MCOUNT, PATCHABLE));

  private Aarch64() {}

  private static ReturnReads.Form form(long pattern, long mask, long but, ReturnReads.Kind kind) {
    return new ReturnReads.Form(pattern, mask, 0, 31, but, kind);
  }

  /**
   * {@code asm/sigcontext.h}:
   *
   * <pre>
   *   0     siginfo    128  ucontext, with mcontext at 176 and a record of vectors at 464
   *   4688  frame record
   * </pre>
   */
  private static SignalAbi signals() {
    return new SignalAbi.Layout(4704, 0, 0, 0, 128)
        .trampoline(4, Encoding.littleEndian(0xd280_1168, 0xd400_0001)) // mov x8, 139; svc
        .stackAndMask(16, 40)
        .faultAt(176)
        .registers(184, 8, 8, IntStream.range(UC_ARM64_REG_X0, UC_ARM64_REG_X28 + 1).toArray())
        .registers(184 + 29 * 8, 8, 8, UC_ARM64_REG_X29, UC_ARM64_REG_X30)
        .registers(432, 8, 8, UC_ARM64_REG_SP, UC_ARM64_REG_PC)
        .flags(UC_ARM64_REG_NZCV, 448, 8, 0xf000_0000L, 0)
        .word(464, 4, 0x4650_8001) // FPSIMD_MAGIC
        .word(468, 4, 528)
        .registers(472, 4, 4, UC_ARM64_REG_FPSR, UC_ARM64_REG_FPCR)
        .registers(480, 16, 16, IntStream.range(UC_ARM64_REG_V0, UC_ARM64_REG_V0 + 32).toArray())
        .chainAt(4688)
        .faults(
            Map.of(
                1, new SignalAbi.Fault(SignalAbi.SIGILL, 1),
                3, new SignalAbi.Fault(SignalAbi.SIGSEGV, SignalAbi.SEGV_MAPERR),
                4, new SignalAbi.Fault(SignalAbi.SIGSEGV, SignalAbi.SEGV_MAPERR),
                7, new SignalAbi.Fault(SignalAbi.SIGTRAP, SignalAbi.TRAP_BRKPT)))
        .build();
  }

  /** AAELF64, "Procedure Linkage Table": {@code [bti c;] adrp x16, slot; ldr x17, [x16, #slot]}. */
  private static OptionalLong importSlot(Code code, long address, long got) {
    long at = (int) code.at(address) == 0xd503_245f ? address + 4 : address;
    int adrp = (int) code.at(at);
    int load = (int) code.at(at + 4);
    if ((adrp & 0x9f00_001f) != 0x9000_0010 || (load & 0xffc0_03ff) != 0xf940_0211) {
      return OptionalLong.empty();
    }
    int pages = (adrp << 8 >> 13 << 2) | (adrp >>> 29 & 3);
    int offset = (load >>> 10 & 0xfff) << 3;
    return OptionalLong.of((at & -4096) + ((long) pages << 12) + offset);
  }

  /** What gcc's and clang's way to call {@code _mcount} have in common. */
  private static AbiCard.Builder counting(String name, String flags, boolean passesParent) {
    return AbiCard.named(name)
        .flags(flags)
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
        .prologue(FRAME.passingParent(code -> 4, Aarch64::loadsX0, passesParent))
        .returnAddress(Operand.register(UC_ARM64_REG_X30))
        .slot(Operand.sum(UC_ARM64_REG_X29, 8))
        .fpMustAgree(Operand.word(UC_ARM64_REG_X29, 0), Operand.register(UC_ARM64_REG_X29))
        .slotFromFp(8)
        .reads(READS)
        .remark("retp cannot be predicted at exit");
  }

  /** {@code mov x0, xn}, {@code ldr x0, [xn, #k]}, {@code ldur x0, [xn, #k]}. */
  private static boolean loadsX0(long code) {
    return (code & 0xffe0_ffffL) == 0xaa00_03e0L
        || (code & 0xffc0_001fL) == 0xf940_0000L
        || (code & 0xffe0_0c1fL) == 0xf840_0000L;
  }

  /**
   * How far the frame record lies below the stack pointer of the call. Where x29 is not made to
   * point at one, the return address is where only this function knows.
   */
  private static Optional<SiteFacts> frame(Code code, long function, long site, long after) {
    return function == site || pointsAtRecord(code, function, site)
        ? record(code, function, site)
        : Optional.of(SiteFacts.NONE.withWhere(SiteFacts.Where.UNREAD));
  }

  /** {@code stp x29, x30, [sp, #n]} or {@code [sp, #-m]!}, then {@code add x29, sp, #n}. */
  private static boolean pointsAtRecord(Code code, long function, long site) {
    long record = -1;
    for (long at = function; at - site < 0; at += 4) {
      int word = (int) code.at(at);
      if ((word & 0xffc0_7fff) == 0xa980_7bfd) {
        record = 0;
      } else if ((word & 0xffc0_7fff) == 0xa900_7bfd) {
        record = 8L * (word << 10 >> 25);
      } else if ((word & 0xffc0_03ff) == 0x9100_03fd && (word >>> 10 & 0xfff) == record) {
        return true;
      }
    }
    return false;
  }

  private static Optional<SiteFacts> record(Code code, long function, long site) {
    long down = 0;
    for (long at = function; at < site; at += 4) {
      int word = (int) code.at(at);
      if ((word & 0xffc0_7fff) == 0xa980_7bfd) { // stp x29, x30, [sp, #-n]!
        return Optional.of(SiteFacts.NONE.withFrame(8, down - 8L * (word << 10 >> 25)));
      }
      if ((word & 0xffc0_7fff) == 0xa900_7bfd) { // stp x29, x30, [sp, #n]
        return Optional.of(SiteFacts.NONE.withFrame(8 + 8L * (word << 10 >> 25), down));
      }
      if ((word & 0xff80_03ff) == 0xd100_03ff) { // sub sp, sp, #n
        down += (long) (word >>> 10 & 0xfff) << ((word & 0x40_0000) != 0 ? 12 : 0);
      } else if ((word & 0xbfc0_03e0) == 0xad80_03e0 || (word & 0xffc0_03e0) == 0xa980_03e0) {
        return Optional.of(SiteFacts.NONE); // other registers, pushed first
      }
    }
    return Optional.of(SiteFacts.NONE);
  }

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
