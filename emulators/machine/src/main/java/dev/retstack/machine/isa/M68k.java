package dev.retstack.machine.isa;

import static dev.retstack.machine.isa.system.StatLayout.eight;
import static dev.retstack.machine.isa.system.StatLayout.four;
import static dev.retstack.unicorn.M68kConst.*;

import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.AbiCard.Moment;
import dev.retstack.machine.isa.call.AbiCard.SiteTable;
import dev.retstack.machine.isa.call.CallForm;
import dev.retstack.machine.isa.call.Code;
import dev.retstack.machine.isa.call.CodeAddresses;
import dev.retstack.machine.isa.call.LandingCode;
import dev.retstack.machine.isa.call.Operand;
import dev.retstack.machine.isa.call.Registers;
import dev.retstack.machine.isa.call.SiteFacts;
import dev.retstack.machine.isa.call.Slot;
import dev.retstack.machine.isa.sigframe.SignalAbi;
import dev.retstack.machine.isa.system.Dialect;
import dev.retstack.machine.isa.system.DynamicAbi;
import dev.retstack.machine.isa.system.ElfAbi;
import dev.retstack.machine.isa.system.InterruptAbi;
import dev.retstack.machine.isa.system.StatLayout;
import dev.retstack.machine.isa.system.SyscallAbi;
import dev.retstack.unicorn.UcConst;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.IntStream;

/**
 * m68k, from the 68020 on, big-endian. Source: System V Application Binary Interface, Motorola
 * 68000 Processor Family Supplement, 3 "Function Calling Sequence"; M68000 Family Programmer's
 * Reference Manual.
 *
 * <pre>
 * -pg: called behind the prologue               -fpatchable-function-entry=3
 *
 *   f: link  %a6,#-n                              f: nop; nop; nop           selfpc
 *      movem.l ...,-(%sp)                            link  %a6,#-n
 *      bsr.l _mcount            selfpc               ...
 *      ...                                           unlk  %a6
 *      unlk  %a6                                     rts
 *      rts
 *
 * in _mcount                                    at the first nop
 *   0(sp)   return address: selfpc + 6            0(sp)   frompc; retp = sp
 *   0(a6)   caller's frame pointer                a6      caller's frame pointer
 *   4(a6)   frompc; retp = a6 + 4
 *
 * in return_to_handler, both: the rts has popped the slot, retp = sp - 4; a6 is the caller's again
 * </pre>
 *
 * Arguments are pushed in front of a call and may stay for a while, so a new slot may lie below
 * those of frames that a longjmp left: a6 shows which frame called. Results: d0 d1, a0 (pointers),
 * fp0; a jump through memory keeps them and all else. The engine has no name for fp0.
 */
final class M68k {
  /** Bytes of a prologue in front of its call of the counting function, at most. */
  private static final long PROLOGUE_MOST = 64;

  /** {@code rtd #n}, by -mrtd. */
  private static final OptionalInt RTD = OptionalInt.of(0x4e74);

  private static final AbiCard MCOUNT =
      AbiCard.named("mcount")
          .flags("-pg -fno-omit-frame-pointer")
          .moment(Moment.AFTER_PROLOGUE)
          .arguments(Operand.sum(UC_M68K_REG_A6, 8), 6, 4)
          .symbols("_mcount", "mcount")
          .callForms(
              CallForm.big(
                  "bsr.l",
                  6,
                  0x61ff_0000_0000L,
                  0xffff_0000_0000L,
                  (at, code) -> at + 2 + (int) code),
              CallForm.big(
                  "jsr", 6, 0x4eb9_0000_0000L, 0xffff_0000_0000L, (at, code) -> (int) code))
          .callRelocations(2, 4, 13, 1) // R_68K_PC32, PLT32, 32
          .nop("0c 80 00 00 00 00") // cmpi.l #0,%d0: one instruction; flags are anyone's after a
          // call
          .entryStub("4e 75") // rts
          .returnAddress(Operand.word(UC_M68K_REG_A7, 0))
          .prologue(M68k::linkInFront)
          .slots(Slot.saved(Operand.sum(UC_M68K_REG_A6, 4)))
          .fpMustAgree(Operand.word(UC_M68K_REG_A6, 0), Operand.register(UC_M68K_REG_A6))
          .retpAtExit(Operand.sum(UC_M68K_REG_A7, -4))
          .poppingReturn(RTD)
          .slotFromFp(4)
          .reads(new M68kReturns())
          .remark(
              "fp0 is kept, but cannot be read from outside; a function without a frame pointer is"
                  + " left alone and counted")
          .build();

