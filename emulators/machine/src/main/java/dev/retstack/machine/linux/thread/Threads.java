package dev.retstack.machine.linux.thread;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The threads of one process. One runs at a time, until its turn is over or it waits. What is next
 * depends on executed instructions and a seed alone. So a run can be repeated.
 *
 * <p>A program that has one thread never comes here, but to ask who it is.
 */
public final class Threads {
  /** Id of the process, and of its first thread. */
  public static final long FIRST = 1000;

  /** Most threads at a time. */
  public static final int MOST = 512;

  /** All wakers of a futex. */
  public static final int ALL_BITS = -1;

  /** Other things that let waiting threads continue: timers. */
  public interface Alarms {
    /** Time of the first alarm that lets a thread continue; {@code Long.MAX_VALUE}: never. */
    long nextNs();

    /** Lets the threads continue whose time has come. */
    void expire();
  }

  private static final Alarms SILENT =
      new Alarms() {
        @Override
        public long nextNs() {
          return GuestThread.NEVER;
        }

        @Override
        public void expire() {}
      };

  private final Schedule schedule;
  private final LongSupplier coreNs;
  private final SplittableRandom random;

  /** Threads that are not over, in the order in which they began. */
  private final List<GuestThread> threads = new ArrayList<>();

  /** Threads that wait, the longest wait first. */
  private final List<GuestThread> waiting = new ArrayList<>();

  private GuestThread current = new GuestThread(FIRST, 0, OptionalLong.empty());
  private GuestThread started;
  private long lastId = FIRST;
  private boolean many;
  private boolean yields;
  private long turnEnd;
  private long skippedNs;
  private Alarms alarms = SILENT;
  private Consumer<GuestThread> named = _ -> {};

  /**
   * Begins with one thread.
   *
   * @param coreNs the core's clock
   */
  public Threads(Schedule schedule, LongSupplier coreNs) {
    this.schedule = schedule;
    this.coreNs = coreNs;
    random = new SplittableRandom(schedule.seed());
    threads.add(current);
  }

  /** Time as the program sees it: the core's clock, and the time in which nobody ran. */
  public long nowNs() {
    return coreNs.getAsLong() + skippedNs;
  }

  /** The core's clock: time in which nobody ran left out. */
  public long coreNs() {
    return coreNs.getAsLong();
  }

  /** From here on they are asked while all threads wait. */
  public void alarms(Alarms value) {
    alarms = value;
  }

  /** Reports each thread to which the program gives a name from now on. */
  public void whenNamed(Consumer<GuestThread> listener) {
    named = listener;
  }

  /** The program gives a thread a name. */
  public void name(GuestThread thread, byte[] name) {
    thread.name(name);
    thread.isNamed = true;
    named.accept(thread);
  }

  /** Lets time pass in which no thread runs. */
  public void skip(long ns) {
    skippedNs = Math.min(skippedNs + ns, 1L << 62);
  }

  /** True from the moment on where the program started a second thread. */
  public boolean many() {
    return many;
  }

  /** True where the program may start threads. */
  public boolean mayStart() {
    return schedule.quantum() > 0;
  }

  /** Threads that are not over. */
  public List<GuestThread> all() {
    return List.copyOf(threads);
  }

  /** The one that runs. */
  public GuestThread current() {
    return current;
  }

  /** The thread of an id that is not over. */
  public Optional<GuestThread> find(long id) {
    return threads.stream().filter(thread -> thread.id() == id).findFirst();
  }

  /** A new thread, ready to run; null where there is no room. */
  public GuestThread start(long stack, OptionalLong storage) {
    if (threads.size() == MOST) {
      return null;
    }
    GuestThread thread = new GuestThread(++lastId, stack, storage);
    thread.name(current.name());
    threads.add(thread);
    if (current.isNamed) {
      name(thread, current.name());
    }
    started = thread;
    many = true;
    return thread;
  }

  /** The thread that the last system call started, whose registers are not made yet; once. */
  public Optional<GuestThread> takeStarted() {
    Optional<GuestThread> taken = Optional.ofNullable(started);
    started = null;
    return taken;
  }

  /** True where the core must stop behind the system call. */
  public boolean mustStop() {
    return started != null || yields || !current.isReady();
  }

  /** The current thread lets others run. */
  public void giveWay() {
    yields = many;
  }

  /** The current thread is over. */
  public void end() {
    current.over = true;
    threads.remove(current);
  }

  /** True where that has happened. */
  public boolean isCurrentOver() {
    return current.over;
  }

