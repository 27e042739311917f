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

  private static final int FIRST_NODES = 64;

  private final int limit;
  private int size;
  private int[] parents = new int[FIRST_NODES];

  /** Code of a {@link TreeKind}, {@link #LEFT_OUT}, or of a task minus its instance. */
  private int[] kinds = new int[FIRST_NODES];

  private long[] values = new long[FIRST_NODES];
  private long[] calls = new long[FIRST_NODES];
  private long[] self = new long[FIRST_NODES];

  /** By node: one more than the one in it that was asked for last. */
  private int[] latest = new int[FIRST_NODES];

  /** Nodes by what they are, one more than their number; a power of two long. */
  private int[] table = new int[4 * FIRST_NODES];

  /**
   * No nodes.
   *
   * @param limit nodes that are told apart
   */
  Stacks(int limit) {
    this.limit = limit;
  }

  /** The same, to be changed. */
  Stacks copy() {
    Stacks copy = new Stacks(limit);
    copy.size = size;
    copy.parents = parents.clone();
    copy.kinds = kinds.clone();
    copy.values = values.clone();
    copy.calls = calls.clone();
    copy.self = self.clone();
    copy.latest = latest.clone();
    copy.table = table.clone();
    return copy;
  }

  int task(long id, int instance) {
    return node(NONE, -instance, id);
  }

  /** The node of a function, system call or other row in this one. */
  int below(int parent, TreeKind kind, long value) {
    if (kinds[parent] == LEFT_OUT) {
      return parent;
    }
    int last = latest[parent] - 1;
    if (last >= 0 && values[last] == value && kinds[last] == kind.code()) {
      return last;
    }
    int node = node(parent, kind.code(), value);
    latest[parent] = node + 1;
    return node;
  }

  private int node(int parent, int kind, long value) {
    int at = place(parent, kind, value);
    if (table[at] > 0) {
      return table[at] - 1;
    }
    if (size >= limit && kind != LEFT_OUT && parent != NONE) {
      return node(parent, LEFT_OUT, 0);
    }
    if (size == parents.length) {
      grow();
      at = place(parent, kind, value);
    }
    parents[size] = parent;
    kinds[size] = kind;
    values[size] = value;
    table[at] = ++size;
    return size - 1;
  }

  private int place(int parent, int kind, long value) {
    int mask = table.length - 1;
    int at = (int) HashCommon.mix(value * 31 + kind + ((long) parent << 20)) & mask;
    for (int found = table[at]; found > 0; found = table[at]) {
      int node = found - 1;
      if (values[node] == value && parents[node] == parent && kinds[node] == kind) {
        break;
      }
      at = (at + 1) & mask;
    }
    return at;
  }

  private void grow() {
    int room = 2 * size;
    parents = Arrays.copyOf(parents, room);
    kinds = Arrays.copyOf(kinds, room);
    values = Arrays.copyOf(values, room);
    calls = Arrays.copyOf(calls, room);
    self = Arrays.copyOf(self, room);
    latest = Arrays.copyOf(latest, room);
    table = new int[4 * room];
    for (int node = 0; node < size; node++) {
      table[place(parents[node], kinds[node], values[node])] = node + 1;
    }
  }

  void add(int node, long more, long time) {
    calls[node] += more;
    self[node] += time;
  }

  /** Nodes; each stands behind the one that it is in. */
  public int size() {
    return size;
  }

  /** The node that it is in, or {@link #NONE}. */
  public int parent(int node) {
    return parents[node];
  }

  /**
   * Of a task, which is in no node and whose {@link #value} is its id: which of that id, from 1.
   */
  public int instance(int node) {
    return -kinds[node];
  }

  /** Whether calls add up here that have no nodes of theirs. */
  public boolean isLeftOut(int node) {
    return kinds[node] == LEFT_OUT;
  }

  /** What it is, of one that is neither a task nor left out. */
  public TreeKind kind(int node) {
    return TreeKind.of(kinds[node]);
  }

  /** selfPc; number of a system call or interrupt; id of a task. */
  public long value(int node) {
    return values[node];
  }

  /** Calls of the function in this stack. */
  public long calls(int node) {
    return calls[node];
  }

  /** Time that it ran itself. */
  public long self(int node) {
    return self[node];
  }
}