  private static final AbiCard PATCHABLE =
      AbiCard.named("patchable")
          .flags("-fpatchable-function-entry=3")
          .moment(Moment.BEFORE_PROLOGUE)
          .arguments(Operand.sum(UC_M68K_REG_A7, 4), 6, 4)
          .sites(SiteTable.PATCHABLE, "4e 71")
          .prologue(M68k::linkBehindNops)
          .slot(Operand.sum(UC_M68K_REG_A7, 0))
          .fpMustAgree(Operand.register(UC_M68K_REG_A6), Operand.register(UC_M68K_REG_A6))
          .retpAtExit(Operand.sum(UC_M68K_REG_A7, -4))
          .poppingReturn(RTD)
          .slotFromFpBySite(4)
          .reads(new M68kReturns())
          .remark(
              "the nops stay: the site is seen, not patched; without frame pointers a frame that a"
                  + " longjmp without a symbol left may pass for a caller")
          .build();

  /** {@code struct stat64}. */
  private static final StatLayout STAT =
      new StatLayout(92, eight(84), four(14), four(18), eight(40), four(48), eight(52));

  static final Isa ISA =
      new Isa(
          "m68k",
          ElfAbi.plain(4, "m68k"),
          4,
          ByteOrder.BIG_ENDIAN,
          // not the 68040 of the engine's default: it lacks the product of 64 bits
          new Isa.Engine(
              UcConst.UC_ARCH_M68K, UcConst.UC_MODE_BIG_ENDIAN, OptionalInt.of(UC_CPU_M68K_M68030)),
          CodeAddresses.PLAIN,
          new Registers(
              UC_M68K_REG_PC,
              UC_M68K_REG_A7,
              Registers.NONE,
              UC_M68K_REG_A6,
              Registers.NONE,
              UC_M68K_REG_D0,
              List.of(
                  new Registers.Named("d0", UC_M68K_REG_D0, 4),
                  new Registers.Named("d1", UC_M68K_REG_D1, 4),
                  new Registers.Named("a0", UC_M68K_REG_A0, 4))),
          // as it is after reset; written, because the engine aborts where flags are read before
          // any
          // instruction or write set them
          (engine, symbols) -> engine.reg_write(UC_M68K_REG_SR, 0x2700),
          SyscallAbi.onInterrupt(32) // trap #0
              .resumeAfter(2)
              .number("m68k", UC_M68K_REG_D0)
              .dialect(Dialect.EXCHANGED_FLAGS)
              .arguments(
                  UC_M68K_REG_D1,
                  UC_M68K_REG_D2,
                  UC_M68K_REG_D3,
                  UC_M68K_REG_D4,
                  UC_M68K_REG_D5,
                  UC_M68K_REG_A0)
              .result(UC_M68K_REG_D0)
              .stat(STAT)
              .platform("m68k")
              .signals(signals())
              .packedEvents()
              .dynamic(
                  DynamicAbi.of("m68k-linux-gnu", "libc6-m68k-cross", "4e 75", M68k::importSlot))
              .olderThanStackHeader()
              .build(),
          InterruptAbi.plain(0, 12, 16), // three words of arguments
          new LandingCode(
              8,
              (at, tail, mailbox) -> jumpThrough(mailbox),
              (at, mailbox) -> new byte[0],
              M68k::jump),
          new Isa.Stops(
              List.of(new byte[] {0x60, (byte) 0xfe}), // bra.s
              Map.of(
                  2, "access fault",
                  3, "address error",
                  4, "illegal instruction",
                  5, "division by zero",
                  8, "privilege violation",
                  10, "line A instruction",
                  11, "line F instruction")),
          List.of(MCOUNT, PATCHABLE));

