package dev.retstack.graph.pyramid;

import dev.retstack.graph.snapshot.ByteInput;
import dev.retstack.graph.snapshot.ByteOutput;
import dev.retstack.graph.snapshot.Fields;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import it.unimi.dsi.fastutil.longs.LongSet;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The finest tiles of a core, filled while its calls are rebuilt. How long they are is found on the
 * way: where there are more than one entry for {@value #CALLS_PER_ENTRY} calls, or no room is left,
 * tiles become twice as long. So a tile of a core that is busy holds some thousand records. All
 * coarser levels are made of these when they are asked for.
 */
public final class Pyramid {
  /** As many calls as give one entry. */
  static final int CALLS_PER_ENTRY = 512;

  /** Entries that a pyramid may have in any case. */
  static final int ENTRIES_MIN = 1024;

  /** What a line costs, in entries. */
  static final int LINE_ENTRIES = 8;

  /** Times are not negative, so that all of them are in two tiles. */
  static final int SHIFT_MAX = 62;

  /** What an entry takes of the heap, more or less. */
  private static final long ENTRY_BYTES = 50;

  /** Tiles of one block at most, of one line. */
  static final int BLOCK_TILES = 64;

  /** Entries of one that is read. */
  private static final long READ_MOST = 1 << 14;

  private final Room room;
  private final boolean thin;
  private final List<Line> lines = new ArrayList<>();
  private List<TileRow> rows = new ArrayList<>();
  private final Map<Line, Integer> numbers = new HashMap<>();
  private int shift;
  private long entries;
  private long calls;
  private long leftOut;
  private long changed = Long.MAX_VALUE;
  private boolean touched;

  /** The track of the last call, and its rows by depth; null where there is none. */
  private long task;

  private int instance = -1;
  private int interrupts;
  private TileRow[] track = new TileRow[Line.DEPTHS];

  /**
   * Room for the pyramids of several cores. Where it is full, that with most entries gets tiles of
   * twice the length.
   */
  public static class Room {
    private final long most;
    private final List<Pyramid> all = new ArrayList<>();

    /** Entries of all. */
    long used;

    /**
     * @param most entries of all, each of some {@value #ENTRY_BYTES} bytes; a line counts as
     *     {@value #LINE_ENTRIES}
     */
    public Room(long most) {
      this.most = most;
    }

    /** Adds a pyramid that shares this room. */
    void begin(Pyramid one) {
      all.add(one);
    }

    /**
     * Takes entries; where they are too many, pyramids become coarser first.
     *
     * @param of pyramid that needs them
     * @return false where there is no room
     */
    boolean take(Pyramid of, long more) {
      while (used + more > most) {
        Pyramid largest = null;
        for (Pyramid one : all) {
          boolean thins = one.shift < SHIFT_MAX;
          if (thins && (largest == null || one.entries > largest.entries)) {
            largest = one;
          }
        }
        if (largest == null || largest.entries == 0) {
          return false;
        }
        largest.thinOut();
      }
      used += more;
      return true;
    }
  }

  /** A pyramid whose tiles become longer by themselves. */
  public Pyramid(Room room) {
    this(room, 0, true);
  }

  /** A pyramid with tiles of {@code 1 << shift}, as long as {@code room} has space for it. */
  public static Pyramid of(Room room, int shift) {
    return new Pyramid(room, shift, false);
  }

  private Pyramid(Room room, int shift, boolean thin) {
    this.room = room;
    this.shift = shift;
    this.thin = thin;
    room.begin(this);
  }

  /** Calls that follow are of this track; what the numbers mean says {@link Line}. */
  public void turnTo(long ofTask, int ofInstance, int open) {
    if (task != ofTask || instance != ofInstance || interrupts != open) {
      task = ofTask;
      instance = ofInstance;
      interrupts = open;
      track = new TileRow[Line.DEPTHS];
    }
  }

  /** Length of a tile as it is now, a power of two. */
  public long tileLength() {
    return 1L << shift;
  }

  /** A call of the track ended; {@code depth} is that of its frame. */
  public void call(int depth, long selfPc, long enter, long exit) {
    long from = Math.max(0, enter);
    long to = Math.max(from, exit);
    calls(depth, 1, to - from, selfPc, from, to);
  }

  /**
   * Calls of the track ended.
   *
   * @param count of them; where it is more than one, all began and ended in one tile
   * @param time sum of their durations
   * @param selfPc of the longest, as the others that follow
   */
  public void calls(int depth, long count, long time, long selfPc, long enter, long exit) {
    calls += count;
    touched = true;
    TileRow row = row(depth);
    if (row == null) {
      leftOut += count;
      return;
    }
    add(row, count, time, selfPc, enter, exit);
  }

  /** Records are missing. */
  public void lost(long records, long since, long until) {
    point(Line.LOSSES, records, 0, since, until);
  }

  /** Something was found. */
  public void anomaly(long selfPc, long time) {
    point(Line.ANOMALIES, 1, selfPc, time, time);
  }

  /** Calls ended without their exits. */
  public void unwound(long selfPc, long time) {
    point(Line.EVENTS, 1, selfPc, time, time);
  }

  /** A task was switched out. */
  public void away(long ofTask, int ofInstance, long since, long until) {
    point(new Line(Line.Kind.AWAY, ofTask, ofInstance, 0, 0), 1, 0, since, until);
  }

  private void point(Line line, long count, long selfPc, long from, long to) {
    touched = true;
    TileRow row = row(line);
    if (row != null) {
      long begin = Math.max(0, from);
      long end = Math.max(begin, to);
      add(row, count, end - begin, selfPc, begin, end);
      instance = -1; // the tiles may have become longer
    }
  }

  private void add(TileRow row, long count, long time, long selfPc, long from, long to) {
    int before = row.entries();
    row.add(shift, count, time, selfPc, from, to);
    long tile = Math.max(from, to - (1L << shift) + 1) >>> shift;
    changed = Math.min(changed, tile / BLOCK_TILES);
    int more = row.entries() - before;
    if (more > 0) {
      entries += more;
      room.used += more;
      while (thin
          && shift < SHIFT_MAX
          && entries > ENTRIES_MIN
          && entries * CALLS_PER_ENTRY > calls) {
        thinOut();
      }
      room.take(this, 0);
    }
  }

  private TileRow row(int depth) {
    if (depth >= Line.DEPTHS || depth < 0) {
      return null;
    }
    TileRow row = track[depth];
    if (row == null) {
      row = row(new Line(Line.Kind.CALLS, task, instance, interrupts, depth));
      track[depth] = row;
    }
    return row;
  }

  private TileRow row(Line line) {
    Integer number = numbers.get(line);
    if (number == null) {
      if (!room.take(this, LINE_ENTRIES)) {
        return null;
      }
      number = lines.size();
      numbers.put(line, number);
      lines.add(line);
      rows.add(new TileRow());
    }
    return rows.get(number);
  }

  /** Tiles become twice as long. */
  void thinOut() {
    List<TileRow> thinner = new ArrayList<>(rows.size());
    long left = 0;
    for (TileRow row : rows) {
      thinner.add(row.coarser(shift, 1));
      left += thinner.getLast().entries();
    }
    rows = thinner;
    shift++;
    room.used -= entries - left;
    entries = left;
    track = new TileRow[Line.DEPTHS];
    changed = 0;
  }

  boolean canThinOut() {
    return shift < SHIFT_MAX && entries > 0;
  }

  /** Functions that are the longest somewhere. */
  public LongSet functions() {
    LongSet functions = new LongOpenHashSet();
    rows.forEach(row -> row.addFunctions(functions));
    return functions;
  }

  /** Writes all but the tiles. */
  void writeHead(DataOutput out) throws IOException {
    out.writeByte(shift);
    Fields.writeVarint(out, calls);
    Fields.writeVarint(out, leftOut);
    Fields.writeVarint(out, entries);
    Fields.writeVarint(out, lines.size());
    for (Line line : lines) {
      Fields.writeText(out, line.kind().name());
      out.writeLong(line.task());
      Fields.writeVarint(out, line.instance());
      Fields.writeVarint(out, line.interrupts());
      out.writeByte(line.depth());
    }
  }

  /**
   * Reads what {@link #writeHead} wrote into this new one.
   *
   * @return how many entries its blocks have
   * @throws IOException where it is nothing of the kind
   */
  long readHead(DataInput in) throws IOException {
    shift = in.readUnsignedByte();
    if (shift > SHIFT_MAX) {
      throw new IOException("corrupt pyramid: tiles of 2^" + shift);
    }
    calls = Fields.readVarint(in);
    leftOut = Fields.readVarint(in);
    final long ofBlocks = Fields.readVarint(in);
    int count = (int) Fields.readVarint(in);
    for (int i = 0; i < count; i++) {
      Line line =
          new Line(
              Fields.readEnum(in, Line.Kind.class),
              in.readLong(),
              (int) Fields.readVarint(in),
              (int) Fields.readVarint(in),
              in.readUnsignedByte());
      if (line.depth() >= Line.DEPTHS) {
        throw new IOException("corrupt pyramid: a line of depth " + line.depth());
      }
      if (numbers.containsKey(line) || row(line) == null) {
        throw new IOException("corrupt pyramid: a line twice, or too many: " + line);
      }
    }
    return ofBlocks;
  }

  /**
   * The tiles in blocks of {@value #BLOCK_TILES} by their number.
   *
   * @param from number of a block: those before it are left out
   */
  SortedMap<Long, ByteOutput> blocks(long from) throws IOException {
    SortedMap<Long, ByteOutput> blocks = new TreeMap<>();
    for (int line = 0; line < rows.size(); line++) {
      rows.get(line).writeBlocks(line, shift, from, blocks);
    }
    return blocks;
  }

  /** Reads the rest of a block. */
  void readBlock(ByteInput in) throws IOException {
    while (in.remaining() > 0) {
      long what = Fields.readVarint(in);
      if (what < 0 || what >>> 1 >= rows.size()) {
        throw new IOException("corrupt pyramid: line %d of %d".formatted(what >>> 1, rows.size()));
      }
      rows.get((int) (what >>> 1)).readEntry((what & 1) != 0, shift, in);
      entries++;
      room.used++;
      room.take(this, 0);
    }
  }

  /**
   * Number of the first block that is another since this was called last, or the largest of all.
   */
  long takeChanged() {
    long first = changed;
    changed = Long.MAX_VALUE;
    return first;
  }

  /** Whether anything was put since this was called last. */
  boolean takeTouched() {
    boolean was = touched;
    touched = false;
    return was;
  }

  /** A copy with separate room, which grows independently. */
  public Pyramid copy() {
    Pyramid copy = new Pyramid(new Room(READ_MOST));
    copy.shift = shift;
    copy.lines.addAll(lines);
    copy.numbers.putAll(numbers);
    rows.forEach(row -> copy.rows.add(row.copy()));
    copy.entries = entries;
    copy.calls = calls;
    copy.leftOut = leftOut;
    copy.room.used = entries + (long) LINE_ENTRIES * lines.size();
    copy.room.take(copy, 0);
    return copy;
  }

  /** Bytes of the heap that it takes, more or less. */
  public long bytes() {
    return ENTRY_BYTES * (entries + (long) LINE_ENTRIES * lines.size());
  }

  /** Writes all of it. */
  public void writeTo(DataOutput out) throws IOException {
    writeHead(out);
    SortedMap<Long, ByteOutput> blocks = blocks(0);
    for (ByteOutput block : blocks.values()) {
      out.write(block.take());
    }
  }

  /** Reads what {@link #writeTo} wrote. */
  public static Pyramid readFrom(ByteInput in) throws IOException {
    Pyramid pyramid = new Pyramid(new Room(READ_MOST));
    long expected = pyramid.readHead(in);
    pyramid.readBlock(in);
    pyramid.readAll(expected);
    return pyramid;
  }

  /**
   * All blocks are read.
   *
   * @param expected entries that the head speaks of
   * @throws IOException where there are others, so that a block is missing or of another time
   */
  void readAll(long expected) throws IOException {
    if (entries != expected) {
      throw new IOException(
          "corrupt pyramid: %,d entries, its head says %,d".formatted(entries, expected));
    }
    changed = Long.MAX_VALUE;
  }

  /** The tiles as they are now; what is added later is in them too. */
  public Tiles tiles() {
    return new Tiles(shift, lines, rows, leftOut);
  }
}
