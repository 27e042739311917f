package dev.retstack.fleet.core;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import dev.retstack.unicorn.CpuState;
import java.lang.foreign.MemorySegment;

/**
 * What a processor keeps of a segment once its selector is loaded. No register of the engine
 * reaches it, and loading a selector from outside of a run may crash. So the saved state is
 * changed: the place where the selector is followed by the base is looked for.
 */
final class HiddenSegment {
  private static final long STEP = 4;
  private static final long BASE = 8;

  private HiddenSegment() {}

  /**
   * Moves the segment of a selector.
   *
   * @throws IllegalStateException where the state does not have the segment in one place
   */
  static void move(CpuState state, int selector, long from, long to) {
    MemorySegment bytes = state.bytes();
    long found = -1;
    int places = 0;
    for (long at = 0; at + BASE + Long.BYTES <= bytes.byteSize(); at += STEP) {
      if (bytes.get(JAVA_INT_UNALIGNED, at) == selector
          && bytes.get(JAVA_LONG_UNALIGNED, at + BASE) == from) {
        found = at + BASE;
        places++;
      }
    }
    if (places != 1) {
      throw new IllegalStateException(
          "a thread with the segment 0x%x at 0x%x: the engine's state has it in %d places, not in one"
              .formatted(selector, from, places));
    }
    bytes.set(JAVA_LONG_UNALIGNED, found, to);
  }
}
