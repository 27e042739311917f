package dev.retstack.fleet.probe;

/**
 * How a core came to the block before which it stands.
 *
 * @param how in which way
 * @param start of the block of the program that ran last, if one did
 * @param end one past it
 */
public record Arrival(How how, long start, long end) {
  /** The core was put there: a thread, a handler or an interrupted place continues. */
  public static final Arrival PUT = new Arrival(How.PUT, 0, 0);

  /** The tracer's code led there. */
  public static final Arrival TRACER = new Arrival(How.TRACER, 0, 0);

  /** In which way. */
  public enum How {
    PUT,
    /** From the block of the program that ran last. */
    RAN,
    /** In the middle of that block: it was left, so that a site begins a block. */
    SPLIT,
    TRACER
  }

  /** True where the last block runs into an address without a jump, or ends with one not taken. */
  public boolean runsInto(long address) {
    return how == How.SPLIT || (how == How.RAN && end == address);
  }
}
