package dev.retstack.fleet.probe.unwind;

import dev.retstack.machine.memory.GuestAccessException;
import dev.retstack.machine.memory.GuestMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A range of guest memory as words, which can be searched. */
final class StackWords {
  private final MemorySegment bytes;
  private final ValueLayout.OfLong longs;
  private final ValueLayout.OfInt ints;
  private final boolean isLong;

  /**
   * A range within one mapping.
   *
   * @throws GuestAccessException where it is not
   */
  StackWords(GuestMemory memory, long start, long size) {
    bytes = memory.host(start, size);
    longs = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(memory.order());
    ints = ValueLayout.JAVA_INT_UNALIGNED.withOrder(memory.order());
    isLong = memory.wordBytes() == Long.BYTES;
  }

  /** Bytes from one place of a word to the next: m68k aligns words to 2. */
  int step() {
    return isLong ? Long.BYTES : Short.BYTES;
  }

  /** The word at an offset. */
  long at(long offset) {
    return isLong ? bytes.get(longs, offset) : Integer.toUnsignedLong(bytes.get(ints, offset));
  }
}
