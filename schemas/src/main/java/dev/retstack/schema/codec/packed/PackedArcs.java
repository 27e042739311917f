package dev.retstack.schema.codec.packed;

import java.util.Arrays;

/**
 * Predicts the next FUNCTION record of a chunk from those before it. An arc is a function called
 * from a site. These records show no return, so the running calls are kept as arcs, innermost last.
 * The next arc is looked for from there down: its caller is the function just entered, or one
 * further out if some returned. Encoder and decoder run the same model, which {@code
 * schemas/PACKED.md} specifies.
 */
final class PackedArcs {
  /** Calls that may return, at most, for an arc to be predicted. */
  static final int RETURNS_MAX = 15;

  /** Arcs that are remembered to follow at a point. */
  static final int SLOTS = 2;

  /** Running calls that are kept; with one more, all are forgotten. */
  static final int RUNNING_MAX = 4096;

  // an arc's row: numbers of the arcs called next, two just after it was entered, two by its caller
  // after it returned, 16 bits each; then selfpc of the caller
  private static final int FOLLOW = 0;
  private static final int OWNER = 1;
  private static final int ROW_SHIFT = 1;
  private static final int NUMBER_BITS = 16;
  private static final int NUMBER_MASK = (1 << NUMBER_BITS) - 1;
  private static final int RETURNED = SLOTS * NUMBER_BITS;

  private static final int PAIRS = 1 << 13;
  private static final int MIX = 0x9e3779b1;

  /** By number less 1. */
  private Edges edges;

  private long[] rows = new long[128 << ROW_SHIFT];
  private final int[] running = new int[RUNNING_MAX];
  private int top;

  /** Time that an arc took to follow another, by a mix of both. */
  private final long[] times = new long[PAIRS];

  /**
   * Knows nothing.
   *
   * @param records of the chunk
   * @param searchable whether {@link #find} will be asked
   */
  void reset(int records, boolean searchable) {
    edges = new Edges(records, searchable);
    rows[FOLLOW] = 0;
    top = 0;
    Arrays.fill(times, 0);
  }

  /** How many arcs are numbered, from 1 on. */
  int count() {
    return edges.size();
  }

  long selfPc(int number) {
    return edges.selfPc(number - 1);
  }

  long fromPc(int number) {
    return edges.fromPc(number - 1);
  }

  /** selfPc of the function that runs, 0 where that is not known. */
  long here() {
    return top == 0 ? 0 : selfPc(running[top - 1]);
  }

  /** Number of an arc, 0 where it has none. */
  int find(long selfPc, long fromPc) {
    return edges.find(selfPc, fromPc) + 1;
  }

  /** Calls that may have returned before the next one, at most. */
  int returnsMax() {
    return Math.min(top, RETURNS_MAX);
  }

  /** The arc in a slot of the point after {@code returns} returns; 0 where the slot is empty. */
  int foretold(int returns, int slot) {
    int arc = top == 0 ? 0 : running[top - Math.max(returns, 1)];
    int shift = (returns == 0 ? 0 : RETURNED) + slot * NUMBER_BITS;
    return (int) (rows[(arc << ROW_SHIFT) + FOLLOW] >>> shift) & NUMBER_MASK;
  }

  /** Returns before the call of an arc by its caller, or one more than can be: nobody knows. */
  int returnsTo(int number) {
    long owner = rows[(number << ROW_SHIFT) + OWNER];
    int max = returnsMax();
    int returns = 0;
    while (returns <= max && callerAfter(returns) != owner) {
      returns++;
    }
    return returns;
  }

  /** Returns before the call from a site, judged by its address: the nearest function below it. */
  int returnsTo(long fromPc) {
    int max = returnsMax();
    int nearest = max + 1;
    for (int returns = 0; returns <= max; returns++) {
      long distance = fromPc - callerAfter(returns);
      if (distance >= 0 && (nearest > max || distance < fromPc - callerAfter(nearest))) {
        nearest = returns;
      }
    }
    return nearest;
  }

  private long callerAfter(int returns) {
    return returns == top ? 0 : selfPc(running[top - 1 - returns]);
  }

  /** Numbers an arc that is called after {@code returns} returns; 0 where there is no room. */
  int add(long selfPc, long fromPc, int returns) {
    int number = edges.add(selfPc, fromPc) + 1;
    if (number > 0) {
      int at = number << ROW_SHIFT;
      if (at == rows.length) {
        rows = Arrays.copyOf(rows, 2 * at);
      }
      rows[at + FOLLOW] = 0;
      rows[at + OWNER] = returns > returnsMax() ? 0 : callerAfter(returns);
    }
    return number;
  }

  /** Where the time stands that this arc takes to follow the one before. */
  int pair(int number) {
    int before = top == 0 ? 0 : running[top - 1];
    return ((before * MIX + number) * MIX) >>> 19;
  }

  long time(int pair) {
    return times[pair];
  }

  void learnTime(int pair, long delta) {
    times[pair] = delta;
  }

  /** Moves to an arc that was not predicted; its point predicts it from now on. */
  void surprise(int returns, int number) {
    if (returns <= returnsMax() && number > 0) {
      int arc = top == 0 ? 0 : running[top - Math.max(returns, 1)];
      int slot = foretold(returns, 0) == 0 ? 0 : 1;
      int shift = (returns == 0 ? 0 : RETURNED) + slot * NUMBER_BITS;
      int at = (arc << ROW_SHIFT) + FOLLOW;
      rows[at] = (rows[at] & ~((long) NUMBER_MASK << shift)) | (long) number << shift;
    }
    enter(returns, number);
  }

  /**
   * Moves to an arc after {@code returns} returns. An arc without a number leaves the place
   * unknown.
   */
  void enter(int returns, int number) {
    top = returns > returnsMax() || number == 0 ? 0 : top - returns;
    if (top == RUNNING_MAX) {
      top = 0;
    }
    if (number > 0) {
      running[top++] = number;
    }
  }

  /**
   * Call edges of one chunk, numbered in the order in which they were first seen: an edge is the
   * pair (selfpc, frompc), that is, which function was called from where. Encoder and decoder keep
   * equal tables; only the encoder looks up by address.
   */
  static final class Edges {
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
    Edges(int records, boolean searchable) {
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
}
