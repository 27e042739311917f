package dev.retstack.schema.record;

import java.util.List;

/**
 * The numbers of interrupts that are signal handlers of a Linux program: above all numbers that
 * interrupt controllers have.
 */
public final class SignalContext {
  private static final long FIRST = 0x1_0000;

  /** Lowest number of a real-time signal. */
  private static final int REAL_TIME = 32;

  private static final int LAST = 64;

  /** By the numbers of {@code asm-generic/signal.h}, from 1 on. */
  private static final List<String> NAMES =
      List.of(
          "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
          "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
          "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS");

  /** SIGEMT, which only some architectures have: above all that are numbered elsewhere. */
  public static final int EMT = 129;

  private SignalContext() {}

  /**
   * The number of a handler's interrupt.
   *
   * @param signal as {@code asm-generic/signal.h} numbers it
   */
  public static long number(int signal) {
    return FIRST + signal;
  }

  /** What to call an interrupt: {@code SIGALRM}, or its number. */
  public static String name(long number) {
    long signal = number - FIRST;
    boolean isSignal = (signal >= 1 && signal <= LAST) || signal == EMT;
    return isSignal ? signalName((int) signal) : Long.toString(number);
  }

  /** What to call an interrupt in a tree: {@code SIGALRM}, {@code interrupt 3}. */
  public static String text(long number) {
    String name = name(number);
    return name.startsWith("SIG") ? name : "interrupt " + name;
  }

  /** The name of a signal: {@code SIGALRM}, {@code SIGRT34}. */
  public static String signalName(int signal) {
    if (signal == EMT) {
      return "SIGEMT";
    }
    return signal < REAL_TIME ? "SIG" + NAMES.get(signal - 1) : "SIGRT" + signal;
  }
}
