package dev.retstack.graph.pyramid;

import dev.retstack.schema.record.RecordBatch;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The finest tiles of a core, filled while its calls are rebuilt. How long they are is found on the
 * way: where there are more than one entry for {@value #CALLS_PER_ENTRY} calls, or no room is left,
 * tiles become twice as long. So a tile of a core that is busy holds some thousand records. All
 * coarser levels are made of these when they are asked for.
 */
public final class Pyramid {
  /** As many calls as give one entry. */
  static final int CALLS_PER_ENTRY = 512;

  /** So many entries it may have in any case. */
  static final int ENTRIES_MIN = 1024;

  /** What a line costs, in entries. */
  private static final int LINE_ENTRIES = 16;

  /** Times are not negative, so that all of them are in two tiles. */
  static final int SHIFT_MAX = 62;

  private final Room room;
  private final boolean thin;
  private final List<Line> lines = new ArrayList<>();
  private List<TileRow> rows = new ArrayList<>();
  private final Map<Line, Integer> numbers = new HashMap<>();
  private int shift;
  private long entries;
  private long calls;
  private long leftOut;

  /** The track that was last told of, and its rows by depth; null where there is none. */
  private long task;

  private int instance = -1;
  private int interrupts;
  private TileRow[] track = new TileRow[Line.DEPTHS];

  /**
   * Room for the pyramids of several cores. Where it is full, that with most entries gets tiles of
   * twice the length.
   */
  public static final class Room {
    private final long most;
    private final List<Pyramid> all = new ArrayList<>();
    private long used;

    /**
     * @param most entries of all, each of some 50 bytes; a line counts as {@value #LINE_ENTRIES}
     */
    public Room(long most) {
      this.most = most;
    }

    private boolean take(long more) {
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

  /** A pyramid with tiles of {@code 1 << shift}, as long as there is room for so many. */
  public static Pyramid of(Room room, int shift) {
    return new Pyramid(room, shift, false);
  }

  private Pyramid(Room room, int shift, boolean thin) {
    this.room = room;
    this.shift = shift;
    this.thin = thin;
    room.all.add(this);
  }

  /** A call ended; {@code depth} is that of its frame, the others are as in {@link Line}. */
  public void call(
      long ofTask, int ofInstance, int open, int depth, long selfPc, long enter, long exit) {
    calls++;
    turnTo(ofTask, ofInstance, open);
    TileRow row = row(depth);
    if (row == null) {
      leftOut++;
      return;
    }
    add(row, 1, selfPc, enter, exit);
  }

  /**
   * A run of {@linkplain RecordBatch#links linked} records was taken: each exit in it is of an
   * entry in it.
   */
  public void linked(long ofTask, int ofInstance, int open, RecordBatch batch, int first, int end) {
    turnTo(ofTask, ofInstance, open);
    final byte[] kinds = batch.kind;
    final int[] links = batch.links();
    final int[] depths = batch.depth;
    final long[] times = batch.time;
    final long[] selfPcs = batch.selfPc;
    for (int i = first; i < end; i++) {
      if (kinds[i] != RecordBatch.EXIT) {
        continue;
      }
      calls++;
      TileRow row = row(depths[i]);
      if (row == null) {
        leftOut++;
        continue;
      }
      add(row, 1, selfPcs[i], times[links[i]], times[i]);
    }
  }

  /** Records are missing. */
  public void lost(long records, long since, long until) {
    point(Line.LOSSES, records, 0, since, until);
  }

  /** Something was found. */
  public void anomaly(long selfPc, long time) {
    point(Line.ANOMALIES, 1, selfPc, time, time);
  }

  private void point(Line line, long count, long selfPc, long from, long to) {
    TileRow row = row(line);
    if (row != null) {
      add(row, count, selfPc, from, to);
      instance = -1; // the tiles may have become longer
    }
  }

  private void add(TileRow row, long count, long selfPc, long from, long to) {
    int before = row.entries();
    long begin = Math.max(0, from);
    row.add(shift, count, selfPc, begin, Math.max(begin, to));
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
      room.take(0);
    }
  }

  private void turnTo(long ofTask, int ofInstance, int open) {
    if (task != ofTask || instance != ofInstance || interrupts != open) {
      task = ofTask;
      instance = ofInstance;
      interrupts = open;
      track = new TileRow[Line.DEPTHS];
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
      if (!room.take(LINE_ENTRIES)) {
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
  private void thinOut() {
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
  }

  /** The tiles as they are now; what is added later is in them too. */
  public Tiles tiles() {
    return new Tiles(shift, lines, rows, leftOut);
  }
}
