package dev.retstack.fleet.linux;

import dev.retstack.fleet.isa.Dialect.Signals;
import dev.retstack.fleet.isa.Errno;
import dev.retstack.fleet.memory.GuestMemory;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Signals. Handlers are noted but never run, since no signal comes from outside. A signal that a
 * program sends to itself ends it, unless it ignores the signal.
 */
final class SignalCalls {
  private static final int ACTION_WORDS = 3;
  private static final long SIG_IGN = 1;

  private final GuestMemory memory;
  private final Signals numbers;
  private final Consumer<LinuxEnd> end;

  /** What the program asked for, by signal: handler, flags and a third word, as it wrote them. */
  private final long[][] actions;

  /** The signal mask in pieces of eight bytes. Which bit is which does not matter here. */
  private final long[] mask;

  SignalCalls(GuestMemory memory, Signals numbers, Consumer<LinuxEnd> end) {
    this.memory = memory;
    this.numbers = numbers;
    this.actions = new long[numbers.count() + 1][ACTION_WORDS];
    this.mask = new long[numbers.maskBytes() / Long.BYTES];
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
    int signal = (int) a[0];
    if (signal < 1 || signal > numbers.count() || a[3] != numbers.maskBytes()) {
      throw new SystemCallException(Errno.EINVAL);
    }
    if (a[1] != 0 && (signal == Signals.KILL || signal == numbers.stop())) {
      throw new SystemCallException(Errno.EINVAL);
    }
    long[] known = actions[signal];
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
    actions[signal] = wanted;
    return 0;
  }

  private long processMask(long[] a) {
    if (a[3] != numbers.maskBytes()) {
      throw new SystemCallException(Errno.EINVAL);
    }
    long[] wanted = mask.clone();
    for (int i = 0; a[1] != 0 && i < wanted.length; i++) {
      wanted[i] = changed((int) a[0], mask[i], memory.readLong(a[1] + (long) i * Long.BYTES));
    }
    for (int i = 0; a[2] != 0 && i < mask.length; i++) {
      memory.writeLong(a[2] + (long) i * Long.BYTES, mask[i]);
    }
    System.arraycopy(wanted, 0, mask, 0, mask.length);
    return 0;
  }

  private long changed(int how, long now, long set) {
    if (how == numbers.block()) {
      return now | set;
    }
    if (how == numbers.unblock()) {
      return now & ~set;
    }
    if (how == numbers.replace()) {
      return set;
    }
    throw new SystemCallException(Errno.EINVAL);
  }

  private long send(long target, long number) {
    int signal = (int) number;
    if (signal < 0 || signal > numbers.count()) {
      throw new SystemCallException(Errno.EINVAL);
    }
    if (target != ProcessCalls.PROCESS && target != 0) {
      throw new SystemCallException(Errno.ESRCH);
    }
    if (signal == 0) {
      return 0;
    }
    long handler = actions[signal][numbers.handlerWord()];
    if (handler == SIG_IGN || (handler == 0 && numbers.ignored().contains(signal))) {
      return 0;
    }
    String name = numbers.name(signal);
    String why = handler == 0 ? "" : "; its handler at 0x%x is not run".formatted(handler);
    end.accept(new LinuxEnd.Killed(signal, "the program sent itself " + name + why));
    return 0;
  }
}
