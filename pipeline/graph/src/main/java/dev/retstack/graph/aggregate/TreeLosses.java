package dev.retstack.graph.aggregate;

import dev.retstack.graph.reconstruct.Ending;
import dev.retstack.graph.reconstruct.Loss;
import dev.retstack.graph.snapshot.Fields;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** The losses in a call tree: rows that stand where they happened, and hold what ran meanwhile. */
final class TreeLosses {
  private final CallTreeLog tree;

  /** Rows of losses of which it is not known yet in which call they happened. */
  private final IntArrayList waiting = new IntArrayList(0);

  /** Rows of the holes that are open, the outermost first. */
  private final IntArrayList holes = new IntArrayList(0);

  /** Task of rows that stand in no other. */
  private final long task;

  private final int instance;

  /** Row of the interrupt whose stack it is, or none. */
  private int base = CallTreeLog.NONE;

  TreeLosses(CallTreeLog tree, long task, int instance) {
    this.tree = tree;
    this.task = task;
    this.instance = instance;
  }

  /** What is known to lie in no call and no hole is in this row, or in none. */
  void setBase(int row) {
    base = row;
  }

  /** Row of the interrupt whose stack it is, or none. */
  int base() {
    return base;
  }

  /** A row for a loss, if there is room. */
  void add(Loss loss) {
    if (!tree.isFullBeside()) {
      int row = tree.enter(TreeKind.LOSS, 0, CallTreeLog.NONE, loss.after());
      tree.setTask(row, task, instance);
      tree.finish(row, loss.after(), Ending.RETURNED);
      tree.argumentsOf(row).set(row, 0, values(loss));
      waiting.push(row);
    }
  }

  private static LongList values(Loss loss) {
    return LongArrayList.of(
        loss.kind() == Loss.Kind.DROPPED ? 0 : 1,
        loss.fromChunk(),
        loss.toChunk(),
        loss.record(),
        loss.records(),
        loss.after(),
        loss.until());
  }

  /** The loss of a row. */
  static Loss loss(LongList v) {
    Loss.Kind kind = v.getLong(0) == 0 ? Loss.Kind.DROPPED : Loss.Kind.MISSING;
    return new Loss(
        kind, v.getLong(1), v.getLong(2), v.getLong(3), v.getLong(4), v.getLong(5), v.getLong(6));
  }

  /** Row of what is not known to lie in any call: that of the innermost hole, or none. */
  int row() {
    return waiting.isEmpty() ? hole() : waiting.topInt();
  }

  private int hole() {
    return holes.isEmpty() ? base : holes.topInt();
  }

  /** The losses that wait happened beside all known calls. */
  void settled() {
    place(hole());
  }

  /**
   * The losses that wait happened in the call of this row, or in none that is known, and a hole
   * begins.
   */
  void opened(int parent) {
    int row = waiting.isEmpty() ? CallTreeLog.NONE : waiting.topInt();
    place(parent >= 0 ? parent : hole());
    holes.push(row);
    if (row >= 0) {
      tree.finish(row, tree.enter(row), Ending.OPEN);
    }
  }

  /** The innermost hole ends. */
  void closed(long now) {
    int row = holes.popInt();
    if (row >= 0) {
      tree.finish(row, now, Ending.RETURNED);
    }
  }

  private void place(int parent) {
    for (int row : waiting) {
      tree.setParent(row, parent);
    }
    waiting.clear();
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeInt(base);
    write(out, waiting);
    write(out, holes);
  }

  private static void write(DataOutput out, IntArrayList rows) throws IOException {
    out.writeInt(rows.size());
    for (int row : rows) {
      out.writeInt(row);
    }
  }

  /**
   * Reads what {@link #writeTo} wrote; the tree is complete already.
   *
   * @param call the last row of a call that is open
   */
  void readFrom(DataInput in, int openHoles, int call) throws IOException {
    base = Fields.readRow(in, tree.size());
    read(in, waiting);
    read(in, holes);
    int before = Math.max(call, base); // in one of these they will be placed
    for (int row : holes) {
      before = Math.max(before, row);
    }
    for (int row : waiting) {
      if (row <= before) {
        throw new IOException("corrupt snapshot: row " + row + " of a loss ahead of its call");
      }
    }
    if (holes.size() != openHoles) {
      throw new IOException("corrupt snapshot: " + holes.size() + " rows of holes");
    }
  }

  private void read(DataInput in, IntArrayList rows) throws IOException {
    int count = in.readInt();
    if (count < 0) {
      throw new IOException("corrupt snapshot: " + count + " rows of losses");
    }
    for (int i = 0; i < count; i++) {
      int row = in.readInt();
      if (row < CallTreeLog.NONE || row >= tree.size()) {
        throw new IOException("corrupt snapshot: row " + row + " of a loss");
      }
      rows.push(row);
    }
  }
}
