package dev.retstack.machine.isa;

import static dev.retstack.machine.isa.system.StatLayout.eight;
import static dev.retstack.machine.isa.system.StatLayout.four;
import static dev.retstack.schema.record.SignalContext.EMT;
import static dev.retstack.unicorn.SparcConst.*;

import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.AbiCard.Moment;
import dev.retstack.machine.isa.call.CallForm;
import dev.retstack.machine.isa.call.CodeAddresses;
import dev.retstack.machine.isa.call.Encoding;
import dev.retstack.machine.isa.call.LandingCode;
import dev.retstack.machine.isa.call.Operand;
import dev.retstack.machine.isa.call.Registers;
import dev.retstack.machine.isa.call.ReturnReads;
import dev.retstack.machine.isa.call.Slot;
import dev.retstack.machine.isa.system.BringUp;
import dev.retstack.machine.isa.system.Dialect;
import dev.retstack.machine.isa.system.ElfAbi;
import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.isa.system.InterruptAbi;
import dev.retstack.machine.isa.system.StatLayout;
import dev.retstack.machine.isa.system.SyscallAbi;
import dev.retstack.unicorn.UcConst;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * sparc: v8, 32 bits, big-endian, without register windows (gcc -mflat): Unicorn's core loops at
 * window traps. Source: System V Application Binary Interface, SPARC Processor Supplement, 3
 * "Function Calling Sequence" and "Functions Returning Structures or Unions".
 *
 * <pre>
 * -pg -mflat: called behind the prologue
 *
 *   f: std  %fp, [%sp + 56]          caller's frame pointer; %i7 goes with it
 *      add  %sp, -n, %sp
 *      sub  %sp, -n, %fp             %fp: the stack pointer at the call of f
 *      mov  %o7, %i7                 the return address, kept in a register
 *      call _mcount                  selfpc
 *       ...                          delay slot
 *      ...
 *      mov  %i7, %o7
 *      ldd  [%fp + 56], %fp
 *      retl                          jmp %o7 + 8; with a struct result jmp %o7 + 12
 *       mov  %g1, %sp                %fp as it was
 *
 * in _mcount
 *   %o7        selfpc: a call leaves its own address, a return adds 8
 *   %i7        frompc - 8; there is no slot in memory: it is hijacked in the register
 *   %fp        retp
 *   [%fp + 56] caller's frame pointer
 *
 * in return_to_handler: retp = %sp; %fp is the caller's again. A function with a struct result
 * skips the caller's unimp and arrives 4 bytes into a handler slot; it continues 4 bytes behind
 * frompc
 * </pre>
 *
 * Results: %o0 %o1, %f0-%f3, memory at 64(%sp). The way out uses %g1 only, which a return leaves to
 * anyone. Unicorn cannot switch the FPU on: programs with floating point end with an exception.
 */
final class Sparc {
  private static final int NOP = 0x0100_0000;
  private static final long O7 = 1L << 15;
  private static final long I7 = 1L << 31;

  /** {@code mov %i7, rn} but to return, {@code and %i7, rn, rm} and the like, {@code st %i7}. */
  private static final ReturnReads READS =
      ReturnReads.byForms(
          _ -> 4,
          new ReturnReads.Form(0x8007_c000L, 0xc107_c000L, 25, 31, O7 | I7, ReturnReads.Kind.OWN),
          new ReturnReads.Form(0x8000_001fL, 0xc100_201fL, 25, 31, O7 | I7, ReturnReads.Kind.OWN),
          new ReturnReads.Form(0xfe20_0000L, 0xfff8_0000L, 0, 0, 0, ReturnReads.Kind.OWN));

  private static final AbiCard MCOUNT =
      AbiCard.named("mcount")
          .flags("-pg -mflat -fno-omit-frame-pointer")
          .moment(Moment.AFTER_PROLOGUE)
          .symbols("_mcount", "mcount")
          .callForms(
              // and the delay slot
              CallForm.big(
                  "call",
                  8,
                  0x4000_0000L << 32,
                  0xc000_0000L << 32,
                  (at, code) -> at + ((int) (code >> 32) << 2)))
          .callRelocations(0, 7, 18) // R_SPARC_WDISP30, WPLT30
          .nop("01 00 00 00 .. .. .. ..") // the delay slot works for the function
          .entryStub("81 c3 e0 08 01 00 00 00")
          .returnAddress(Operand.sum(UC_SPARC_REG_O7, 8))
          .slots(Slot.register(UC_SPARC_REG_I7, -8, Operand.register(UC_SPARC_REG_FP)))
          .fpMustAgree(Operand.word(UC_SPARC_REG_FP, 56), Operand.register(UC_SPARC_REG_FP))
          .retpAtExit(Operand.register(UC_SPARC_REG_SP))
          .reads(
              (code, function, from, end) ->
                  READS.of(
                      at -> Integer.toUnsignedLong(code.bigEndianWord(at)), function, from, end))
          .remark("integers only: Unicorn cannot switch the FPU on")
          .build();

