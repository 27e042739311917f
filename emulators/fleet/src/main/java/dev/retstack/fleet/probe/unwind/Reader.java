package dev.retstack.fleet.probe.unwind;

import dev.retstack.machine.loader.elf.Symbol;

/**
 * A call of a traced function that reads its return address: the true one is there until it has
 * returned.
 *
 * @param leaving where it has returned, or has given way to another function
 * @param stack on which it was called
 * @param retP the slot of its frame, as records say it
 * @param place the word that holds the return address at its entry; 0 where a register does
 * @param hijacked what the tracer had written there
 * @param original what is there instead
 */
record Reader(
    Leaving leaving, TrueWords stack, long retP, long place, long hijacked, long original) {
  /** Bytes above the slot in which the stack pointer may be behind a return. */
  private static final long NEAR = 4096;

  /** Bytes above the slot where the frame is between the two. */
  private static final long FAR = 64 * 1024;

  /**
   * Where a function has been left.
   *
   * @param first the lowest stack pointer
   * @param isNear true where that is the one behind its return
   * @param back where it returns to
   */
  static Leaving leaving(Symbol function, long first, boolean isNear, long back) {
    return Leaving.of(function, first, first + (isNear ? NEAR : FAR), back);
  }
}
