package dev.retstack.machine.linux.signal;

import static dev.retstack.machine.linux.signal.PendingSignals.bit;

import dev.retstack.machine.isa.system.Dialect;
import dev.retstack.machine.linux.thread.GuestThread;
import dev.retstack.machine.linux.thread.Threads;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;

/**
 * The signals of a process: what was sent to whom, what it wants done with them, and which is
 * delivered next. It knows no registers and no memory.
 *
 * <p>A signal for the process goes, when it is sent, to a thread that does not block it: the first
 * thread, else the oldest. Where all block it, it waits for the first that does not, or asks.
 */
public final class Signals implements Threads.Alarms {
  private final Dialect.Signals numbers;
  private final Threads threads;
  private final SignalInfo.Layout layout;
  private final VirtualTimers timers;
  private final SignalAction[] actions;
  private final Map<GuestThread, ThreadSignals> known = new HashMap<>();
  private final PendingSignals shared = new PendingSignals();
  private final long unblockable;

  /** True where the core is to look here behind the system call. */
  private boolean attention;

  private boolean returning;

  /** Thread whose signals are asked for; null: the thread that runs. */
  private GuestThread asking;

  /** Signals that each open file reports. */
  private final Map<Object, Long> watched = new HashMap<>();

  private long sent;

  /** Nothing was sent, all do by default what they do. */
  public Signals(Dialect.Signals numbers, Threads threads, SignalInfo.Layout layout) {
    this.numbers = numbers;
    this.threads = threads;
    this.layout = layout;
    timers = new VirtualTimers(this, numbers.number(14), numbers.number(26), numbers.number(27));
    actions = new SignalAction[numbers.count() + 1];
    Arrays.fill(actions, SignalAction.NONE);
    unblockable = bit(Dialect.Signals.KILL) | bit(numbers.stop());
    threads.alarms(this);
  }

  public VirtualTimers timers() {
    return timers;
  }

  public SignalInfo.Layout layout() {
    return layout;
  }

  /** What signals know of a thread. */
  public ThreadSignals of(GuestThread thread) {
    return known.computeIfAbsent(thread, _ -> new ThreadSignals());
  }

  /** Signals of the thread that runs. */
  public ThreadSignals current() {
    return of(threads.current());
  }

  /** A thread has the mask of its starter. */
  public void started(GuestThread thread) {
    of(thread).mask = current().mask;
    of(thread).maskBeyond = current().maskBeyond;
  }

  /** A thread is over, and what was sent to it is gone. */
  public void ended(GuestThread thread) {
    known.remove(thread);
  }

  /** What a signal does. */
  public SignalAction action(int signal) {
    return actions[signal];
  }

  /** What a signal does from now on. What is ignored then is forgotten. */
  public void action(int signal, SignalAction action) {
    actions[signal] = action;
    if (signal <= Long.SIZE && isIgnored(signal)) {
      shared.drop(signal);
      known.values().forEach(thread -> thread.pending.drop(signal));
    }
  }

  /** True where a signal does nothing. */
  public boolean isIgnored(int signal) {
    long handler = actions[signal].handler();
    return handler == SignalAction.IGNORE
        || (handler == SignalAction.DEFAULT && numbers.ignores(signal));
  }

  /** True for a signal that ends the program as soon as the running thread has it. */
  public boolean ends(int signal) {
    boolean blocked = (current().mask & bit(signal)) != 0;
    return !blocked
        && actions[signal].handler() == SignalAction.DEFAULT
        && !isIgnored(signal)
        && !stops(signal);
  }

  /** True for a signal that by default stops a process. */
  public boolean stops(int signal) {
    return numbers.stops(signal);
  }

  /** The handler of a signal was called in the thread that runs. */
  public void began(int signal, SignalAction action) {
    long own = action.is(SignalAction.NODEFER) ? 0 : bit(signal);
    mask(current().mask | action.mask() | own);
    if (action.is(SignalAction.RESETHAND)) {
      actions[signal] = SignalAction.NONE;
    }
  }

  /** Sets the mask of the thread that runs. */
  public void mask(long mask) {
    current().mask = mask & ~unblockable;
    attention |= isAnyFor(threads.current());
  }

