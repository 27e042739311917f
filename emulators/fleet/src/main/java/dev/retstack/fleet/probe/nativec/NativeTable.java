package dev.retstack.fleet.probe.nativec;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A table of structures that the probe in C searches by open addressing with linear probing. It is
 * kept at most half full.
 */
final class NativeTable {
  /** What each block or call reads is aligned to lines of the cache. */
  static final int CACHE_LINE = 64;

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
   * @param secondOffset of a 16-bit second part of the key, not 0 in an entry in use
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
    entries = arena.allocate(entryCount * entryBytes, CACHE_LINE);
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
  MemorySegment put(long key, short second) {
    if (2L * (size + 1) > capacity) {
      grow();
    }
    MemorySegment entry = slot(key, second);
    entry.set(JAVA_LONG, keyOffset, key);
    entry.set(JAVA_SHORT, secondOffset, second);
    return entry;
  }

  private MemorySegment slot(long key, short second) {
    long i = home(key) & mask();
    while (true) {
      MemorySegment entry = entries.asSlice(i * entryBytes, entryBytes);
      if (entry.get(JAVA_SHORT, secondOffset) == 0) {
        size++;
        return entry;
      }
      if (entry.get(JAVA_LONG, keyOffset) == key && entry.get(JAVA_SHORT, secondOffset) == second) {
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
      short second = entry.get(JAVA_SHORT, secondOffset);
      if (second != 0) {
        slot(entry.get(JAVA_LONG, keyOffset), second).copyFrom(entry);
      }
    }
  }

  /** The place of a key, as C computes it. */
  private static long home(long key) {
    return ((key >>> 6) * 0x9e37_79b9_7f4a_7c15L) >>> 32 << 3 | (key >>> 3 & 7);
  }
}
