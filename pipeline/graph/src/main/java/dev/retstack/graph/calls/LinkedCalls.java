package dev.retstack.graph.calls;

import dev.retstack.graph.limits.Saturating;
import dev.retstack.graph.pyramid.Pyramid;
import dev.retstack.graph.totals.CallDigest;
import dev.retstack.graph.totals.CallProfile;
import dev.retstack.graph.totals.CallTotals;
import dev.retstack.graph.totals.OpenCounts;
import dev.retstack.graph.tree.CallTreeLog;
import dev.retstack.graph.tree.Ending;
import dev.retstack.schema.record.RecordBatch;
import it.unimi.dsi.fastutil.ints.IntArrays;
import java.util.Arrays;

/**
 * Adds up the calls of a run of {@linkplain RecordBatch#links linked} records. Nearly all records
 * of a batch are linked. Nothing of such a call is compared or looked up: the link of an entry
 * leads to its arc, and the link of an exit says that it ends the innermost frame. The result is
 * the same as call by call.
 *
 * <p>Frames that open and close within the run exist only here. One instance serves all cores of a
 * state, because it keeps nothing between runs.
 */
public final class LinkedCalls {
  private static final int SITE_MASK = (1 << RecordBatch.LINK_SITE_BITS) - 1;

  // One table, so that the loop has one array less: first a row per site, then one per frame. A row
  // of a site holds the arc taken last from there: its link, caller, number and selfPc.
  private static final int SITE_SHIFT = 2;
  private static final int LINK_CALLER = 0;
  private static final int FRAMES = (SITE_MASK + 1) << SITE_SHIFT;

  // a frame's row, a line of the cache; the first one is that of the call that encloses the run
  private static final int ROW_SHIFT = 3;
  private static final int ROW = 1 << ROW_SHIFT;
  private static final int ENTER = 0;
  private static final int CHILDREN = 1;

  // of both: arc in the upper half and function in the lower; selfPc
  private static final int ARC_FUNCTION = 2;
  private static final int SELF_PC = 3;

  // of the calls at this height that began and ended in the tile: how many, their time, one more
  // than the duration of the longest, and at which record that ended
  private static final int TILE_CALLS = 4;
  private static final int TILE_BUSY = 5;
  private static final int TILE_LONGEST = 6;
  private static final int TILE_LONGEST_AT = 7;

  /** No key of a site: those are not negative. */
  private static final long NOTHING = Long.MIN_VALUE;

  private long[] table = new long[FRAMES + (64 << ROW_SHIFT)];

  /** Rows of sites that hold something. */
  private final int[] used = new int[SITE_MASK + 1];

  private int usedCount;

  /** Row of the innermost frame. */
  private int top;

  /** Level of the call that encloses the run. */
  private int level;

  /** A call of this duration is not taken: somebody wants to hear of it. */
  private long threshold;

  /** Row of the highest frame that the stack has room for. */
  private int roof;

  /** Row of the highest frame for which the stack took room. */
  private int taken;

  private long digest;

  /** Where calls are placed; null where they are not. */
  private Pyramid pyramid;

  /** First and last time of the tile in which the records are. */
  private long tileStart;

  private long tileLast;

  /** The highest row with calls in the tile. */
  private int high;

  /** Records that ended calls which had begun before the tile. */
  private int[] across = {};

  private int acrossCount;

  public LinkedCalls() {
    for (int site = 0; site <= SITE_MASK; site++) {
      table[(site << SITE_SHIFT) + LINK_CALLER] = NOTHING;
    }
  }

  /** Forgets the batch before. */
  void begin() {
    for (int i = 0; i < usedCount; i++) {
      table[used[i] + LINK_CALLER] = NOTHING;
    }
    usedCount = 0;
  }

