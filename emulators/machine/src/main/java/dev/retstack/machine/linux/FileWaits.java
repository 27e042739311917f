package dev.retstack.machine.linux;

import dev.retstack.machine.isa.system.Dialect;
import dev.retstack.machine.linux.call.SystemCall;
import dev.retstack.machine.linux.signal.Signals;
import dev.retstack.machine.linux.thread.GuestThread;
import dev.retstack.machine.linux.thread.Threads;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * System calls that wait for a file: for what another thread writes to a pipe. The thread waits,
 * and the call is carried out when it runs again.
 */
final class FileWaits {
  private final Threads threads;
  private final Signals signals;
  private final BooleanSupplier waits;
  private final Consumer<LinuxEnd> end;
  private final Map<GuestThread, Pending> pending = new HashMap<>();

  /** What is done behind the wait; returns the result of the system call. */
  @FunctionalInterface
  interface Rest {
    long go() throws IOException;
  }

  /**
   * A system call that waits.
   *
   * @param then where the condition holds
   * @param late where the time is up
   * @param done its result, if not 0, where a signal ends the wait
   */
  private record Pending(Rest then, Rest late, long done) {}

  /**
   * @param waits true where a wait may end in another way than by its time
   */
  FileWaits(Threads threads, Signals signals, BooleanSupplier waits, Consumer<LinuxEnd> end) {
    this.signals = signals;
    this.threads = threads;
    this.waits = waits;
    this.end = end;
  }

  /** Waits without a limit. */
  long await(BooleanSupplier condition, Rest then, long done) throws IOException {
    return await(condition, OptionalLong.empty(), new Pending(then, then, done), true);
  }

  /** Waits until a time at most. */
  long await(BooleanSupplier condition, OptionalLong untilNs, Rest then, Rest late)
      throws IOException {
    return await(condition, untilNs, new Pending(then, late, 0), false);
  }

  private long await(
      BooleanSupplier condition, OptionalLong untilNs, Pending rest, boolean restarts)
      throws IOException {
    if (waits.getAsBoolean() || threads.current().waits()) {
      GuestThread thread = threads.current();
      threads.awaitFile(() -> signals.as(thread, condition), untilNs, restarts && rest.done == 0);
      pending.put(thread, rest);
      return 0;
    }
    if (untilNs.isPresent()) {
      threads.skip(Math.max(0, untilNs.getAsLong() - threads.nowNs()));
      return rest.late.go();
    }
    end.accept(
        new LinuxEnd.Killed(
            Dialect.Signals.KILL, "the program waits for a file for ever; it has no other thread"));
    return 0;
  }

  /** The rest of the system call of the current thread, which runs again; null: none. */
  SystemCall take(boolean isLate) {
    Pending rest = pending.remove(threads.current());
    return rest == null ? null : _ -> isLate ? rest.late.go() : rest.then.go();
  }

  /** A signal has ended the wait of the current thread: what it had done by then. */
  long takeDone() {
    Pending rest = pending.remove(threads.current());
    return rest == null ? 0 : rest.done;
  }
}
