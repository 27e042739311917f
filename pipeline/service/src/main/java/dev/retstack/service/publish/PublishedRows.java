package dev.retstack.service.publish;

import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;

/**
 * Which rows of one profile were published, and with which numbers. There are as many as the
 * profile has. So edges are in one table by open addressing, three words for each place, at most
 * two thirds full.
 */
final class PublishedRows {
  private static final int CALLER = 0;
  private static final int SELF_PC = 1;

  /** 0 where nothing is. */
  private static final int DIGEST = 2;

  private static final int WORDS = 3;

  private final Long2LongOpenHashMap functions = new Long2LongOpenHashMap(0);
  private long[] edges = new long[8 * WORDS];
  private int edgeCount;

  /** Digest that the row was published with; 0 if it was not. A caller of null: the function. */
  long digest(Long caller, long selfPc) {
    return caller == null ? functions.get(selfPc) : edges[place(caller, selfPc) + DIGEST];
  }

  /** The row is published, with this digest, which is not 0. */
  void put(Long caller, long selfPc, long digest) {
    if (caller == null) {
      functions.put(selfPc, digest);
      return;
    }
    int at = place(caller, selfPc);
    if (edges[at + DIGEST] == 0) {
      if (3L * WORDS * ++edgeCount > 2L * edges.length) {
        grow();
        at = place(caller, selfPc);
      }
      edges[at + CALLER] = caller;
      edges[at + SELF_PC] = selfPc;
    }
    edges[at + DIGEST] = digest;
  }

  /** Where the row is, or the free place where it would be. */
  private int place(long caller, long selfPc) {
    int places = edges.length / WORDS;
    long hash = (caller * 0xbf58476d1ce4e5b9L ^ selfPc) * 0x9e3779b97f4a7c15L;
    int at = (int) (hash >>> 33) & (places - 1);
    while (edges[at * WORDS + DIGEST] != 0
        && (edges[at * WORDS + CALLER] != caller || edges[at * WORDS + SELF_PC] != selfPc)) {
      at = (at + 1) & (places - 1);
    }
    return at * WORDS;
  }

  private void grow() {
    long[] old = edges;
    edges = new long[Math.multiplyExact(2, old.length)];
    for (int from = 0; from < old.length; from += WORDS) {
      if (old[from + DIGEST] != 0) {
        System.arraycopy(old, from, edges, place(old[from + CALLER], old[from + SELF_PC]), WORDS);
      }
    }
  }
}
