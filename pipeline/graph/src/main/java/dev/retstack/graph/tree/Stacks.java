package dev.retstack.graph.tree;

import it.unimi.dsi.fastutil.HashCommon;
import java.util.Arrays;

/**
 * What the calls of a core add up to by the stack in which they ran: a node for each function in
 * each stack of callers. Outermost stand nodes of tasks. Nodes are bounded: what is called below
 * the last one that is kept adds up in one node there, which is {@link #isLeftOut left out}.
 */
public final class Stacks {
  /** No node: a task stands in none. */
  public static final int NONE = -1;

  /** What a node is whose calls have no nodes of theirs. */
  private static final int LEFT_OUT = 100;

  private static final int CALL = TreeKind.CALL.code();
  private static final int FIRST_NODES = 64;

  // a node's row, a line of the cache: what a lookup needs, and what it adds to
  private static final int SHIFT = 3;
  private static final int VALUE = 0;

  /**
   * The node that it is in; in the lower half what it is: the code of a {@link TreeKind}, {@link
   * #LEFT_OUT}, or of a task minus its instance.
   */
  private static final int PARENT_KIND = 1;

  private static final int CALLS = 2;
  private static final int SELF = 3;

  /** The last node that was looked up below this one, plus 1. */
  private static final int LATEST = 4;

  private final int limit;
  private int size;
  private long[] rows = new long[FIRST_NODES << SHIFT];

  /** Nodes by what they are, one more than their number; a power of two long. */
  private int[] table = new int[4 * FIRST_NODES];

  /**
   * Begins without nodes.
   *
   * @param limit number of nodes that are kept separate
   */
  Stacks(int limit) {
    this.limit = limit;
  }

  /** A copy that can be changed. */
  Stacks copy() {
    Stacks copy = new Stacks(limit);
    copy.size = size;
    copy.rows = rows.clone();
    copy.table = table.clone();
    return copy;
  }

  int task(long id, int instance) {
    return node(both(NONE, -instance), id);
  }

  /** The node of a function, system call or other row in this one. */
  int below(int parent, TreeKind kind, long value) {
    return below(parent, kind.code(), value);
  }

  /** The node of a called function in this one. */
  int called(int parent, long selfPc) {
    return below(parent, CALL, selfPc);
  }

  private int below(int parent, int kind, long value) {
    long[] r = rows;
    int at = parent << SHIFT;
    if ((int) r[at + PARENT_KIND] == LEFT_OUT) {
      return parent;
    }
    long parentKind = both(parent, kind);
    int last = (int) r[at + LATEST] - 1;
    if (last >= 0 && is(r, last, parentKind, value)) {
      return last;
    }
    int node = node(parentKind, value);
    rows[at + LATEST] = node + 1L;
    return node;
  }

  private static long both(int parent, int kind) {
    return ((long) parent << 32) | (kind & 0xffff_ffffL);
  }

  private static boolean is(long[] rows, int node, long parentKind, long value) {
    int at = node << SHIFT;
    return rows[at + VALUE] == value && rows[at + PARENT_KIND] == parentKind;
  }

  private int node(long parentKind, long value) {
    int at = place(parentKind, value);
    if (table[at] > 0) {
      return table[at] - 1;
    }
    int parent = (int) (parentKind >> 32);
    if (size >= limit && (int) parentKind != LEFT_OUT && parent != NONE) {
      return node(both(parent, LEFT_OUT), 0);
    }
    if (size << SHIFT == rows.length) {
      grow();
      at = place(parentKind, value);
    }
    rows[(size << SHIFT) + VALUE] = value;
    rows[(size << SHIFT) + PARENT_KIND] = parentKind;
    table[at] = ++size;
    return size - 1;
  }

  private int place(long parentKind, long value) {
    int mask = table.length - 1;
    int at = (int) HashCommon.mix(value * 31 + parentKind) & mask;
    for (int found = table[at]; found > 0; found = table[at]) {
      if (is(rows, found - 1, parentKind, value)) {
        break;
      }
      at = (at + 1) & mask;
    }
    return at;
  }

  private void grow() {
    rows = Arrays.copyOf(rows, 2 * rows.length);
    table = new int[8 * size];
    for (int node = 0; node < size; node++) {
      table[place(get(node, PARENT_KIND), get(node, VALUE))] = node + 1;
    }
  }

  private long get(int node, int field) {
    return rows[(node << SHIFT) + field];
  }

  void add(int node, long more, long time) {
    int at = node << SHIFT;
    rows[at + CALLS] += more;
    rows[at + SELF] += time;
  }

  /** Nodes; each stands behind the one that it is in. */
  public int size() {
    return size;
  }

  /** The node that it is in, or {@link #NONE}. */
  public int parent(int node) {
    return (int) (get(node, PARENT_KIND) >> 32);
  }

  /** Instance of a task node, whose {@link #value} is the task's id; from 1. */
  public int instance(int node) {
    return -(int) get(node, PARENT_KIND);
  }

  /** Whether calls add up here that have no nodes of theirs. */
  public boolean isLeftOut(int node) {
    return (int) get(node, PARENT_KIND) == LEFT_OUT;
  }

  /** What it is, of one that is neither a task nor left out. */
  public TreeKind kind(int node) {
    return TreeKind.of((int) get(node, PARENT_KIND));
  }

  /** selfPc; number of a system call or interrupt; id of a task. */
  public long value(int node) {
    return get(node, VALUE);
  }

  /** Calls of the function in this stack. */
  public long calls(int node) {
    return get(node, CALLS);
  }

  /** Time that it ran itself. */
  public long self(int node) {
    return get(node, SELF);
  }
}