  /** As SunOS had it. */
  private static final Dialect DIALECT =
      new Dialect(
          0x20,
          0x40,
          6,
          Map.of(
              Errno.ENAMETOOLONG,
              63,
              Errno.ENOSYS,
              90,
              Errno.ENOTEMPTY,
              66,
              Errno.ELOOP,
              62,
              Errno.ETIMEDOUT,
              60),
          new Dialect.Signals(
              64,
              8,
              0,
              1,
              8,
              -2,
              1,
              2,
              4,
              List.of(
                  1, 2, 3, 4, 5, 6, EMT, 8, 9, 7, 11, 31, 13, 14, 15, 23, 19, 20, 18, 17, 21, 22,
                  29, 24, 25, 26, 27, 28, 30, 10, 12)),
          Dialect.OpenFlags.SPARC,
          true,
          1);

  /** {@code struct stat64}. */
  private static final StatLayout STAT =
      new StatLayout(104, eight(8), four(16), four(20), eight(48), four(56), four(68));

  static final Isa ISA =
      new Isa(
          "sparc",
          ElfAbi.plain(2, "sparc"),
          4,
          ByteOrder.BIG_ENDIAN,
          new Isa.Engine(
              UcConst.UC_ARCH_SPARC,
              UcConst.UC_MODE_SPARC32 | UcConst.UC_MODE_BIG_ENDIAN,
              OptionalInt.empty(),
              Isa.Leaves.NEVER,
              true,
              true),
          CodeAddresses.biased(8),
          new Registers(
              UC_SPARC_REG_PC,
              UC_SPARC_REG_SP,
              UC_SPARC_REG_O7,
              UC_SPARC_REG_FP,
              Registers.NONE,
              UC_SPARC_REG_O0,
              List.of(
                  new Registers.Named("o0", UC_SPARC_REG_O0, 4),
                  new Registers.Named("o1", UC_SPARC_REG_O1, 4))),
          BringUp.NOTHING,
          SyscallAbi.onInterrupt(0x90) // ta 0x10
              // npc is left at pc: the next instruction would run twice, its delay slot not at all
              .resumeAfter(0)
              .number("sparc", UC_SPARC_REG_G1)
              .arguments(
                  UC_SPARC_REG_O0,
                  UC_SPARC_REG_O1,
                  UC_SPARC_REG_O2,
                  UC_SPARC_REG_O3,
                  UC_SPARC_REG_O4,
                  UC_SPARC_REG_O5)
              .result(UC_SPARC_REG_O0)
              .dialect(DIALECT)
              .stat(STAT)
              .platform("sparc")
              .olderThanStackHeader()
              .stackGap(64)
              .build(),
          // window save area, hidden parameter, six words of arguments
          InterruptAbi.plain(0, 96, 8, UC_SPARC_REG_O0, UC_SPARC_REG_O1, UC_SPARC_REG_O2)
              .withDelaySlots(),
          new LandingCode(16, Sparc::slot, Sparc::tail, LandingCode.Trampoline.NONE),
          new Isa.Stops(
              List.of(
                  Encoding.words(ByteOrder.BIG_ENDIAN, 0x1080_0000, NOP), // ba .; nop
                  Encoding.words(ByteOrder.BIG_ENDIAN, 0x3080_0000)), // ba,a .
              // The SPARC Architecture Manual, version 8, 7 "Traps"
              Map.of(
                  1, "instruction access",
                  3, "privileged instruction",
                  4, "floating point is switched off",
                  5, "window overflow",
                  6, "window underflow",
                  7, "unaligned address",
                  8, "floating point",
                  9, "data access",
                  0x2a, "division by zero",
                  0x81, "breakpoint")),
          List.of(MCOUNT));

  private Sparc() {}

  /**
   * {@code ba tail; sethi %hi(mailbox), %g1; ba tail; nop}. A return that skips the first word
   * arrives at the second, also at a home, behind which nothing may stand.
   */
  private static byte[] slot(long at, long tail, long mailbox) {
    return Encoding.words(
        ByteOrder.BIG_ENDIAN,
        branch(at, tail),
        0x0300_0000 | ((int) (mailbox >> 10) & 0x3f_ffff),
        branch(at + 8, tail),
        NOP);
  }

  /** {@code ba}. */
  private static int branch(long at, long to) {
    return 0x1080_0000 | ((int) ((to - at) >> 2) & 0x3f_ffff);
  }

  /** {@code ld [%g1 + %lo(mailbox)], %g1; jmp %g1; nop}. */
  private static byte[] tail(long at, long mailbox) {
    return Encoding.words(
        ByteOrder.BIG_ENDIAN, 0xc200_6000 | ((int) mailbox & 0x3ff), 0x81c0_4000, NOP);
  }
}
