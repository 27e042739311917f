package dev.retstack.machine.isa.sigframe;

import static dev.retstack.unicorn.X86Const.*;

import dev.retstack.machine.isa.sigframe.SignalAbi.Fault;
import dev.retstack.machine.isa.sigframe.SignalAbi.Layout;
import java.util.HexFormat;
import java.util.Map;
import java.util.stream.IntStream;

/** Signal frames of x86. Source: {@code asm/sigcontext.h}, Intel SDM vol. 1, "FXSAVE area". */
public final class X86Signals {
  /** Carry, parity, adjust, zero, sign, direction, overflow. */
  private static final long FLAGS = 0xCD5;

  /** Trap and direction flag. */
  private static final long CLEARED = 0x500;

  /** Exceptions by vector. */
  private static final Map<Integer, Fault> FAULTS =
      Map.of(
          0, new Fault(SignalAbi.SIGFPE, SignalAbi.FPE_INTDIV),
          1, new Fault(SignalAbi.SIGTRAP, SignalAbi.TRAP_BRKPT),
          3, new Fault(SignalAbi.SIGTRAP, SignalAbi.KERNEL),
          4, new Fault(SignalAbi.SIGSEGV, SignalAbi.KERNEL),
          5, new Fault(SignalAbi.SIGSEGV, SignalAbi.KERNEL),
          6, new Fault(SignalAbi.SIGILL, SignalAbi.ILL_ILLOPN),
          13, new Fault(SignalAbi.SIGSEGV, SignalAbi.KERNEL),
          16, new Fault(SignalAbi.SIGFPE, SignalAbi.FPE_FLTINV),
          17, new Fault(SignalAbi.SIGBUS, SignalAbi.BUS_ADRALN),
          19, new Fault(SignalAbi.SIGFPE, SignalAbi.FPE_FLTINV));

  /**
   *
   *
   * <pre>
   *   0    return address    8  ucontext    312  siginfo    440  FXSAVE area
   * </pre>
   */
  public static final SignalAbi WIDE =
      fxsave(
              new Layout(952, 8, 8, 312, 8)
                  .trampoline(2, HexFormat.of().parseHex("48c7c00f0000000f05"))
                  .stackAndMask(16, 296)
                  .registers(
                      40,
                      8,
                      8,
                      UC_X86_REG_R8,
                      UC_X86_REG_R9,
                      UC_X86_REG_R10,
                      UC_X86_REG_R11,
                      UC_X86_REG_R12,
                      UC_X86_REG_R13,
                      UC_X86_REG_R14,
                      UC_X86_REG_R15,
                      UC_X86_REG_RDI,
                      UC_X86_REG_RSI,
                      UC_X86_REG_RBP,
                      UC_X86_REG_RBX,
                      UC_X86_REG_RDX,
                      UC_X86_REG_RAX,
                      UC_X86_REG_RCX,
                      UC_X86_REG_RSP,
                      UC_X86_REG_RIP)
                  .flags(UC_X86_REG_RFLAGS, 176, 8, FLAGS, CLEARED)
                  .word(184, 8, 0x2b_0000_0000_0033L) // cs, ss
                  .faultAt(216)
                  .place(8 + 224, 8, 440),
              432,
              16)
          .faults(FAULTS)
          .remembered(0, 10, 11, 12, 13, 14)
          .build();

  /**
   *
   *
   * <pre>
   *   0    return address, signal, pointers to siginfo and ucontext
   *   16   siginfo    144  ucontext    276  FSAVE and FXSAVE area
   * </pre>
   *
   * Handlers without SA_SIGINFO have the registers at 8, behind the signal.
   */
  public static final SignalAbi NARROW =
      fxsave(
              new Layout(900, 4, 4, 16, 144)
                  .trampoline(2, HexFormat.of().parseHex("b8ad000000cd80"))
                  .stackAndMask(8, 108)
                  .word(20, 4, 0x33) // gs
                  .word(28, 4, 0x2b) // es, ds
                  .word(32, 4, 0x2b)
                  .registers(
                      36,
                      4,
                      4,
                      UC_X86_REG_EDI,
                      UC_X86_REG_ESI,
                      UC_X86_REG_EBP,
                      UC_X86_REG_ESP,
                      UC_X86_REG_EBX,
                      UC_X86_REG_EDX,
                      UC_X86_REG_ECX,
                      UC_X86_REG_EAX)
                  .registers(76, 4, 4, UC_X86_REG_EIP)
                  .word(80, 4, 0x23) // cs
                  .flags(UC_X86_REG_EFLAGS, 84, 4, FLAGS, CLEARED)
                  .word(92, 4, 0x2b) // ss
                  .faultAt(104)
                  .older(20, 88, 8)
                  .place(144 + 96, 4, 276),
              132 + 112,
              8)
          .faults(FAULTS)
          .remembered(0, 10, 11, 12, 13, 14)
          .build();

  private X86Signals() {}

  /** The tag word is the whole one, of 16 bits. */
  private static Layout fxsave(Layout to, int at, int vectors) {
    return to.registers(at, 2, 2, UC_X86_REG_FPCW, UC_X86_REG_FPSW, UC_X86_REG_FPTAG)
        .registers(at + 24, 4, 4, UC_X86_REG_MXCSR)
        .registers(at + 32, 10, 16, from(UC_X86_REG_FP0, 8))
        .registers(at + 160, 16, 16, from(UC_X86_REG_XMM0, vectors));
  }

  private static int[] from(int first, int count) {
    return IntStream.range(first, first + count).toArray();
  }
}
