package dev.retstack.graph.pyramid;

import dev.retstack.graph.limits.Saturating;
import dev.retstack.graph.snapshot.ByteOutput;
import dev.retstack.graph.snapshot.Fields;
import it.unimi.dsi.fastutil.longs.LongSet;
import java.io.DataInput;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;

/**
 * What is on one line of a core, in tiles of one length: for each tile with calls that are shorter
 * than it how many began in it, how much of its time they take, and the longest; and each longer
 * call by itself. So a call is in two tiles at most, however long it is.
 */
final class TileRow {
  private static final int FIRST = 2;

  private int size;
  private long[] tile = new long[FIRST];
  private long[] calls = new long[FIRST];
  private long[] busy = new long[FIRST];
  private long[] selfPc = new long[FIRST];
  private long[] enter = new long[FIRST];
  private long[] exit = new long[FIRST];

  private int alone;
  private long[] aloneCalls = new long[FIRST];
  private long[] alonePc = new long[FIRST];
  private long[] aloneEnter = new long[FIRST];
  private long[] aloneExit = new long[FIRST];

  /** Tiles and calls that it holds. */
  int entries() {
    return size + alone;
  }

  int tiles() {
    return size;
  }

  int calls() {
    return alone;
  }

  /** Number of the tile at a place; places are in the order of time. */
  long tile(int at) {
    return tile[at];
  }

  /** When the call at a place was entered. */
  long callEnter(int at) {
    return aloneEnter[at];
  }

  /** Adds a call; times are not negative. */
  void add(int shift, long count, long function, long from, long to) {
    long first = from >>> shift;
    long last = to >>> shift;
    long duration = to - from;
    if (first == last) {
      int at = size - 1;
      if (at < 0 || tile[at] != first) {
        at = find(first);
      }
      put(at, count, duration, function, from, to);
    } else if (duration >>> shift != 0) {
      addAlone(count, function, from, to);
    } else {
      long cut = last << shift;
      put(find(first), count, cut - from, function, from, to);
      if (to > cut) {
        put(find(last), 0, to - cut, function, from, to);
      }
    }
  }

  private void put(int at, long count, long time, long function, long from, long to) {
    calls[at] = Saturating.sum(calls[at], count);
    busy[at] = Saturating.sum(busy[at], time);
    if (to - from > exit[at] - enter[at]) {
      selfPc[at] = function;
      enter[at] = from;
      exit[at] = to;
    }
  }

  /** Place of a tile; it is made where there is none. */
  private int find(long number) {
    int at = size;
    if (size > 0 && tile[size - 1] >= number) {
      at = Arrays.binarySearch(tile, 0, size, number);
      if (at >= 0) {
        return at;
      }
      at = -1 - at;
    }
    if (size == tile.length) {
      growTiles();
    }
    for (long[] column : columns()) {
      System.arraycopy(column, at, column, at + 1, size - at);
      column[at] = 0;
    }
    tile[at] = number;
    exit[at] = -1; // any call is longer
    size++;
    return at;
  }

  private long[][] columns() {
    return new long[][] {tile, calls, busy, selfPc, enter, exit};
  }

  private void growTiles() {
    int room = grown(size);
    tile = Arrays.copyOf(tile, room);
    calls = Arrays.copyOf(calls, room);
    busy = Arrays.copyOf(busy, room);
    selfPc = Arrays.copyOf(selfPc, room);
    enter = Arrays.copyOf(enter, room);
    exit = Arrays.copyOf(exit, room);
  }

  private static int grown(int size) {
    return size + (size >> 1) + 1;
  }

  private void addAlone(long count, long function, long from, long to) {
    if (alone == aloneCalls.length) {
      int room = grown(alone);
      aloneCalls = Arrays.copyOf(aloneCalls, room);
      alonePc = Arrays.copyOf(alonePc, room);
      aloneEnter = Arrays.copyOf(aloneEnter, room);
      aloneExit = Arrays.copyOf(aloneExit, room);
    }
    int at = alone;
    while (at > 0 && aloneEnter[at - 1] > from) {
      at--; // calls of a line end in the order in which they begin, but where records are missing
    }
    for (long[] column : new long[][] {aloneCalls, alonePc, aloneEnter, aloneExit}) {
      System.arraycopy(column, at, column, at + 1, alone - at);
    }
    aloneCalls[at] = count;
    alonePc[at] = function;
    aloneEnter[at] = from;
    aloneExit[at] = to;
    alone++;
  }

  /**
   * The same in longer tiles.
   *
   * @param shift of these
   * @param by powers of two that the new ones are longer
   */
  TileRow coarser(int shift, int by) {
    TileRow row = new TileRow();
    for (int i = 0; i < size; i++) {
      int at = row.find(tile[i] >>> by);
      row.put(at, calls[i], busy[i], selfPc[i], enter[i], exit[i]);
    }
    for (int i = 0; i < alone; i++) {
      row.add(shift + by, aloneCalls[i], alonePc[i], aloneEnter[i], aloneExit[i]);
    }
    return row;
  }

