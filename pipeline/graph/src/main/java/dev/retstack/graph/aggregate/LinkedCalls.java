package dev.retstack.graph.aggregate;

import dev.retstack.graph.reconstruct.Ending;
import dev.retstack.schema.codec.RecordBatch;
import java.util.Arrays;

/**
 * Adds up the calls of a run of {@linkplain RecordBatch#links linked} records, which are nearly all
 * of a batch. Of such a call nothing needs to be looked up or compared: the link of an entry leads
 * to its arc, that of an exit to its entry. What comes out is the same as call by call.
 *
 * <p>Frames that open and close within the run live here, eight words to the row, and nowhere else.
 * One instance serves all cores of a state, since it keeps nothing from run to run.
 */
final class LinkedCalls {
  private static final int SITE_MASK = (1 << RecordBatch.LINK_SITE_BITS) - 1;

  // a row of frames; row 0 is the call that encloses the run
  private static final int ENTER = 0;
  private static final int CHILDREN = 1;

  /** Arc in the upper half, function in the lower. */
  private static final int ARC_FUNCTION = 2;

  private static final int SELF_PC = 3;

  /** Index of the entry in the batch. */
  private static final int ENTRY = 4;

  /** Its number in the tree, or {@link CallTreeLog#NONE}. */
  private static final int TREE_CALL = 5;

  private static final int FRAME_SHIFT = 3;
  private static final int FRAME = 1 << FRAME_SHIFT;

  // a row of known, by site: for whom it holds, and what it says
  private static final int LINK_CALLER = 0;
  private static final int KNOWN_ARC_FUNCTION = 1;
  private static final int KNOWN_SHIFT = 1;

  /** No tag: those are not negative. */
  private static final long NOTHING = Long.MIN_VALUE;

  private long[] frames = new long[64 << FRAME_SHIFT];

  /** The arc taken last from each site of the batch. */
  private final long[] known = new long[(SITE_MASK + 1) << KNOWN_SHIFT];

  /** Rows of {@link #known} that hold something. */
  private final int[] used = new int[SITE_MASK + 1];

  private int usedCount;
  private int top;

  LinkedCalls() {
    Arrays.fill(known, NOTHING);
  }

  /** Forgets the batch before. */
  void begin() {
    for (int i = 0; i < usedCount; i++) {
      known[used[i] + LINK_CALLER] = NOTHING;
    }
    usedCount = 0;
  }