  /** What waits for the thread that runs, and is blocked. */
  public long pending() {
    return (current().pending.set() | shared.set()) & current().mask;
  }

  /**
   * Sends a signal.
   *
   * @param to null: the process
   * @return false where too many wait
   */
  public boolean send(SignalInfo info, GuestThread to) {
    sent++;
    long bit = bit(info.signal());
    GuestThread waiter = awaiting(bit, to);
    if (waiter != null) {
      of(waiter).arrived = info;
      of(waiter).awaited = 0;
      threads.interrupt(waiter);
      return true;
    }
    GuestThread target = to == null ? unblocking(bit) : to;
    boolean blocked = target == null || (of(target).mask & bit) != 0;
    if (!blocked && isIgnored(info.signal())) {
      return true;
    }
    boolean room = (target == null ? shared : of(target).pending).add(info);
    if (!blocked) {
      attention = true;
      threads.interrupt(target);
    }
    return room;
  }

  private GuestThread awaiting(long bit, GuestThread to) {
    if (to != null) {
      return (of(to).awaited & bit) != 0 ? to : null;
    }
    for (GuestThread thread : threads.all()) {
      if ((of(thread).awaited & bit) != 0) {
        return thread;
      }
    }
    return null;
  }

  private GuestThread unblocking(long bit) {
    for (GuestThread thread : threads.all()) {
      if ((of(thread).mask & bit) == 0) {
        return thread;
      }
    }
    return null;
  }

  /** True where a waiting thread continues by the signal of a timer. */
  boolean wouldWake(VirtualTimer timer) {
    if (timer.id == VirtualTimer.READ) {
      return timer.makesReady();
    }
    if (timer.signal == 0) {
      return false;
    }
    long bit = bit(timer.signal);
    if (isWatched(bit) && !waits(timer)) {
      return true;
    }
    if (awaiting(bit, timer.target) != null) {
      return true;
    }
    GuestThread target = timer.target == null ? unblocking(bit) : timer.target;
    return target != null && (of(target).mask & bit) == 0 && !isIgnored(timer.signal);
  }

  private boolean isWatched(long bit) {
    return watched.values().stream().anyMatch(mask -> (mask & bit) != 0);
  }

  /** True where a signal of a timer waits already. */
  private boolean waits(VirtualTimer timer) {
    if (timer.id >= 0) {
      return shared.has(timer)
          || known.values().stream().anyMatch(thread -> thread.pending.has(timer));
    }
    long bit = bit(timer.signal);
    return (shared.set() & bit) != 0
        || known.values().stream().anyMatch(thread -> (thread.pending.set() & bit) != 0);
  }

  /** Makes a file report these signals from now on; 0: none. */
  public void watch(Object file, long mask) {
    if (mask == 0) {
      watched.remove(file);
    } else {
      watched.put(file, mask);
    }
  }

  /** How many signals were sent; only that it differs has a meaning. */
  public long sent() {
    return sent;
  }

  /** Asks a question for a thread: it finds its own signals. */
  public boolean as(GuestThread thread, BooleanSupplier question) {
    GuestThread before = asking;
    asking = thread;
    try {
      return question.getAsBoolean();
    } finally {
      asking = before;
    }
  }

  /** True where one of these signals waits for the thread that asks. */
  public boolean isThere(long wanted) {
    ThreadSignals thread = asking == null ? current() : of(asking);
    return ((thread.pending.set() | shared.set()) & wanted) != 0;
  }

  /** Notes that a timer has expired {@code times} times. */
  void expired(VirtualTimer timer, long times) {
    int most = (int) Math.min(times, Integer.MAX_VALUE);
    boolean waits = timer.signal != 0 && timer.id >= 0 && waits(timer);
    if (timer.id == VirtualTimer.READ) {
      timer.count(times);
    } else if (timer.signal == 0) {
      timer.delivered = most - 1;
    } else if (timer.id < 0) {
      send(layout.sent(timer.signal, SignalInfo.KERNEL, 0, 0), null);
    } else if (waits) {
      timer.overrun = (int) Math.min((long) timer.overrun + most, Integer.MAX_VALUE);
    } else if (timer.target == null || threads.find(timer.target.id()).isPresent()) {
      timer.overrun = most - 1;
      send(layout.timed(timer, 0), timer.target);
    }
  }

