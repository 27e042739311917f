package dev.retstack.fleet.linux;

import dev.retstack.fleet.core.GuestMemory;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Signals: handlers are noted but never run, since nothing comes from outside; a signal that a
 * program sends to itself ends it unless it is ignored.
 */
final class SignalCalls {
  private static final int SIGNALS = 64;
  private static final int MASK_BYTES = 8;
  private static final long SIG_IGN = 1;
  private static final int SIGKILL = 9;
  private static final int SIGSTOP = 19;

  /** SIGCHLD, SIGCONT, SIGURG, SIGWINCH. */
  private static final Set<Integer> IGNORED = Set.of(17, 18, 23, 28);

  private static final Map<Integer, String> NAMES =
      Map.of(
          2, "SIGINT", 3, "SIGQUIT", 4, "SIGILL", 6, "SIGABRT", 8, "SIGFPE", 9, "SIGKILL", 10,
          "SIGUSR1", 11, "SIGSEGV", 13, "SIGPIPE", 15, "SIGTERM");

  private final GuestMemory memory;
  private final Consumer<LinuxEnd> end;

  /** What the program asked for: handler, flags and a third word, as it wrote them. */
  private final long[][] actions = new long[SIGNALS + 1][3];

  private long mask;

  SignalCalls(GuestMemory memory, Consumer<LinuxEnd> end) {
    this.memory = memory;
    this.end = end;
  }

  void register(Map<String, SystemCall> calls) {
    calls.put("rt_sigaction", this::action);
    calls.put("rt_sigprocmask", this::processMask);
    calls.put("sigaltstack", a -> 0);
    calls.put("kill", a -> send(a[0], a[1]));
    calls.put("tkill", a -> send(a[0], a[1]));
    calls.put("tgkill", a -> send(a[0] == ProcessCalls.PROCESS ? a[1] : -1, a[2]));
  }

  private long action(long[] a) {
    long signal = a[0];
    if (signal < 1 || signal > SIGNALS || a[3] != MASK_BYTES) {
      throw new SystemCallException(Errno.EINVAL);
    }
    if (a[1] != 0 && (signal == SIGKILL || signal == SIGSTOP)) {
      throw new SystemCallException(Errno.EINVAL);
    }
    long[] known = actions[(int) signal];
    int word = memory.wordBytes();
    long[] wanted = known.clone();
    if (a[1] != 0) {
      for (int i = 0; i < wanted.length; i++) {
        wanted[i] = memory.readWord(a[1] + (long) i * word);
      }
    }
    if (a[2] != 0) {
      for (int i = 0; i < known.length; i++) {
        memory.writeWord(a[2] + (long) i * word, known[i]);
      }
    }
    actions[(int) signal] = wanted;
    return 0;
  }

  private long processMask(long[] a) {
    if (a[3] != MASK_BYTES) {
      throw new SystemCallException(Errno.EINVAL);
    }
    long wanted = mask;
    if (a[1] != 0) {
      long set = memory.readLong(a[1]);
      wanted =
          switch ((int) a[0]) {
            case 0 -> mask | set;
            case 1 -> mask & ~set;
            case 2 -> set;
            default -> throw new SystemCallException(Errno.EINVAL);
          };
    }
    if (a[2] != 0) {
      memory.writeLong(a[2], mask);
    }
    mask = wanted;
    return 0;
  }

  private long send(long target, long number) {
    if (number < 0 || number > SIGNALS) {
      throw new SystemCallException(Errno.EINVAL);
    }
    if (target != ProcessCalls.PROCESS && target != 0) {
      throw new SystemCallException(Errno.ESRCH);
    }
    int signal = (int) number;
    if (signal == 0) {
      return 0;
    }
    long handler = actions[signal][0];
    if (handler == SIG_IGN || (handler == 0 && IGNORED.contains(signal))) {
      return 0;
    }
    String name = NAMES.getOrDefault(signal, "signal " + signal);
    String why = handler == 0 ? "" : "; its handler at 0x%x is not run".formatted(handler);
    end.accept(new LinuxEnd.Killed(signal, "the program sent itself " + name + why));
    return 0;
  }
}
