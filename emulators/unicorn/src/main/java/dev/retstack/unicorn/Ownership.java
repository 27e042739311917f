package dev.retstack.unicorn;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Which thread may call an engine now: any thread, one at a time, while it is idle; only the
 * running thread (its hooks) while it runs; none once it is closed. It costs one volatile read per
 * call. Callers that hand an idle engine to another thread provide the happens-before edge.
 *
 * <p>The first call makes the engine's machine, one engine of the process at a time: Unicorn 2.1.4
 * fills in static tables there (r32 and rtl of sparc_tcg_init). Two SPARC engines that were made at
 * once could leave one of them without a pc, which ended the process at its first block.
 */
@SuppressWarnings("ReferenceEquality") // this very thread is meant
final class Ownership {
  private static final Object CLOSED = new Object();
  private static final Object NOT_MADE = new Object();
  private static final Object MAKING = new Object();
  private static final VarHandle OWNER;

  static {
    try {
      OWNER = MethodHandles.lookup().findVarHandle(Ownership.class, "owner", Object.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Null when idle, the running thread, {@link #CLOSED} or {@link #NOT_MADE}. */
  private volatile Object owner = NOT_MADE;

  private final Runnable maker;

  /**
   * Owns an engine whose machine is not made yet.
   *
   * @param maker a call that makes it
   */
  Ownership(Runnable maker) {
    this.maker = maker;
  }

  /** Refuses the call unless the engine is idle or runs on this thread. */
  void check() {
    Object now = owner;
    if (now != null && now != Thread.currentThread()) {
      makeFor(now);
    }
  }

  /**
   * Checks as {@link #check}, but does not make the machine: for settings that must come before.
   */
  void checkFirst() {
    if (owner != NOT_MADE) {
      check();
    }
  }

  private void makeFor(Object now) {
    if (now != NOT_MADE) {
      throw refusal(now);
    }
    synchronized (MAKING) {
      maker.run();
    }
    owner = null;
  }

  /** Returns whether the engine runs. */
  boolean running() {
    return owner instanceof Thread;
  }

  /** Marks the engine as running on this thread. */
  void start() {
    check();
    Object now = OWNER.compareAndExchange(this, null, Thread.currentThread());
    if (now == Thread.currentThread()) {
      throw new IllegalStateException("emu_start inside a hook: start again after it returned");
    }
    if (now != null) {
      throw refusal(now);
    }
  }

  /** Marks the engine as idle again. */
  void finish() {
    owner = null;
  }

  /** Marks the engine as closed; returns false if it was already. */
  boolean close() {
    if (OWNER.compareAndSet(this, NOT_MADE, CLOSED)) {
      return true;
    }
    Object now = OWNER.compareAndExchange(this, null, CLOSED);
    if (now == Thread.currentThread()) {
      throw new IllegalStateException("close inside a hook: close after emu_start returned");
    }
    if (now instanceof Thread) {
      throw refusal(now);
    }
    return now == null;
  }

  private static IllegalStateException refusal(Object now) {
    return new IllegalStateException(
        now instanceof Thread thread
            ? "engine runs on thread %s: call it from its hooks, or after emu_start returned"
                .formatted(thread.getName())
            : "engine is closed");
  }
}
