package dev.retstack.graph.tree;

import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.snapshot.Fields;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/**
 * The rows of a packed tree that may still change: open ones, and those whose end a loss hides.
 * They replace the packed rows.
 */
final class OpenRows {
  private static final int ROW_BYTES = 49;

  /** Numbers of the rows, ascending; the arrays beside it are in the same order. */
  private final int[] rows;

  private final int[] parents;
  private final long[] enters;
  private final long[] exits;
  private final byte[] codes;
  private final long[] deadBy;
  private final long[] notRun;
  private final long[] leftOut;
  private final ValueLog arguments;
  private final ValueLog results;

  private OpenRows(int[] rows, ValueLog arguments, ValueLog results) {
    this.rows = rows;
    this.parents = new int[rows.length];
    this.enters = new long[rows.length];
    this.exits = new long[rows.length];
    this.codes = new byte[rows.length];
    this.deadBy = new long[rows.length];
    this.notRun = new long[rows.length];
    this.leftOut = new long[rows.length];
    this.arguments = arguments;
    this.results = results;
  }

  /** The rows of a tree that may still change. */
  static OpenRows of(TreeColumns tree) {
    IntArrayList open = new IntArrayList();
    for (int row = 0; row < tree.size(); row++) {
      Ending ending = tree.ending(row);
      if (ending == Ending.OPEN
          || (ending == Ending.TRUNCATED && tree.deadBy(row) == CallTreeLog.UNKNOWN)) {
        open.add(row);
      }
    }
    int[] rows = open.toIntArray();
    OpenRows of = new OpenRows(rows, tree.arguments().only(rows), tree.results().only(rows));
    for (int i = 0; i < rows.length; i++) {
      of.parents[i] = tree.parent(rows[i]);
      of.enters[i] = tree.enter(rows[i]);
      of.exits[i] = tree.exit(rows[i]);
      of.codes[i] = tree.code(rows[i]);
      of.deadBy[i] = tree.deadBy(rows[i]);
      of.notRun[i] = tree.notRun(rows[i]);
      of.leftOut[i] = tree.leftOut(rows[i]);
    }
    return of;
  }

  /** Place of a row here, negative where it is not among them. */
  int find(int row) {
    return Arrays.binarySearch(rows, row);
  }

  long enter(int at) {
    return enters[at];
  }

  void finish(int at, long time, Ending ending) {
    exits[at] = time;
    codes[at] = TreeColumns.code(TreeColumns.kind(codes[at]), ending);
  }

  void setParent(int at, int parent) {
    parents[at] = parent;
  }

  void setTimes(int at, long elsewhere, long notCounted) {
    notRun[at] = elsewhere != 0 ? elsewhere : notRun[at];
    leftOut[at] = notCounted != 0 ? notCounted : leftOut[at];
  }

  void bound(int at, long now) {
    if (TreeColumns.ending(codes[at]) == Ending.TRUNCATED && deadBy[at] == CallTreeLog.UNKNOWN) {
      deadBy[at] = now;
    }
  }

  /** Values of these rows; their number is that of the whole tree. */
  ValueLog arguments() {
    return arguments;
  }

  ValueLog results() {
    return results;
  }

  /**
   * Puts them in their place.
   *
   * @throws IOException where they are not rows of that tree
   */
  void putInto(TreeColumns tree) throws IOException {
    for (int i = 0; i < rows.length; i++) {
      int row = rows[i];
      if (tree.enter(row) != enters[i]
          || tree.kind(row) != TreeColumns.kind(codes[i])
          || tree.deadBy(row) != CallTreeLog.UNKNOWN) {
        throw new IOException("corrupt snapshot: row " + row + " is not an open row of its tree");
      }
      tree.setParent(row, parents[i]);
      tree.finish(row, exits[i], TreeColumns.ending(codes[i]));
      if (deadBy[i] != CallTreeLog.UNKNOWN) {
        tree.bound(row, deadBy[i]);
      }
      tree.setTimes(row, notRun[i], leftOut[i]);
    }
    tree.arguments().setAll(arguments);
    tree.results().setAll(results);
    tree.checkLosses();
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeInt(rows.length);
    for (int i = 0; i < rows.length; i++) {
      out.writeInt(rows[i]);
      out.writeInt(parents[i]);
      Fields.writeVarint(out, enters[i]);
      Fields.writeVarint(out, exits[i] - enters[i]);
      out.writeByte(codes[i]);
      Fields.writeVarint(out, deadBy[i] == CallTreeLog.UNKNOWN ? 0 : deadBy[i] - exits[i] + 1);
      Fields.writeVarint(out, notRun[i]);
      Fields.writeVarint(out, leftOut[i]);
    }
    arguments.writeTo(out);
    results.writeTo(out);
  }

  /**
   * Reads what {@link #writeTo} wrote. How many values the whole tree has is not known then: {@link
   * #countValues} sets it.
   *
   * @param size rows of the tree
   * @param limit rows that the tree may have
   */
  static OpenRows readFrom(DataInput in, int size, int limit) throws IOException {
    int count = Fields.readCount(in, size, "open rows of a tree");
    OpenRows read = new OpenRows(new int[count], noValues(limit), noValues(limit));
    for (int i = 0; i < count; i++) {
      int row = Fields.readCount(in, size - 1, "as a row of the tree");
      int parent = in.readInt();
      long enter = Fields.readVarint(in);
      long exit = enter + Fields.readVarint(in);
      byte code = TreeColumns.readCode(in);
      long bound = Fields.readVarint(in); // one more than all time has no sign bit left
      boolean truncated = TreeColumns.ending(code) == Ending.TRUNCATED;
      if ((i > 0 && row <= read.rows[i - 1])
          || parent < CallTreeLog.NONE
          || parent >= row
          || enter < 0
          || exit < enter
          || (bound != 0 && (!truncated || bound - 1 < 0 || exit > Long.MAX_VALUE - (bound - 1)))) {
        throw new IOException("corrupt snapshot: open row " + row + " of a tree");
      }
      read.rows[i] = row;
      read.parents[i] = parent;
      read.enters[i] = enter;
      read.exits[i] = exit;
      read.codes[i] = code;
      read.deadBy[i] = bound == 0 ? CallTreeLog.UNKNOWN : exit + (bound - 1);
      read.notRun[i] = Fields.readVarint(in);
      read.leftOut[i] = Fields.readVarint(in);
    }
    read.arguments.readFrom(in, size);
    read.results.readFrom(in, size);
    if (!read.arguments.isOf(read.rows) || !read.results.isOf(read.rows)) {
      throw new IOException("corrupt snapshot: values of a row that is not open");
    }
    return read;
  }

  private static ValueLog noValues(int limit) {
    return new ValueLog(limit, StateBudget.UNLIMITED.open(0));
  }

  /** What they take, with their values. */
  long bytes() {
    return (long) ROW_BYTES * rows.length + arguments.bytesOfRows() + results.bytesOfRows();
  }

  /** Takes the number of values from the whole tree. */
  void countValues(TreeColumns tree) {
    arguments.setSize(tree.arguments().size());
    results.setSize(tree.results().size());
  }
}
