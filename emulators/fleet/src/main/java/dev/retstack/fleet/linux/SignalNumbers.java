package dev.retstack.fleet.linux;

import java.util.Map;
import java.util.Set;

/**
 * How signals are numbered, and how {@code rt_sigaction} and {@code rt_sigprocmask} tell of them.
 *
 * @param count the highest signal
 * @param maskBytes size of a signal mask
 * @param handlerWord index of the handler among the words of {@code struct sigaction}
 * @param block first argument of {@code rt_sigprocmask} that adds to the mask
 * @param unblock that takes from it
 * @param replace that replaces it
 * @param stop {@code SIGSTOP}
 * @param ignored what does nothing by default: SIGCHLD, SIGCONT, SIGURG, SIGWINCH
 * @param names of the others that programs send
 */
record SignalNumbers(
    int count,
    int maskBytes,
    int handlerWord,
    int block,
    int unblock,
    int replace,
    int stop,
    Set<Integer> ignored,
    Map<Integer, String> names) {

  static final SignalNumbers GENERIC =
      new SignalNumbers(
          64,
          8,
          0,
          0,
          1,
          2,
          19,
          Set.of(17, 18, 23, 28),
          Map.of(
              2, "SIGINT", 3, "SIGQUIT", 4, "SIGILL", 6, "SIGABRT", 8, "SIGFPE", 9, "SIGKILL", 10,
              "SIGUSR1", 11, "SIGSEGV", 13, "SIGPIPE", 15, "SIGTERM"));

  /** {@code sa_flags} stands before the handler. */
  static final SignalNumbers MIPS =
      new SignalNumbers(
          128,
          16,
          1,
          1,
          2,
          3,
          23,
          Set.of(18, 25, 21, 20),
          Map.of(
              2, "SIGINT", 3, "SIGQUIT", 4, "SIGILL", 6, "SIGABRT", 8, "SIGFPE", 9, "SIGKILL", 16,
              "SIGUSR1", 11, "SIGSEGV", 13, "SIGPIPE", 15, "SIGTERM"));

  static final SignalNumbers SPARC =
      new SignalNumbers(
          64,
          8,
          0,
          1,
          2,
          4,
          17,
          Set.of(20, 19, 16, 28),
          Map.of(
              2, "SIGINT", 3, "SIGQUIT", 4, "SIGILL", 6, "SIGABRT", 8, "SIGFPE", 9, "SIGKILL", 30,
              "SIGUSR1", 11, "SIGSEGV", 13, "SIGPIPE", 15, "SIGTERM"));

  /** SIGKILL has one number everywhere. */
  static final int KILL = 9;

  SignalNumbers {
    ignored = Set.copyOf(ignored);
    names = Map.copyOf(names);
  }
}
