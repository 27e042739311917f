package dev.retstack.fleet.probe;

/**
 * The one block hook of a core. It is the clock and the deadline, the only place where the core
 * stops, and the place where entries and exits are seen. A stop happens before the block, none of
 * which has run, so a start at that block is exact.
 */
public interface Pacer extends AutoCloseable {
  /** Why the core stopped in the block hook. */
  enum Stop {
    NONE,
    DEADLINE,
    BATCH_FULL,
    /** The program's last return, or a place where the interrupt controller answers. */
    OUTERMOST_RETURN,
    IDLE_LOOP,
    /** The program goes round in the landing page, where it has no business and no time passes. */
    ASTRAY
  }

  /** How exactly a deadline is kept. */
  enum Deadline {
    /** It may be one block late. */
    ROUGH,
    /**
     * Exactly, so that all probes stop at the same place. Not for a single instruction: that may be
     * the nop in place of a call before which the core stands for lack of time.
     */
    EXACT,
    /** Exactly, and the core ends there. */
    END
  }

  /** Adds the block hook to the engine. */
  void hook();

  /**
   * Before a start: the core shall stop at the first block at or after this virtual time.
   *
   * @param kind how exactly
   */
  void arm(long untilTime, Deadline kind);

  /**
   * The core shall stop at the next block, wherever that is, for it is to end. From any thread,
   * while the core is not closed.
   */
  void hurry();

  /** Most instructions of a jump to itself: it may have a delay slot. */
  int IDLE_LOOP = 2;

  /** The core left a block in its middle and starts again there: the rest is not another block. */
  void resume();

  /**
   * After the engine stopped: true where the hook stopped it for its own needs, which are met now.
   * The core must continue at {@link #stopAddress}.
   */
  boolean serveStop();

  /** Why the core stopped here; NONE where it stopped by itself. */
  Stop stop();

  /** The block before which it stopped. */
  long stopAddress();

  /** How it came to that block. */
  Arrival arrival();

  /** Where the block of the program began that ran last; -1: the last one was the tracer's. */
  long began();

  /** Instructions of that block. */
  int length();

  /**
   * Forgets what is known of blocks: other sites in them count from here on. Nothing to do where
   * the probe is the hook itself, which knows its sites.
   */
  default void sitesChanged() {}

  /** Forgets what is known of blocks: code changed. */
  void codeChanged();

  /** Forgets where guest memory is: it was mapped or unmapped. */
  void mappingsChanged();

  /** The instructions of the program executed so far. */
  TraceClock instructions();

  /** The records that it makes. */
  Probe probe();

  /** Gives back what it holds. The engine must be closed by then. */
  @Override
  void close();
}