  /**
   * Takes records from {@code first} on, which is a linked entry, as long as they are linked to
   * each other, their arcs are kept, and nobody wants to hear of the single call.
   *
   * @param stack whose topmost frame, or none, encloses them
   * @param room frames that it may hold above that one
   * @return index of the first record not taken
   */
  int run(CoreGraph core, ShadowStack stack, RecordBatch batch, int first, int room) {
    Frames calls = stack.frames;
    int parent = calls.size() - 1;
    level = parent < 0 ? -1 : calls.level(parent);
    threshold = core.events() == null ? Long.MAX_VALUE : core.events().threshold();
    digest = core.digest();
    table[FRAMES + CHILDREN] = 0;
    table[FRAMES + ARC_FUNCTION] = parent < 0 ? CallProfile.NO_CALLER : calls.function(parent);
    table[FRAMES + SELF_PC] = parent < 0 ? 0 : calls.selfPc(parent);
    top = FRAMES;
    roof = (int) Math.min(FRAMES + ((long) room << ROW_SHIFT), Integer.MAX_VALUE);
    taken = FRAMES + (calls.spare() << ROW_SHIFT);
    high = FRAMES;
    pyramid = core.pyramid();
    if (pyramid != null) {
      TracedTask task = stack.task();
      pyramid.turnTo(task.id(), task.instance(), stack.interrupts());
    }
    beginTile(batch.time[first]);
    int i = first;
    while (true) {
      i = take(core, batch, i);
      if (i < batch.size() && batch.time[i] > tileLast) {
        placeCalls(batch, batch.depth[first]);
        beginTile(batch.time[i]);
        continue;
      }
      if (i == batch.size() || batch.links()[i] < 0 || batch.kind[i] != RecordBatch.ENTRY) {
        break;
      }
      if (top >= roof) {
        break;
      }
      if (top >= taken) { // as if the frame were pushed
        calls.grow();
        taken = FRAMES + (calls.spare() << ROW_SHIFT);
      }
      if (top + ROW >= table.length) {
        table = Arrays.copyOf(table, FRAMES + 2 * (table.length - FRAMES));
      }
      if (!look(core, batch, i)) {
        break;
      }
    }
    placeCalls(batch, batch.depth[first]);
    pyramid = null;
    core.setDigest(digest);
    return i;
  }

  private void beginTile(long time) {
    tileStart = Long.MAX_VALUE;
    tileLast = Long.MAX_VALUE;
    if (pyramid != null) {
      tileStart = time & -pyramid.tileLength();
      tileLast = tileStart + pyramid.tileLength() - 1;
      across = IntArrays.ensureCapacity(across, frames(), 0);
    }
  }

  /**
   * Places the calls that ended in the tile.
   *
   * @param depth of the lowest frame
   */
  private void placeCalls(RecordBatch batch, int depth) {
    int[] links = batch.links();
    for (int i = 0; i < acrossCount; i++) {
      int exit = across[i];
      long enter = batch.time[links[exit]];
      pyramid.call(batch.depth[exit], batch.selfPc[exit], enter, batch.time[exit]);
    }
    acrossCount = 0;
    for (int row = FRAMES + ROW; row <= high; row += ROW) {
      long count = table[row + TILE_CALLS];
      if (count > 0) {
        int exit = (int) table[row + TILE_LONGEST_AT];
        pyramid.calls(
            depth + ((row - FRAMES - ROW) >> ROW_SHIFT),
            count,
            table[row + TILE_BUSY],
            batch.selfPc[exit],
            batch.time[links[exit]],
            batch.time[exit]);
        Arrays.fill(table, row + TILE_CALLS, row + ROW, 0);
      }
    }
    high = FRAMES;
  }

