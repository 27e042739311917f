package dev.retstack.machine.linux.signal;

/** What signals know of one thread: its mask, its separate stack, and what was sent to it. */
public final class ThreadSignals {
  /** {@code ss_flags}: on the stack now; there is none; it is put away while a handler runs. */
  public static final int ON_STACK = 1;

  public static final int DISABLED = 2;
  public static final int AUTODISARM = 0x8000_0000;

  /** Signals that are blocked: bit n - 1 for signal n. */
  public long mask;

  /** The words of a mask beyond 64 signals: kept, without a meaning. */
  public long maskBeyond;

  /** Stack that {@code sigaltstack} set. */
  public long stackStart;

  public long stackBytes;
  public int stackFlags = DISABLED;

  /** True while {@code sigsuspend} waits, or until a handler takes its mask over. */
  boolean suspended;

  /** What the mask is again behind {@code sigsuspend}. */
  long maskBehind;

  /** Where {@code sigtimedwait} writes the signal; 0: nowhere. */
  public long infoAt;

  /** Which signals {@code sigtimedwait} waits for. */
  long awaited;

  /** Which one ended that wait; null where none has. */
  SignalInfo arrived;

  final PendingSignals pending = new PendingSignals();

  /** True for a stack pointer on the separate stack. */
  public boolean isOnStack(long stackPointer) {
    return (stackFlags & AUTODISARM) == 0
        && stackBytes != 0
        && Long.compareUnsigned(stackPointer - stackStart - 1, stackBytes) < 0;
  }

  /** Takes the mask to be restored when a handler returns. */
  public long takeMaskBehind() {
    long behind = suspended ? maskBehind : mask;
    suspended = false;
    return behind;
  }
}