  private M68k() {}

  /**
   * {@code asm/ucontext.h}, {@code kernel/signal.c}:
   *
   * <pre>
   *   0    return address, signal, pointers to siginfo and ucontext
   *   24   siginfo    152  ucontext
   * </pre>
   *
   * Handlers without SA_SIGINFO have the same frame. Floating point is not in it.
   */
  private static SignalAbi signals() {
    SignalAbi.Fault illegal = new SignalAbi.Fault(SignalAbi.SIGILL, 1);
    return new SignalAbi.Layout(684, 0, 4, 24, 152)
        .trampoline(2, HexFormat.of().parseHex("705246004e40")) // moveq #82,%d0; not.b %d0; trap #0
        .stackAndMask(8, 524)
        .word(20, 4, 2) // version
        .registers(24, 4, 4, IntStream.rangeClosed(UC_M68K_REG_D0, UC_M68K_REG_D7).toArray())
        .registers(56, 4, 4, IntStream.rangeClosed(UC_M68K_REG_A0, UC_M68K_REG_A7).toArray())
        .registers(88, 4, 4, UC_M68K_REG_PC)
        .flags(UC_M68K_REG_SR, 92, 4, 0x1f, 0)
        .faults(
            Map.of(
                4, illegal,
                5, new SignalAbi.Fault(SignalAbi.SIGFPE, SignalAbi.FPE_INTDIV),
                8, illegal,
                10, illegal,
                11, illegal,
                47, new SignalAbi.Fault(SignalAbi.SIGTRAP, SignalAbi.TRAP_BRKPT, Short.BYTES)))
        .hidden()
        .build();
  }

  /**
   * What linkers write for the 68020: {@code jmp ([slot,%pc])}; mold has {@code move.l #number,%d0}
   * in front.
   */
  private static OptionalLong importSlot(Code code, long address, long got) {
    boolean numbered = code.bigEndianWord(address) >>> 16 == 0x203c;
    long at = numbered ? address + 6 : address;
    return code.bigEndianWord(at) == 0x4efb_0171
        ? OptionalLong.of((at + 2 + code.bigEndianWord(at + 4)) & 0xffff_ffffL)
        : OptionalLong.empty();
  }

  /** {@code bra.l target}, counted from behind the opcode. */
  private static byte[] jump(long at, long target) {
    return ByteBuffer.allocate(6).putShort((short) 0x60ff).putInt((int) (target - at) - 2).array();
  }

  /**
   * Where a function has not made a frame a6 is another's, and so is the return address above it:
   * it is left alone. Where no symbol marks the function's beginning it is looked for up to what
   * ends the one in front, as for a function that begins with the call.
   */
  private static Optional<SiteFacts> linkInFront(Code code, long function, long site, long after) {
    long first = function < site ? function : site - PROLOGUE_MOST;
    for (long at = site - 2; at >= first; at -= 2) {
      int word = code.bigEndianWord(at) >>> 16;
      if (word == 0x4e56 || word == 0x480e) { // link.w, link.l
        return Optional.of(SiteFacts.savedAt(0));
      }
      if (word == 0x4e75 && function == site) { // rts
        break;
      }
    }
    return Optional.of(SiteFacts.IN_REGISTER);
  }

  /** A function keeps a frame where {@code link %a6} follows the nops. */
  private static Optional<SiteFacts> linkBehindNops(
      Code code, long function, long site, long after) {
    long at = site;
    while ((code.bigEndianWord(at) >>> 16) == 0x4e71) {
      at += 2;
    }
    int first = code.bigEndianWord(at) >>> 16;
    boolean link = first == 0x4e56 || first == 0x480e; // link.w, link.l
    return Optional.of(SiteFacts.NONE.withKeepsFrame(link));
  }

  /** {@code jmp ([mailbox])}: memory indirect, without base and index registers. */
  private static byte[] jumpThrough(long mailbox) {
    return ByteBuffer.allocate(8).putInt(0x4ef0_01f1).putInt((int) mailbox).array();
  }
}