  private boolean isAnyFor(GuestThread thread) {
    ThreadSignals of = of(thread);
    return ((of.pending.set() | shared.set()) & ~of.mask) != 0;
  }

  /** Takes the signal that is delivered to the running thread now. */
  public Optional<SignalInfo> next() {
    ThreadSignals thread = current();
    return take(~thread.mask);
  }

  /** Takes one of these signals that waits for the running thread, whether it is blocked or not. */
  public Optional<SignalInfo> take(long wanted) {
    ThreadSignals thread = current();
    long set = (thread.pending.set() | shared.set()) & wanted;
    if (set == 0) {
      return Optional.empty();
    }
    long first = set & numbers.synchronous();
    int signal = Long.numberOfTrailingZeros(first != 0 ? first : set) + 1;
    boolean own = (thread.pending.set() & bit(signal)) != 0;
    SignalInfo info = (own ? thread.pending : shared).take(signal);
    return Optional.of(delivered(info));
  }

  /** The signal of a timer says how often it has expired. */
  private SignalInfo delivered(SignalInfo info) {
    VirtualTimer timer = info.timer();
    if (timer == null) {
      return info;
    }
    timer.delivered = timer.overrun;
    timer.overrun = 0;
    return layout.timed(timer, timer.delivered);
  }

  /**
   * {@code sigsuspend}: the mask is another until a handler has returned.
   *
   * @param untilNs when the thread continues without a signal; empty: never
   */
  public void suspend(long mask, OptionalLong untilNs) {
    ThreadSignals thread = current();
    thread.maskBehind = thread.mask;
    thread.suspended = true;
    mask(mask);
    if (!isAnyFor(threads.current())) {
      threads.awaitSignal(untilNs);
    }
  }

  /** The time of such a wait of the running thread is up; false: it was in none. */
  public boolean endSuspension() {
    ThreadSignals thread = current();
    boolean was = thread.suspended;
    if (was) {
      mask(thread.takeMaskBehind());
    }
    return was;
  }

  /**
   * {@code sigtimedwait}: a signal that is there already; else the thread waits for one.
   *
   * @param untilNs when it continues without a signal; empty: never
   */
  public Optional<SignalInfo> await(long wanted, OptionalLong untilNs) {
    Optional<SignalInfo> there = take(wanted);
    if (there.isEmpty()) {
      current().awaited = wanted;
      threads.awaitSignal(untilNs);
    }
    return there;
  }

  /** True while the running thread was in such a wait, which is over now; once. */
  public boolean endWait() {
    boolean was = current().awaited != 0;
    current().awaited = 0;
    return was;
  }

  /** The signal that ended the wait of the running thread; once. */
  public Optional<SignalInfo> arrived() {
    ThreadSignals thread = current();
    Optional<SignalInfo> info = Optional.ofNullable(thread.arrived).map(this::delivered);
    thread.arrived = null;
    return info;
  }

  /** The running thread returns from a handler: the core restores its registers. */
  public void giveBack() {
    returning = true;
    attention = true;
  }

  /** True where that was asked for; once. */
  public boolean takeReturning() {
    boolean was = returning;
    returning = false;
    return was;
  }

  /** The core is to look here behind the system call. */
  public void attend() {
    attention = true;
  }

  /** True where the core must stop behind the system call. */
  public boolean mustStop() {
    return attention;
  }

  /** True where the core cannot simply run on. */
  public boolean isBusy() {
    return attention || timers.any();
  }

  /** The core looks: what is still to be done is known after this. */
  public void seen() {
    attention = isAnyFor(threads.current());
  }

  /** Nanoseconds until a timer expires, while the program runs. */
  public long ask() {
    return timers.any() ? timers.wait(nowNs(), coreNs()) : VirtualTimer.NEVER;
  }

  @Override
  public void expire() {
    if (timers.any()) {
      timers.expire(nowNs(), coreNs());
    }
  }

  @Override
  public long nextNs() {
    return timers.nextAwaited();
  }

  long nowNs() {
    return threads.nowNs();
  }

  long coreNs() {
    return threads.coreNs();
  }
}
