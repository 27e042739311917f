package dev.retstack.graph.tree;

import dev.retstack.schema.record.RecordBatch;
import it.unimi.dsi.fastutil.ints.IntArrays;
import it.unimi.dsi.fastutil.longs.LongArrays;
import java.util.Arrays;
import java.util.BitSet;

/**
 * Adds up the rows of a call tree by their stacks, and takes those rows out of the tree that will
 * not change. So all calls of a core pass through a tree that stays small. The rules are those of
 * folded stacks:
 *
 * <ul>
 *   <li>Time is self time: what a row ran without the rows in it. An interrupt is not time of the
 *       call that it stands in.
 *   <li>A call that a loss cut off has no time; its callees keep theirs.
 *   <li>What ran behind a loss is unknown: a node without calls has that time.
 *   <li>A function whose return is not seen is a call without time.
 * </ul>
 */
public final class StackFold {
  /** Rows that gather in the tree are at most such a part of the nodes. */
  private static final int ROWS_PART = 32;

  private final CallTreeLog tree;
  private final Stacks stacks;

  /** By row that is left in the tree: how long the rows ran that were in it. */
  private long[] below = {};

  /** By row that is left in the tree: one more than its node, once a run stood in it. */
  private int[] known = {};

  /** Rows from one outwards, while their nodes are looked up. */
  private int[] path = {};

  /** By row: its node, while rows are added up. */
  private int[] nodes = {};

  // the frames of a run: node, time of the entry, time of the calls in it; the first one encloses
  // it
  private int[] runNodes = new int[64];
  private long[] runEnters = new long[64];
  private long[] runBelow = new long[64];

  private final int most;
  private int due;

  /**
   * Begins with no rows added up.
   *
   * @param nodes number of nodes that are kept separate
   */
  public StackFold(CallTreeLog tree, int nodes) {
    this.tree = tree;
    this.stacks = new Stacks(nodes);
    this.most = nodes / ROWS_PART;
    this.due = most;
  }

  /** How rows that are open ended, if they did so now. */
  public interface Ends {
    /** How long it ran. */
    long ran(int row);

    /** Whether a loss cut it off. */
    boolean isCut(int row);
  }

  /** Whether the tree has become so large that rows should be taken out. */
  public boolean isDue() {
    return tree.size() >= due;
  }

  /**
   * Takes out of the tree what will not change.
   *
   * @param held rows that may change
   * @param unplaced those of them of which it is not known yet in which row they stand
   * @return the new number of each row that is left
   */
  public int[] fold(BitSet held, BitSet unplaced) {
    TreeColumns rows = tree.columns();
    int size = rows.size();
    BitSet stay = new BitSet(size);
    stay.or(held);
    BitSet open = new BitSet(size);
    open.or(unplaced);
    for (int row = 0; row < size && !open.isEmpty(); row++) {
      if (rows.parent(row) >= 0 && open.get(rows.parent(row))) {
        open.set(row);
      }
    }
    stay.or(open);
    for (int row = size - 1; row >= 0; row--) {
      if (stay.get(row) && rows.parent(row) >= 0) {
        stay.set(rows.parent(row));
      }
    }
    below = LongArrays.grow(below, size);
    known = IntArrays.grow(known, size);
    addUp(rows, stacks, below, stay, open, null);
    int[] numbers = new int[size];
    int left = 0;
    for (int row = 0; row < size; row++) {
      numbers[row] = stay.get(row) ? left : CallTreeLog.NONE;
      if (stay.get(row)) {
        below[left] = below[row];
        known[left++] = known[row];
      }
    }
    Arrays.fill(below, left, below.length, 0);
    Arrays.fill(known, left, known.length, 0);
    tree.keepOnly(numbers, left);
    due = most + 2 * left;
    return numbers;
  }

  /** What all rows add up to that there were, as if those that are open ended now. */
  public Stacks stacks(Ends ends) {
    TreeColumns rows = tree.columns();
    Stacks all = stacks.copy();
    long[] times = Arrays.copyOf(below, Math.max(below.length, rows.size()));
    addUp(rows, all, times, new BitSet(), new BitSet(), ends);
    return all;
  }