  /**
   * The current thread waits.
   *
   * @param futex until this is woken; 0: a sleep
   * @param bits which wakers are meant
   * @param untilNs when it continues without being woken; empty: never
   */
  public void await(long futex, int bits, OptionalLong untilNs) {
    current.waits = true;
    current.futex = futex;
    current.bits = bits;
    current.wakeAtNs = untilNs.orElse(GuestThread.NEVER);
    current.tellsTimeout = futex != 0;
    current.restarts = futex != 0 && untilNs.isEmpty();
    current.whenInterrupted = null;
    current.condition = null;
    waiting.add(current);
  }

  /**
   * The current thread waits until a condition holds; it is asked when others have run.
   *
   * @param untilNs when it continues though it does not hold; empty: never
   * @param restarts true where a signal handler may have the system call made again
   */
  public void awaitFile(BooleanSupplier condition, OptionalLong untilNs, boolean restarts) {
    if (current.isReady()) { // else it waits for a signal too
      await(0, 0, untilNs);
    }
    current.tellsTimeout = true;
    current.restarts = restarts;
    current.condition = condition;
  }

  /** The current thread waits for a signal. */
  public void awaitSignal(OptionalLong untilNs) {
    await(0, 0, untilNs);
    current.tellsTimeout = true;
  }

  /** A signal comes for a thread: if it waits, it does no longer. */
  public void interrupt(GuestThread thread) {
    if (thread.waits) {
      waiting.remove(thread);
      thread.waits = false;
      thread.interrupted = true;
      if (thread.whenInterrupted != null) {
        thread.whenInterrupted.run();
      }
    }
  }

  /** Wakes at most {@code most} threads that wait for a futex. Returns their number. */
  public int wake(long futex, long most, int bits) {
    int woken = 0;
    for (int i = 0; i < waiting.size() && woken < most; ) {
      GuestThread thread = waiting.get(i);
      if (thread.futex == futex && futex != 0 && (thread.bits & bits) != 0) {
        waiting.remove(i);
        thread.waits = false;
        woken++;
      } else {
        i++;
      }
    }
    return woken;
  }

  /** Makes at most {@code most} waiters of a futex wait for another one. Returns their number. */
  public int requeue(long from, long to, long most) {
    int moved = 0;
    for (GuestThread thread : List.copyOf(waiting)) {
      if (thread.futex == from && from != 0 && moved < most) {
        thread.futex = to;
        waiting.remove(thread); // behind those that wait there already
        waiting.add(thread);
        moved++;
      }
    }
    return moved;
  }

  /** Instructions until {@link #isTurnOver}: at least 1. */
  public long ask(long now) {
    return many ? Math.max(1, turnEnd - now) : Long.MAX_VALUE;
  }

  /** True where another thread may run, if the place allows it. */
  public boolean isTurnOver(long now) {
    return many && turnEnd <= now;
  }

  /** True where another thread must run, at whatever place. */
  public boolean cannotGoOn() {
    return yields || !current.isReady();
  }

  /**
   * Makes the thread current that runs next.
   *
   * @param now executed instructions
   * @return false where all threads wait for ever
   */
  public boolean next(long now) {
    List<GuestThread> ready = ready();
    if (ready.isEmpty()) {
      return false;
    }
    long turn = schedule.quantum();
    if (schedule.seed() == 0 || !many) {
      current = after(ready);
    } else {
      current = ready.get(random.nextInt(ready.size()));
      turn = random.nextLong(2 * turn) + 1;
    }
    if (current.waits) { // the condition holds now, and nobody runs in between
      waiting.remove(current);
      current.waits = false;
    }
    yields = false;
    turnEnd = now + turn;
    return true;
  }

  /** Threads that can run, in order of age; if none can, time passes until one can. */
  private List<GuestThread> ready() {
    wakeInTime();
    boolean moves = true;
    while (moves && threads.stream().noneMatch(GuestThread::canRun)) {
      long first = waiting.stream().mapToLong(t -> t.wakeAtNs).min().orElse(GuestThread.NEVER);
      first = Math.min(first, alarms.nextNs());
      if (first == GuestThread.NEVER) {
        return List.of();
      }
      long before = skippedNs;
      skip(Math.max(0, first - nowNs()));
      moves = skippedNs != before;
      alarms.expire();
      wakeInTime();
    }
    return threads.stream().filter(GuestThread::canRun).toList();
  }

  private void wakeInTime() {
    long now = nowNs();
    for (GuestThread thread : List.copyOf(waiting)) {
      if (thread.wakeAtNs <= now) {
        waiting.remove(thread);
        thread.waits = false;
        thread.timedOut = thread.tellsTimeout;
      }
    }
  }

  private GuestThread after(List<GuestThread> ready) {
    for (GuestThread thread : ready) {
      if (thread.id() > current.id()) {
        return thread;
      }
    }
    return ready.getFirst();
  }
}
