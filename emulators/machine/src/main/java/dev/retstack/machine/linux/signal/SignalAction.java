package dev.retstack.machine.linux.signal;

/**
 * What a program wants done with a signal: {@code struct sigaction} of the kernel.
 *
 * @param handler an address, {@link #DEFAULT} or {@link #IGNORE}
 * @param flags {@code SA_*}; these are the same on all ISAs whose frames depend on them. Every
 *     handler gets a siginfo
 * @param restorer where a handler returns to; 0: where the kernel wants
 * @param mask signals that are blocked while it runs
 */
public record SignalAction(long handler, long flags, long restorer, long mask) {
  public static final long DEFAULT = 0;
  public static final long IGNORE = 1;

  public static final long SIGINFO = 4;
  public static final long RESTORER = 0x0400_0000;
  public static final long ONSTACK = 0x0800_0000;
  public static final long RESTART = 0x1000_0000;
  public static final long NODEFER = 0x4000_0000;
  public static final long RESETHAND = 0x8000_0000L;

  static final SignalAction NONE = new SignalAction(DEFAULT, 0, 0, 0);

  /** True where a function is to be called. */
  public boolean hasHandler() {
    return handler != DEFAULT && handler != IGNORE;
  }

  /** True for a flag that is set. */
  public boolean is(long flag) {
    return (flags & flag) != 0;
  }
}
