package dev.retstack.schema.codec;

/**
 * Call edges of one chunk, numbered in the order in which they were first seen: an edge is the pair
 * (selfpc, frompc), that is, which function was called from where. Encoder and decoder keep equal
 * tables; only the encoder looks up by address.
 */
final class EdgeTable {
  /** Edges a table holds at most; later ones are coded in full each time. */
  static final int EDGES_MAX = 4096;

  /** Offsets of an edge's words. */
  private static final int SELF_PC = 0;

  private static final int FROM_PC = 1;

  private static final int STRIDE = 2;

  private final int capacity;
  private final long[] words;

  /** Open addressing; edge + 1, 0 = free. Null on the decoding side. */
  private final int[] slots;

  private int size;

  /** A table for a chunk of {@code records} records. */
  EdgeTable(int records, boolean searchable) {
    capacity = Math.min(EDGES_MAX, records);
    words = new long[capacity * STRIDE];
    slots = searchable ? new int[Integer.highestOneBit(Math.max(capacity, 1)) * 4] : null;
  }

  int size() {
    return size;
  }

  /** Number of the edge, or -1. */
  int find(long selfPc, long fromPc) {
    int mask = slots.length - 1;
    int slot = hash(selfPc, fromPc) & mask;
    for (int edge; (edge = slots[slot] - 1) >= 0; slot = (slot + 1) & mask) {
      if (words[edge * STRIDE + SELF_PC] == selfPc && words[edge * STRIDE + FROM_PC] == fromPc) {
        return edge;
      }
    }
    return -1;
  }

  /** Gives the edge the next number, where there is room; returns it, or -1. */
  int add(long selfPc, long fromPc) {
    if (size == capacity) {
      return -1;
    }
    int edge = size++;
    words[edge * STRIDE + SELF_PC] = selfPc;
    words[edge * STRIDE + FROM_PC] = fromPc;
    if (slots != null) {
      int mask = slots.length - 1;
      int slot = hash(selfPc, fromPc) & mask;
      while (slots[slot] != 0) {
        slot = (slot + 1) & mask;
      }
      slots[slot] = edge + 1;
    }
    return edge;
  }

  long selfPc(int edge) {
    return words[edge * STRIDE + SELF_PC];
  }

  long fromPc(int edge) {
    return words[edge * STRIDE + FROM_PC];
  }

  private static int hash(long selfPc, long fromPc) {
    long mixed = (selfPc * 0x9e3779b97f4a7c15L ^ fromPc) * 0xc2b2ae3d27d4eb4fL;
    return (int) (mixed >>> 32);
  }
}
