package dev.retstack.fleet.probe.java;

import dev.retstack.fleet.probe.Probe;

/** A probe that is asked about every block, by the block hook in Java. */
public interface BlockProbe extends Probe {
  /** What a block at an address was to the probe. */
  enum Block {
    /** Code of the program: its instructions count as time. */
    PROGRAM,
    /** Code of the tracer, handled: it takes no time. */
    TRACER,
    /**
     * Code of the tracer, but the batch is full: nothing was done. The core must stop before this
     * block; it runs again when the batch has been taken.
     */
    FULL,
    /** The program continues at {@link #elsewhere} instead. */
    ELSEWHERE
  }

  /** Where the program continues after {@link Block#ELSEWHERE}. */
  default long elsewhere() {
    throw new IllegalStateException("the program continues");
  }

  /**
   * A block is about to run.
   *
   * @param address of its first instruction
   * @param size bytes
   */
  Block onBlock(long address, int size);

  /** Code changed: what was read from it may be wrong. */
  void codeChanged();
}