  /**
   * The loop. It calls nothing, so that what changes in it stays in registers.
   *
   * @return index of the first record that it cannot take: the arc of an entry may have to be
   *     looked up, or there is no room for its frame
   */
  private int take(CoreGraph core, RecordBatch batch, int from) {
    final byte[] kinds = batch.kind;
    final long[] times = batch.time;
    final int[] links = batch.links();
    final long[] rows = core.profile().arcs().rows();
    final long[] totals = core.profile().totals();
    final int[] open = core.openCounts().counts();
    final long[] t = table;
    final int size = batch.size();
    final int last = Math.min(t.length - ROW, Math.min(roof, taken));
    final int base = level - (FRAMES >> ROW_SHIFT);
    final long tooLong = threshold;
    final int returned = Ending.RETURNED.code();
    final boolean placed = pyramid != null;
    final long start = tileStart;
    final long lastTime = tileLast;
    final int[] before = across;
    int beforeCount = acrossCount;
    int highest = high;
    long sum = digest;
    int at = top;
    int i = from;
    for (; i < size; i++) {
      int link = links[i];
      long time = times[i];
      if (link < 0 || time < times[i - 1] || time > lastTime) {
        break;
      }
      if (kinds[i] == RecordBatch.ENTRY) {
        int site = (link & SITE_MASK) << SITE_SHIFT;
        if (t[site + LINK_CALLER] != key(link, (int) t[at + ARC_FUNCTION]) || at >= last) {
          break;
        }
        long arcFunction = t[site + ARC_FUNCTION];
        long selfPc = t[site + SELF_PC];
        int arc = (int) (arcFunction >>> 32);
        rows[(arc << CallTotals.ROW_SHIFT) + CallTotals.CALLS]++;
        open[OpenCounts.ofArc(arc)]++;
        open[OpenCounts.ofFunction((int) arcFunction)]++;
        at += ROW;
        t[at + ENTER] = time;
        t[at + CHILDREN] = 0;
        t[at + ARC_FUNCTION] = arcFunction;
        t[at + SELF_PC] = selfPc;
      } else {
        long enter = t[at + ENTER];
        long duration = time - enter;
        if (at == FRAMES || duration >= tooLong) {
          break;
        }
        long arcFunction = t[at + ARC_FUNCTION];
        int function = (int) arcFunction;
        int arc = (int) (arcFunction >>> 32);
        boolean outermostOfArc = --open[OpenCounts.ofArc(arc)] == 0;
        CallTotals.finished(rows, arc, duration, duration - t[at + CHILDREN], outermostOfArc);
        if (--open[OpenCounts.ofFunction(function)] == 0) {
          totals[function] = Saturating.sum(totals[function], duration);
        }
        int above = base + (at >> ROW_SHIFT);
        sum = CallDigest.add(sum, t[at + SELF_PC], enter, time, above, returned);
        if (placed) {
          if (enter < start) {
            before[beforeCount++] = i;
          } else {
            t[at + TILE_CALLS]++;
            t[at + TILE_BUSY] += duration;
            highest = Math.max(highest, at);
            if (duration >= t[at + TILE_LONGEST]) {
              t[at + TILE_LONGEST] = duration + 1;
              t[at + TILE_LONGEST_AT] = i;
            }
          }
        }
        at -= ROW;
        t[at + CHILDREN] += duration;
      }
    }
    digest = sum;
    top = at;
    high = highest;
    acrossCount = beforeCount;
    return i;
  }

  private static long key(int link, int caller) {
    return ((long) link << 32) | (caller & 0xffff_ffffL);
  }

  /** Finds or makes the arc of an entry; false where that is not kept or the call not plain. */
  private boolean look(CoreGraph core, RecordBatch batch, int i) {
    CallProfile profile = core.profile();
    long selfPc = batch.selfPc[i];
    int caller = (int) table[top + ARC_FUNCTION];
    int row = (batch.links()[i] & SITE_MASK) << SITE_SHIFT;
    long key = key(batch.links()[i], caller);
    if (batch.time[i] < batch.time[i - 1] || core.image().traits().isHandler(batch.fromPc[i])) {
      return false;
    }
    int arc = profile.arc(caller, selfPc);
    if (arc < 0) {
      int function = profile.function(selfPc);
      arc = function < 0 ? CallProfile.NOT_KEPT : profile.newArc(caller, function);
      if (arc < 0) {
        return false;
      }
    }
    int function = profile.arcs().callee(arc);
    core.openCounts().ensure(arc, function);
    if (table[row + LINK_CALLER] == NOTHING) {
      used[usedCount++] = row;
    }
    table[row + LINK_CALLER] = key;
    table[row + ARC_FUNCTION] = ((long) arc << 32) | function;
    table[row + SELF_PC] = selfPc;
    return true;
  }

  /** Frames that the run left open. */
  int frames() {
    return (top - FRAMES) >> ROW_SHIFT;
  }

  /**
   * Hands the frames that the run left open over to the stack.
   *
   * @param end index behind the last record of the run
   */
  void handOver(ShadowStack stack, RecordBatch batch, int end) {
    Frames calls = stack.frames;
    int parent = calls.size() - 1;
    int count = frames();
    if (parent >= 0) {
      calls.addChild(parent, table[FRAMES + CHILDREN]);
    }
    calls.extend(count);
    int i = end - 1;
    for (int frame = count; frame > 0; i--) {
      if (batch.kind[i] != RecordBatch.ENTRY) {
        i = batch.links()[i]; // what it called is closed too
        continue;
      }
      int at = FRAMES + (frame << ROW_SHIFT);
      int slot = parent + frame;
      long enter = table[at + ENTER];
      calls.set(
          slot,
          batch.depth[i],
          slot - 1,
          table[at + SELF_PC],
          batch.fromPc[i],
          batch.retP[i],
          batch.fp[i]);
      calls.begin(
          slot,
          table[at - ROW + SELF_PC],
          enter,
          (int) (table[at + ARC_FUNCTION] >>> 32),
          (int) table[at + ARC_FUNCTION],
          level + frame,
          CallTreeLog.NONE,
          enter - stack.notRun(),
          stack.leftOut());
      calls.addChild(slot, table[at + CHILDREN]);
      frame--;
    }
  }
}