  /**
   * The node in which runs stand that a row encloses, or a task where that is none. {@link
   * Stacks#NONE} where losses are around it: they may turn out to have happened elsewhere.
   */
  public int around(int row, long task, int instance) {
    if (row < 0) {
      return stacks.task(task, instance);
    }
    TreeColumns rows = tree.columns();
    known = IntArrays.grow(known, rows.size());
    nodes = IntArrays.grow(nodes, rows.size());
    int first = row;
    int length = 0;
    for (int at = row; at >= 0 && known[at] == 0; at = rows.parent(at)) {
      if (rows.kind(at) == TreeKind.LOSS) {
        return Stacks.NONE;
      }
      path = IntArrays.grow(path, length + 1);
      path[length++] = at;
      first = rows.parent(at);
    }
    if (first >= 0) {
      nodes[first] = known[first] - 1;
    }
    while (length > 0) {
      int at = path[--length];
      nodes[at] = node(rows, at, stacks);
      known[at] = nodes[at] + 1;
    }
    return known[row] - 1;
  }

  /**
   * Adds up the calls of a run of {@linkplain RecordBatch#links linked} records that ended in it.
   *
   * @param row that encloses it, or none
   * @param node in which it stands
   * @param end behind the last record of the run
   */
  public void run(RecordBatch batch, int first, int end, int row, int node) {
    final byte[] kinds = batch.kind;
    final long[] times = batch.time;
    final long[] selfPcs = batch.selfPc;
    int[] in = runNodes;
    long[] since = runEnters;
    long[] ranBelow = runBelow;
    int at = 0;
    int now = node;
    in[0] = node;
    ranBelow[0] = 0;
    for (int i = first; i < end; i++) {
      if (kinds[i] == RecordBatch.ENTRY) {
        if (++at == in.length) {
          in = runNodes = Arrays.copyOf(in, 2 * at);
          since = runEnters = Arrays.copyOf(since, 2 * at);
          ranBelow = runBelow = Arrays.copyOf(ranBelow, 2 * at);
        }
        now = stacks.called(now, selfPcs[i]);
        in[at] = now;
        since[at] = times[i];
        ranBelow[at] = 0;
      } else {
        long ran = times[i] - since[at];
        stacks.add(now, 1, ran - ranBelow[at]);
        now = in[--at];
        ranBelow[at] += ran;
      }
    }
    ranIn(row, runBelow[0]);
  }

  /** Calls that have no rows ran so long in this row, or in none. */
  public void ranIn(int row, long time) {
    if (row >= 0) {
      below = LongArrays.grow(below, row + 1);
      below[row] += time;
    }
  }

  private void addUp(
      TreeColumns rows, Stacks into, long[] times, BitSet stay, BitSet open, Ends ends) {
    int size = rows.size();
    nodes = IntArrays.grow(nodes, size);
    for (int row = 0; row < size; row++) {
      nodes[row] = open.get(row) ? Stacks.NONE : node(rows, row, into);
    }
    for (int row = size - 1; row >= 0; row--) {
      TreeKind kind = rows.kind(row);
      if (stay.get(row) || kind == TreeKind.MARK || kind == TreeKind.SWITCH) {
        continue;
      }
      boolean isOpen = rows.ending(row) == Ending.OPEN && ends != null;
      long ran = isOpen ? ends.ran(row) : rows.exit(row) - rows.enter(row) - rows.notRun(row);
      boolean isCut = isOpen ? ends.isCut(row) : rows.ending(row) == Ending.TRUNCATED;
      boolean isCall = kind != TreeKind.LOSS;
      boolean hasTime = kind != TreeKind.FUNCTION && !isCut;
      into.add(nodes[row], isCall ? 1 : 0, hasTime ? Math.max(0, ran - times[row]) : 0);
      int parent = rows.parent(row);
      if (parent >= 0 && kind != TreeKind.INTERRUPT && kind != TreeKind.FUNCTION) {
        times[parent] += ran;
      }
    }
  }

  /** The node of a row; that of the row around it, if it is none that runs. */
  private int node(TreeColumns rows, int row, Stacks into) {
    int parent = rows.parent(row);
    int around = parent < 0 ? into.task(rows.task(row), rows.instance(row)) : nodes[parent];
    return switch (rows.kind(row)) {
      case MARK, SWITCH -> around;
      case LOSS -> into.below(around, TreeKind.LOSS, 0);
      case CALL, FUNCTION -> into.below(around, TreeKind.CALL, rows.selfPc(row));
      case SYSTEM_CALL, INTERRUPT -> into.below(around, rows.kind(row), rows.selfPc(row));
    };
  }
}
