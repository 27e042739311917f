package dev.retstack.machine.linux.thread;

import java.util.Arrays;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;

/** A thread of a program, as the emulated kernel knows it. */
public final class GuestThread {
  /** In {@link #wakeAtNs}: not before another thread wakes it. */
  static final long NEVER = Long.MAX_VALUE;

  /** Longest name of a thread. */
  public static final int NAME_BYTES = 15;

  private final long id;
  private final long stack;
  private final OptionalLong storage;

  /** Where 0 is written, and a waiter is woken, when the thread ends; 0: nowhere. */
  public long clearAtEnd;

  /** The list of mutexes that it may hold ({@code struct robust_list_head}); 0: none. */
  public long robustList;

  /** What {@code get_thread_area} answers. */
  public long storagePointer;

  boolean waits;
  boolean over;

  /** The futex that it waits for; 0: it sleeps. */
  long futex;

  /** Which wakers are meant. */
  int bits;

  long wakeAtNs;

  /**
   * Condition to wait for, where it is neither a futex nor a signal: the thread continues once it
   * holds.
   */
  BooleanSupplier condition;

  /** Name that the program set: at most 15 bytes. */
  private byte[] name = new byte[0];

  /** True where the program gave it or its starter that name. */
  boolean isNamed;

  boolean timedOut;

  /** True where its system call says so when that time is up. */
  boolean tellsTimeout;

  /** True where a signal has ended its wait. */
  boolean interrupted;

  /** True where the system call may be made again behind a handler. */
  boolean restarts;

  Runnable whenInterrupted;

  /** What the result register was before the system call in which it waits. */
  public long beforeCall;

  /**
   * Value before the call of the register that shows errors, if there is one: it may be an
   * argument.
   */
  public long flagBeforeCall;

  GuestThread(long id, long stack, OptionalLong storage) {
    this.id = id;
    this.stack = stack;
    this.storage = storage;
  }

  /** The id that the program knows. */
  public long id() {
    return id;
  }

  /**
   * The id of its task in records. The first thread is the task that the core began with, so that
   * the records of a program are the same before it starts a second one.
   */
  public long task() {
    return id == Threads.FIRST ? 0 : id;
  }

  /** The stack pointer to begin with; 0: that of the thread which starts it. */
  public long stack() {
    return stack;
  }

  /** Where the thread's own variables are; empty: where those of its starter are. */
  public OptionalLong storage() {
    return storage;
  }

  /** True where it can run. */
  boolean isReady() {
    return !waits && !over;
  }

  /** True where it can run when it is its turn: what it waits for is there. */
  boolean canRun() {
    return isReady() || (waits && !over && condition != null && condition.getAsBoolean());
  }

  /** True while it waits for a file. */
  public boolean waitsForFile() {
    return waits && condition != null;
  }

  /** The name that the program knows it by; of bytes, as the program set it. */
  public byte[] name() {
    return name.clone();
  }

  /** True where the program gave it or its starter that name. */
  public boolean isNamed() {
    return isNamed;
  }

  /** Sets it. */
  public void name(byte[] value) {
    name = Arrays.copyOf(value, Math.min(value.length, NAME_BYTES));
  }

  /** The futex that it waits for; 0: it sleeps. */
  public long futex() {
    return futex;
  }

  /** While it waits: what is to be done if a signal ends the wait. */
  public void whenInterrupted(Runnable what) {
    whenInterrupted = what;
  }

  /** True, once, where a signal has ended its last wait. */
  public boolean takeInterrupted() {
    boolean was = interrupted;
    interrupted = false;
    return was;
  }

  /** True where the system call of its last wait may be made again. */
  public boolean restarts() {
    return restarts;
  }

  /** True while it waits. */
  public boolean waits() {
    return waits;
  }

  /** True, once, where its last wait ended because its time was up. */
  public boolean takeTimedOut() {
    boolean was = timedOut;
    timedOut = false;
    return was;
  }
}