  /**
   * Takes records from {@code first} on, which is a linked entry, as long as they are linked to
   * each other and their arcs are known.
   *
   * @param parent slot of the call that encloses them, or none
   * @param from no record may be earlier
   * @param room frames that the stack may hold above the parent
   * @return index of the first record not taken
   */
  int run(CoreGraph core, RecordBatch batch, int first, int parent, long from, int room) {
    final byte[] kinds = batch.kind;
    final long[] times = batch.time;
    final int[] links = batch.links();
    final long[] known = this.known;
    final CallProfile profile = core.profile();
    final long[] totals = profile.arcs().rows();
    final long[] functionTotals = profile.totals();
    final OpenCounts open = core.openCounts();
    final GraphEvents events = core.events();
    final boolean wanted = events != null;
    final long threshold = wanted ? events.threshold() : 0;
    final int level = parent < 0 ? -1 : core.calls().level(parent);
    final CallTreeLog tree = core.tree();
    final int size = batch.size();
    final int roof = (int) Math.min((long) room << FRAME_SHIFT, Integer.MAX_VALUE);
    int[] arcOpen = open.arcs();
    int[] functionOpen = open.functions();
    long[] f = frames;
    f[CHILDREN] = 0;
    f[ARC_FUNCTION] = parent < 0 ? CallProfile.NO_CALLER : core.calls().function(parent);
    f[SELF_PC] = parent < 0 ? 0 : core.calls().selfPc(parent);
    f[ENTRY] = RecordBatch.UNLINKED;
    f[TREE_CALL] = parent < 0 ? CallTreeLog.NONE : core.calls().treeCall(parent);
    boolean grows = !tree.isFull();
    long digest = core.digest();
    long now = from;
    int at = 0;
    int i = first;
    for (; i < size; i++) {
      int link = links[i];
      long time = times[i];
      if (link < 0 || time < now) {
        break;
      }
      if (kinds[i] == RecordBatch.ENTRY) {
        int caller = (int) f[at + ARC_FUNCTION];
        int place = (link & SITE_MASK) << KNOWN_SHIFT;
        if (known[place + LINK_CALLER] != tag(link, caller)) {
          if (!look(core, place, link, caller, batch.selfPc[i], batch.fromPc[i])) {
            break;
          }
          arcOpen = open.arcs();
          functionOpen = open.functions();
        }
        if (at == roof) {
          break;
        }
        long arcFunction = known[place + KNOWN_ARC_FUNCTION];
        int arc = (int) (arcFunction >>> 32);
        totals[(arc << CallTotals.ROW_SHIFT) + CallTotals.CALLS]++;
        arcOpen[arc]++;
        functionOpen[(int) arcFunction]++;
        long call = CallTreeLog.NONE;
        if (grows) {
          call = tree.enter(batch.selfPc[i], (int) f[at + TREE_CALL], time);
          grows = !tree.isFull();
        }
        at += FRAME;
        if (at == f.length) {
          f = Arrays.copyOf(f, 2 * at);
          frames = f;
        }
        f[at + TREE_CALL] = call;
        f[at + ENTER] = time;
        f[at + CHILDREN] = 0;
        f[at + ARC_FUNCTION] = arcFunction;
        f[at + SELF_PC] = batch.selfPc[i];
        f[at + ENTRY] = i;
      } else {
        if (f[at + ENTRY] != link) {
          break;
        }
        long enter = f[at + ENTER];
        long duration = time - enter;
        long self = duration - f[at + CHILDREN];
        long arcFunction = f[at + ARC_FUNCTION];
        int arc = (int) (arcFunction >>> 32);
        int function = (int) arcFunction;
        boolean outermostOfArc = --arcOpen[arc] == 0;
        CallTotals.finished(totals, arc, duration, self, outermostOfArc);
        if (--functionOpen[function] == 0) {
          functionTotals[function] = CallTotals.sum(functionTotals[function], duration);
        }
        if (f[at + TREE_CALL] >= 0) {
          tree.finish((int) f[at + TREE_CALL], time, Ending.RETURNED);
        }
        int above = level + (at >> FRAME_SHIFT);
        digest = CoreGraph.mix(digest, f[at + SELF_PC], enter, time, above, Ending.RETURNED);
        if (wanted && duration >= threshold) {
          core.publish(
              f[at + SELF_PC], f[at - FRAME + SELF_PC], above, enter, time, self, Ending.RETURNED);
        }
        at -= FRAME;
        f[at + CHILDREN] += duration;
      }
      now = time;
    }
    core.setDigest(digest);
    top = at;
    return i;
  }

  private static long tag(int link, int caller) {
    return ((long) link << 32) | (caller & 0xffff_ffffL);
  }

  /** Finds the arc of an entry; false where it has none yet or the entry is not a plain call. */
  private boolean look(CoreGraph core, int place, int link, int caller, long selfPc, long fromPc) {
    int arc = core.profile().arc(caller, selfPc);
    if (arc < 0 || core.image().traits().isHandler(fromPc)) {
      return false;
    }
    int function = core.profile().arcs().callee(arc);
    core.openCounts().ensure(arc, function);
    if (known[place + LINK_CALLER] == NOTHING) {
      used[usedCount++] = place;
    }
    known[place + LINK_CALLER] = tag(link, caller);
    known[place + KNOWN_ARC_FUNCTION] = (long) arc << 32 | function;
    return true;
  }

  /** Frames that the run left open. */
  int frames() {
    return top >> FRAME_SHIFT;
  }

  /** Index of the entry in the batch that opened a frame, from 0, the outermost, on. */
  int entry(int frame) {
    return (int) f(frame, ENTRY);
  }

  /** Time of the finished calls right below the call that encloses the run. */
  long childrenOfParent() {
    return frames[CHILDREN];
  }

  /** Hands the frames that the run left open over, to the slots above {@code parent}. */
  void handOver(OpenCalls calls, int parent) {
    int level = parent < 0 ? 0 : calls.level(parent) + 1;
    long callerPc = frames[SELF_PC];
    for (int frame = 0; frame < frames(); frame++) {
      long arcFunction = f(frame, ARC_FUNCTION);
      int slot = parent + 1 + frame;
      calls.enter(
          slot,
          f(frame, SELF_PC),
          callerPc,
          f(frame, ENTER),
          (int) (arcFunction >>> 32),
          (int) arcFunction,
          level + frame,
          (int) f(frame, TREE_CALL));
      calls.addChild(slot, f(frame, CHILDREN));
      callerPc = f(frame, SELF_PC);
    }
  }

  private long f(int frame, int word) {
    return frames[((frame + 1) << FRAME_SHIFT) + word];
  }
}
