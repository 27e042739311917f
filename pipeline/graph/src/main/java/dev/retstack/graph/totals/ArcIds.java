package dev.retstack.graph.totals;

/**
 * Ids of arcs by the calling function and the called selfPc. Each call costs one look-up. So it is
 * open addressing over one array, two words for each place, at most half full.
 */
final class ArcIds {
  static final int NONE = -1;

  private static final int WORDS = 2;

  /* selfPc and caller are mixed by odd constants; the upper bits of the product are the place. */
  private static final long MIX_SELF_PC = 0x9e3779b97f4a7c15L;
  private static final long MIX_CALLER = 0xbf58476d1ce4e5b9L;

  /** {@code selfPc}, then {@code caller << 32 | arc + 1}; the second is 0 where nothing is. */
  private long[] places = new long[64 * WORDS];

  private int shift = Long.SIZE - 6;
  private int size;

  /** The arc's id, {@link #NONE} where it has none. */
  int get(int caller, long selfPc) {
    long[] p = places;
    int mask = p.length - 1;
    int at = place(caller, selfPc);
    while (true) {
      long value = p[at + 1];
      if (p[at] == selfPc && (int) (value >>> 32) == caller && value != 0) {
        return (int) value - 1;
      }
      if (value == 0) {
        return NONE;
      }
      at = (at + WORDS) & mask;
    }
  }

  /** Gives an arc that has none its id. */
  void put(int caller, long selfPc, int arc) {
    size++;
    if (2 * size > places.length / WORDS) {
      grow();
    }
    insert(selfPc, (long) caller << 32 | (arc + 1));
  }

  private int place(int caller, long selfPc) {
    return (int) ((selfPc * MIX_SELF_PC ^ caller * MIX_CALLER) >>> shift) * WORDS;
  }

  private void insert(long selfPc, long value) {
    int mask = places.length - 1;
    int at = place((int) (value >>> 32), selfPc);
    while (places[at + 1] != 0) {
      at = (at + WORDS) & mask;
    }
    places[at] = selfPc;
    places[at + 1] = value;
  }

  private void grow() {
    long[] old = places;
    places = new long[2 * old.length];
    shift--;
    for (int at = 0; at < old.length; at += WORDS) {
      if (old[at + 1] != 0) {
        insert(old[at], old[at + 1]);
      }
    }
  }
}