  void addFunctions(LongSet to) {
    for (int i = 0; i < size; i++) {
      to.add(selfPc[i]);
    }
    for (int i = 0; i < alone; i++) {
      to.add(alonePc[i]);
    }
  }

  /**
   * Writes each tile into its block, and each call into that of the tile in which it ends: what is
   * added later changes the last blocks only.
   */
  void writeBlocks(int line, int shift, long first, Map<Long, ByteOutput> blocks)
      throws IOException {
    for (int i = firstFrom(tile, size, first * Pyramid.BLOCK_TILES); i < size; i++) {
      ByteOutput out = block(tile[i], blocks);
      Fields.writeVarint(out, (long) line << 1);
      Fields.writeVarint(out, tile[i]);
      Fields.writeVarint(out, calls[i]);
      Fields.writeVarint(out, busy[i]);
      Fields.writeVarint(out, selfPc[i]);
      Fields.writeVarint(out, enter[i]);
      Fields.writeVarint(out, exit[i] - enter[i]);
    }
    for (int i = 0; i < alone; i++) {
      long end = aloneExit[i] >>> shift;
      if (end / Pyramid.BLOCK_TILES >= first) {
        ByteOutput out = block(end, blocks);
        Fields.writeVarint(out, (long) line << 1 | 1);
        Fields.writeVarint(out, aloneCalls[i]);
        Fields.writeVarint(out, alonePc[i]);
        Fields.writeVarint(out, aloneEnter[i]);
        Fields.writeVarint(out, aloneExit[i] - aloneEnter[i]);
      }
    }
  }

  private static ByteOutput block(long tile, Map<Long, ByteOutput> blocks) {
    return blocks.computeIfAbsent(tile / Pyramid.BLOCK_TILES, _ -> new ByteOutput(512));
  }

  /** Reads an entry that {@link #writeBlocks} wrote, behind its line. */
  void readEntry(boolean isCall, int shift, DataInput in) throws IOException {
    long number = isCall ? 0 : Fields.readVarint(in);
    long count = Fields.readVarint(in);
    long time = isCall ? 0 : Fields.readVarint(in);
    long function = Fields.readVarint(in);
    long from = Fields.readVarint(in);
    long to = from + Fields.readVarint(in);
    boolean fits = number >= 0 && number <= Long.MAX_VALUE >>> shift;
    if (!fits || count < 0 || time < 0 || from < 0 || to < from) {
      throw new IOException("corrupt pyramid: an entry from %d to %d".formatted(from, to));
    }
    if (isCall) {
      addAlone(count, function, from, to);
    } else {
      int before = size;
      int at = find(number);
      if (size == before) {
        throw new IOException("corrupt pyramid: tile %d twice".formatted(number));
      }
      put(at, count, time, function, from, to);
    }
  }

  /** Tells of what touches [from, to). */
  void tell(int line, int shift, long from, long to, TileSource.Sink sink) {
    for (int i = firstFrom(tile, size, from >>> shift); i < size && tile[i] << shift < to; i++) {
      tellTile(line, shift, i, sink);
    }
    for (int i = 0; i < alone && aloneEnter[i] < to; i++) {
      if (aloneExit[i] >= from) {
        tellCall(line, i, sink);
      }
    }
  }

  /** Tells of the tiles from one number on to another, and of the calls that begin in them. */
  void tellPart(int line, int shift, long first, long behind, TileSource.Sink sink) {
    int end = firstFrom(tile, size, behind);
    for (int i = firstFrom(tile, size, first); i < end; i++) {
      tellTile(line, shift, i, sink);
    }
    int i = firstFrom(aloneEnter, alone, first << shift);
    for (; i < alone && aloneEnter[i] >>> shift < behind; i++) {
      tellCall(line, i, sink);
    }
  }

  private void tellTile(int line, int shift, int at, TileSource.Sink sink) {
    long start = tile[at] << shift;
    sink.tile(
        line, start, behind(start, shift), calls[at], busy[at], selfPc[at], enter[at], exit[at]);
  }

  /** First time behind a tile, or the last time of all. */
  private static long behind(long start, int shift) {
    long end = start + (1L << shift);
    return end < start ? Long.MAX_VALUE : end;
  }

  private void tellCall(int line, int at, TileSource.Sink sink) {
    sink.call(line, aloneCalls[at], alonePc[at], aloneEnter[at], aloneExit[at]);
  }

  /** First place that is not below a number in a column that rises. */
  private static int firstFrom(long[] column, int size, long number) {
    int low = 0;
    int high = size;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (column[middle] < number) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
