package dev.retstack.graph.calls;

import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.graph.totals.CallDigest;
import dev.retstack.graph.totals.SystemCallTotals;
import dev.retstack.graph.tree.CallTreeLog;
import dev.retstack.graph.tree.Ending;
import dev.retstack.graph.tree.TreeKind;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.function.IntUnaryOperator;

/**
 * What happened on a core besides calls with a frame: functions whose return was not seen, system
 * calls, marks and recorded values. All are counted. They become rows of the tree while the tree
 * has room.
 */
public final class CoreEvents {
  /** Distinguishes equal values at different places. */
  private static final long VALUE_PLACE = 0xd6e8feb86659fd93L;

  private final CallTreeLog tree;
  private final SystemCallTotals systemCalls;
  private long functions;
  private long systemCallCount;
  private long marks;
  private long values;
  private long digest;

  /** Numbers in the digest, since the core is in memory. */
  private long digested;

  /** Row of the tree that the last event was about, or none. */
  private int lastRow = CallTreeLog.NONE;

  /** Whether that row ended, so that values are what it returned. */
  private boolean lastEnded;

  CoreEvents(CallTreeLog tree, StateBudget.Account account) {
    this.tree = tree;
    this.systemCalls = new SystemCallTotals(account);
  }

  /** Values that follow belong to no row until the next event. */
  void next() {
    lastEnded = false;
    lastRow = CallTreeLog.NONE;
  }

  /** A call began; values that follow are its arguments. */
  void begun(int row) {
    lastEnded = false;
    lastRow = row;
  }

  /** A call ended; values that follow are what it returned. */
  void ended(int row) {
    lastEnded = row >= 0;
    lastRow = row;
  }

  /** A function was called. */
  void function(int parent, long selfPc, long fromPc, long time) {
    functions++;
    mix(TreeKind.FUNCTION, selfPc, fromPc, time);
    int row = row(TreeKind.FUNCTION, selfPc, parent, time, Ending.RETURNED);
    if (row >= 0) {
      tree.resultsOf(row).set(row, 0, LongList.of(fromPc));
    }
    begun(row);
  }

  /** A system call begins. */
  void systemCall(ShadowStack.SystemCall open, int parent, long number, long time) {
    systemCallCount++;
    systemCalls.begun(number);
    mix(TreeKind.SYSTEM_CALL, number, 0, time);
    open.number = number;
    open.since = time;
    open.row = row(TreeKind.SYSTEM_CALL, number, parent, time, Ending.OPEN);
    begun(open.row);
  }

  /** The open system call ends. */
  void systemCallEnded(ShadowStack.SystemCall open, long result, long time, Ending ending) {
    mix(TreeKind.SYSTEM_CALL, ending.code(), result, time);
    if (ending == Ending.RETURNED) {
      systemCalls.returned(open.number, result, time - open.since);
    }
    if (open.row >= 0) {
      tree.finish(open.row, time, ending);
      if (ending == Ending.RETURNED) {
        tree.resultsOf(open.row).set(open.row, 0, LongList.of(result));
      }
    }
    open.row = CallTreeLog.NONE;
    next();
  }

  /** Tracing changed. */
  void mark(int parent, long what, long selfPc, long command, long time, LongList stack) {
    marks++;
    mix(TreeKind.MARK, what, selfPc + 31 * command, time);
    int row = row(TreeKind.MARK, selfPc, parent, time, Ending.RETURNED);
    if (row >= 0) {
      LongArrayList all = new LongArrayList(new long[] {what, command});
      if (tree.argumentsOf(row).hasRoom(row, all.size() + stack.size())) {
        all.addAll(stack);
      }
      tree.argumentsOf(row).set(row, 0, all);
    }
  }

  /** Adds values to the row of the last event; false where the row has no room for them. */
  boolean values(int depth, long[] more) {
    values++;
    for (long value : more) {
      digest = CallDigest.add(digest, value + depth * VALUE_PLACE);
      digested++;
    }
    return lastRow < 0
        || (lastEnded ? tree.resultsOf(lastRow) : tree.argumentsOf(lastRow))
            .add(lastRow, depth, more);
  }

  private int row(TreeKind kind, long selfPc, int parent, long time, Ending ending) {
    if (tree.isFullBeside()) {
      return CallTreeLog.NONE;
    }
    int row = tree.enter(kind, selfPc, parent, time);
    tree.finish(row, time, ending);
    return row;
  }

  private void mix(TreeKind kind, long a, long b, long time) {
    digest = CallDigest.add(digest, a, time, b, kind.code(), Ending.count());
    digested++;
  }

  /** Whether what a segment adds are numbers, of which none meets a limit, and no row's values. */
  boolean fits(CoreEvents segment) {
    boolean fits = systemCalls.hasRoomFor(segment.systemCalls);
    for (int row = 0; fits && segment.values > 0 && row < segment.tree.size(); row++) {
      fits = segment.tree.arguments(row).isEmpty() && segment.tree.results(row).isEmpty();
    }
    return fits;
  }

  /**
   * Takes what a {@link CoreSegment} adds.
   *
   * @param stack of the core, with the calls that the segment began with
   */
  void join(CoreEvents segment, ShadowStack stack) {
    functions += segment.functions;
    systemCallCount += segment.systemCallCount;
    marks += segment.marks;
    values += segment.values;
    digest = CallDigest.join(digest, segment.digest, segment.digested);
    digested += segment.digested;
    systemCalls.merge(segment.systemCalls);
    lastRow = segment.lastRow < 0 ? CallTreeLog.NONE : stack.frames.row(segment.lastRow);
    lastEnded = segment.lastEnded && lastRow >= 0;
  }

  /** Rows of the call tree have other numbers now. */
  void renumber(IntUnaryOperator numbers) {
    lastRow = numbers.applyAsInt(lastRow);
  }

  /** Functions called of which the return was not seen. */
  public long functions() {
    return functions;
  }

  /** System calls begun. */
  public long systemCalls() {
    return systemCallCount;
  }

  /** Marks. */
  public long marks() {
    return marks;
  }

  /** Records of values. */
  public long values() {
    return values;
  }

  /** Totals of the system calls. */
  public SystemCallTotals systemCallTotals() {
    return systemCalls;
  }

  /** Digest of all of them, in order; 0 where there was nothing. */
  public long digest() {
    return digest;
  }

  void writeTo(DataOutput out) throws IOException {
    systemCalls.writeTo(out);
    out.writeLong(functions);
    out.writeLong(systemCallCount);
    out.writeLong(marks);
    out.writeLong(values);
    out.writeLong(digest);
    out.writeInt(lastRow);
    out.writeBoolean(lastEnded);
  }

  /** Reads what {@link #writeTo} wrote; the tree is complete already. */
  void readFrom(DataInput in) throws IOException {
    systemCalls.readFrom(in);
    functions = in.readLong();
    systemCallCount = in.readLong();
    marks = in.readLong();
    values = in.readLong();
    digest = in.readLong();
    lastRow = Fields.readRow(in, tree.size());
    lastEnded = in.readBoolean();
  }
}
