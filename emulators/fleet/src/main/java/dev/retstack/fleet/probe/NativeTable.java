package dev.retstack.fleet.probe;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A table of structures that the probe in C searches by open addressing with linear probing. Kept
 * at most half full.
 */
final class NativeTable {
  private final Arena arena;
  private final long entryBytes;
  private final long keyOffset;
  private final long secondOffset;
  private MemorySegment entries;
  private long capacity;
  private int size;

  /**
   * An empty table.
   *
   * @param keyOffset of the 64-bit key in an entry, by which it is found
   * @param secondOffset of a 64-bit second part of the key, not 0 in an entry in use
   */
  NativeTable(Arena arena, long entryBytes, long keyOffset, long secondOffset, long capacity) {
    this.arena = arena;
    this.entryBytes = entryBytes;
    this.keyOffset = keyOffset;
    this.secondOffset = secondOffset;
    allocate(capacity);
  }

  private void allocate(long entryCount) {
    capacity = entryCount;
    entries = arena.allocate(entryCount * entryBytes, Long.BYTES);
  }

  MemorySegment entries() {
    return entries;
  }

  long mask() {
    return capacity - 1;
  }

  void clear() {
    entries.fill((byte) 0);
    size = 0;
  }

  /** The entry of a key, new or old; the caller fills in the rest. */
  MemorySegment put(long key, long second) {
    if (2L * (size + 1) > capacity) {
      grow();
    }
    MemorySegment entry = slot(key, second);
    entry.set(JAVA_LONG, keyOffset, key);
    entry.set(JAVA_LONG, secondOffset, second);
    return entry;
  }

  private MemorySegment slot(long key, long second) {
    long i = hash(key) & mask();
    while (true) {
      MemorySegment entry = entries.asSlice(i * entryBytes, entryBytes);
      if (entry.get(JAVA_LONG, secondOffset) == 0) {
        size++;
        return entry;
      }
      if (entry.get(JAVA_LONG, keyOffset) == key && entry.get(JAVA_LONG, secondOffset) == second) {
        return entry;
      }
      i = (i + 1) & mask();
    }
  }

  private void grow() {
    MemorySegment old = entries;
    long count = capacity;
    allocate(2 * count);
    size = 0;
    for (long i = 0; i < count; i++) {
      MemorySegment entry = old.asSlice(i * entryBytes, entryBytes);
      long second = entry.get(JAVA_LONG, secondOffset);
      if (second != 0) {
        slot(entry.get(JAVA_LONG, keyOffset), second).copyFrom(entry);
      }
    }
  }

  /** The same as in C. */
  private static long hash(long key) {
    return (key * 0x9e37_79b9_7f4a_7c15L) >>> 32;
  }
}
