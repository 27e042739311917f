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

  // an entry is a row of one array, so that a call meets one line of the cache
  private static final int TILE = 0;
  private static final int CALLS = 1;
  private static final int BUSY = 2;
  private static final int SELF_PC = 3;
  private static final int ENTER = 4;
  private static final int EXIT = 5;
  private static final int TILE_ROW = 6;

  // and so is a call by itself
  private static final int ALONE_ENTER = 0;
  private static final int ALONE_EXIT = 1;
  private static final int ALONE_CALLS = 2;
  private static final int ALONE_PC = 3;
  private static final int ALONE_ROW = 4;

  private int size;
  private long[] tiles = new long[FIRST * TILE_ROW];

  private int alone;
  private long[] calls = new long[FIRST * ALONE_ROW];

  /** A copy to which calls can be added. */
  TileRow copy() {
    TileRow copy = new TileRow();
    copy.size = size;
    copy.tiles = tiles.clone();
    copy.alone = alone;
    copy.calls = calls.clone();
    return copy;
  }

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
    return tiles[at * TILE_ROW];
  }

  /** When the call at a place was entered. */
  long callEnter(int at) {
    return calls[at * ALONE_ROW];
  }

  /**
   * Adds a call, or several of one tile.
   *
   * @param time that they take
   * @param function of the longest
   * @param from when that was entered, not negative, and {@code to} when it ended
   */
  void add(int shift, long count, long time, long function, long from, long to) {
    long first = from >>> shift;
    long last = to >>> shift;
    if (first == last) {
      put(find(first), count, time, function, from, to);
    } else if ((to - from) >>> shift != 0) {
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
    long[] t = tiles;
    t[at + CALLS] = Saturating.sum(t[at + CALLS], count);
    t[at + BUSY] = Saturating.sum(t[at + BUSY], time);
    if (to - from > t[at + EXIT] - t[at + ENTER]) {
      t[at + SELF_PC] = function;
      t[at + ENTER] = from;
      t[at + EXIT] = to;
    }
  }

  /** Where the row of a tile begins; it is made where there is none. */
  private int find(long number) {
    int at = size;
    if (size > 0 && tile(size - 1) >= number) {
      at = tile(size - 1) == number ? size - 1 : firstFrom(tiles, TILE_ROW, size, number);
      if (tile(at) == number) {
        return at * TILE_ROW;
      }
    }
    tiles = withRow(tiles, TILE_ROW, size++, at);
    int row = at * TILE_ROW;
    tiles[row + TILE] = number;
    tiles[row + EXIT] = -1; // any call is longer
    return row;
  }

  /** Adds what a tile says. */
  void addTile(long number, long count, long time, long function, long from, long to) {
    put(find(number), count, time, function, from, to);
  }

  /** Adds a call by itself. */
  void addAlone(long count, long function, long from, long to) {
    int at = alone;
    while (at > 0 && callEnter(at - 1) > from) {
      at--; // calls of a line end in the order in which they begin, but where records are missing
    }
    calls = withRow(calls, ALONE_ROW, alone++, at);
    int row = at * ALONE_ROW;
    calls[row + ALONE_CALLS] = count;
    calls[row + ALONE_PC] = function;
    calls[row + ALONE_ENTER] = from;
    calls[row + ALONE_EXIT] = to;
  }

  /** The table with a row of zeros at a place; the same array where that has room. */
  private static long[] withRow(long[] table, int row, int size, int at) {
    long[] wider = table;
    if (size * row == table.length) {
      wider = Arrays.copyOf(table, (size + (size >> 1) + 1) * row);
    }
    System.arraycopy(wider, at * row, wider, (at + 1) * row, (size - at) * row);
    Arrays.fill(wider, at * row, (at + 1) * row, 0);
    return wider;
  }

  /**
   * This row in longer tiles.
   *
   * @param shift of these tiles
   * @param by powers of two that the new ones are longer
   */
  TileRow coarser(int shift, int by) {
    TileRow row = new TileRow();
    for (int i = 0; i < size * TILE_ROW; i += TILE_ROW) {
      int at = row.find(tiles[i] >>> by);
      row.put(
          at,
          tiles[i + CALLS],
          tiles[i + BUSY],
          tiles[i + SELF_PC],
          tiles[i + ENTER],
          tiles[i + EXIT]);
    }
    for (int i = 0; i < alone * ALONE_ROW; i += ALONE_ROW) {
      row.add(
          shift + by,
          calls[i + ALONE_CALLS],
          calls[i + ALONE_EXIT] - calls[i + ALONE_ENTER],
          calls[i + ALONE_PC],
          calls[i + ALONE_ENTER],
          calls[i + ALONE_EXIT]);
    }
    return row;
  }

  /** How another row of tiles of the same length differs in [from, to); empty where it does not. */
  String difference(TileRow other, int shift, long from, long to) {
    int i = firstFrom(tiles, TILE_ROW, size, whole(from, shift));
    int j = firstFrom(other.tiles, TILE_ROW, other.size, whole(from, shift));
    while ((i < size && tile(i) << shift < to) || (j < other.size && other.tile(j) << shift < to)) {
      String expected = i < size ? describe(i) : "nothing";
      String received = j < other.size ? other.describe(j) : "nothing";
      if (!expected.equals(received)) {
        return "expected %s, received %s".formatted(expected, received);
      }
      i++;
      j++;
    }
    i = firstFrom(calls, ALONE_ROW, alone, from);
    j = firstFrom(other.calls, ALONE_ROW, other.alone, from);
    while ((i < alone && callEnter(i) < to) || (j < other.alone && other.callEnter(j) < to)) {
      String expected = i < alone ? describeCall(i) : "nothing";
      String received = j < other.alone ? other.describeCall(j) : "nothing";
      if (!expected.equals(received)) {
        return "expected %s, received %s".formatted(expected, received);
      }
      i++;
      j++;
    }
    return "";
  }

  /** Number of the first tile that begins at a time or behind it. */
  private static long whole(long time, int shift) {
    return (time >>> shift) + (time >>> shift << shift == time ? 0 : 1);
  }

  private String describe(int at) {
    int i = at * TILE_ROW;
    return "tile %d with %d calls that take %d, the longest from %d to %d of 0x%x"
        .formatted(
            tiles[i],
            tiles[i + CALLS],
            tiles[i + BUSY],
            tiles[i + ENTER],
            tiles[i + EXIT],
            tiles[i + SELF_PC]);
  }

  private String describeCall(int at) {
    int i = at * ALONE_ROW;
    return "%d calls from %d to %d of 0x%x"
        .formatted(
            calls[i + ALONE_CALLS],
            calls[i + ALONE_ENTER],
            calls[i + ALONE_EXIT],
            calls[i + ALONE_PC]);
  }

  void addFunctions(LongSet to) {
    for (int i = 0; i < size; i++) {
      to.add(tiles[i * TILE_ROW + SELF_PC]);
    }
    for (int i = 0; i < alone; i++) {
      to.add(calls[i * ALONE_ROW + ALONE_PC]);
    }
  }

  /**
   * Writes each tile into its block, and each call into that of the tile in which it ends: what is
   * added later changes the last blocks only.
   */
  void writeBlocks(int line, int shift, long first, Map<Long, ByteOutput> blocks)
      throws IOException {
    int from = firstFrom(tiles, TILE_ROW, size, first * Pyramid.BLOCK_TILES);
    for (int i = from * TILE_ROW; i < size * TILE_ROW; i += TILE_ROW) {
      ByteOutput out = block(tiles[i], blocks);
      Fields.writeVarint(out, (long) line << 1);
      Fields.writeVarint(out, tiles[i]);
      Fields.writeVarint(out, tiles[i + CALLS]);
      Fields.writeVarint(out, tiles[i + BUSY]);
      Fields.writeVarint(out, tiles[i + SELF_PC]);
      Fields.writeVarint(out, tiles[i + ENTER]);
      Fields.writeVarint(out, tiles[i + EXIT] - tiles[i + ENTER]);
    }
    for (int i = 0; i < alone * ALONE_ROW; i += ALONE_ROW) {
      long end = calls[i + ALONE_EXIT] >>> shift;
      if (end / Pyramid.BLOCK_TILES >= first) {
        ByteOutput out = block(end, blocks);
        Fields.writeVarint(out, (long) line << 1 | 1);
        Fields.writeVarint(out, calls[i + ALONE_CALLS]);
        Fields.writeVarint(out, calls[i + ALONE_PC]);
        Fields.writeVarint(out, calls[i + ALONE_ENTER]);
        Fields.writeVarint(out, calls[i + ALONE_EXIT] - calls[i + ALONE_ENTER]);
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

  /** Reports the tiles and calls that touch [from, to). */
  void report(int line, int shift, long from, long to, TileSource.Sink sink) {
    int i = firstFrom(tiles, TILE_ROW, size, from >>> shift);
    for (; i < size && tile(i) << shift < to; i++) {
      reportTile(line, shift, i, sink);
    }
    for (i = 0; i < alone && callEnter(i) < to; i++) {
      if (calls[i * ALONE_ROW + ALONE_EXIT] >= from) {
        reportCall(line, i, sink);
      }
    }
  }

  /** Reports the tiles {@code first} up to {@code behind}, and the calls that begin in them. */
  void reportPart(int line, int shift, long first, long behind, TileSource.Sink sink) {
    int end = firstFrom(tiles, TILE_ROW, size, behind);
    for (int i = firstFrom(tiles, TILE_ROW, size, first); i < end; i++) {
      reportTile(line, shift, i, sink);
    }
    int i = firstFrom(calls, ALONE_ROW, alone, first << shift);
    for (; i < alone && callEnter(i) >>> shift < behind; i++) {
      reportCall(line, i, sink);
    }
  }

  private void reportTile(int line, int shift, int at, TileSource.Sink sink) {
    int i = at * TILE_ROW;
    long start = tiles[i] << shift;
    sink.tile(
        line,
        start,
        behind(start, shift),
        tiles[i + CALLS],
        tiles[i + BUSY],
        tiles[i + SELF_PC],
        tiles[i + ENTER],
        tiles[i + EXIT]);
  }

  /** First time behind a tile, or the last time of all. */
  private static long behind(long start, int shift) {
    long end = start + (1L << shift);
    return end < start ? Long.MAX_VALUE : end;
  }

  private void reportCall(int line, int at, TileSource.Sink sink) {
    int i = at * ALONE_ROW;
    sink.call(
        line,
        calls[i + ALONE_CALLS],
        calls[i + ALONE_PC],
        calls[i + ALONE_ENTER],
        calls[i + ALONE_EXIT]);
  }

  /** First row whose first column is not below a number; that column rises. */
  private static int firstFrom(long[] table, int row, int size, long number) {
    int low = 0;
    int high = size;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (table[middle * row] < number) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
