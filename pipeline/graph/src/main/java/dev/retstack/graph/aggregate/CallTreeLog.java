package dev.retstack.graph.aggregate;

import dev.retstack.graph.reconstruct.Ending;
import dev.retstack.graph.reconstruct.Loss;
import dev.retstack.graph.snapshot.Fields;
import it.unimi.dsi.fastutil.bytes.ByteArrayList;
import it.unimi.dsi.fastutil.ints.Int2IntOpenHashMap;
import it.unimi.dsi.fastutil.ints.Int2LongOpenHashMap;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/**
 * The first calls of a core in the order of their entries, as primitive columns; a call knows its
 * parent. A call whose parent is not kept is not kept either, since parents enter first. What else
 * happens inside of calls stands among them as rows of another {@link TreeKind}.
 */
public final class CallTreeLog {
  /** Not kept, or no parent. */
  public static final int NONE = -1;

  /** No time is known. */
  public static final long UNKNOWN = -1;

  private static final int KIND_SHIFT = 4;
  private static final int LOSS_VALUES = 7;
  private static final int ENDING_MASK = (1 << KIND_SHIFT) - 1;

  private final int limit;
  private final LongArrayList selfPcs = new LongArrayList(0);
  private final IntArrayList parents = new IntArrayList(0);
  private final LongArrayList enters = new LongArrayList(0);
  private final LongArrayList exits = new LongArrayList(0);

  /** {@code kind << KIND_SHIFT | ending}. */
  private final ByteArrayList endings = new ByteArrayList(0);

  /** By row: when a call that a loss cut off had ended, where that is known. */
  private final Int2LongOpenHashMap deadBy = new Int2LongOpenHashMap(0);

  /** By row that stands in no other: its task, where that is not the core's first. */
  private final Int2LongOpenHashMap tasks = new Int2LongOpenHashMap(0);

  private final Int2IntOpenHashMap instances = new Int2IntOpenHashMap(0);

  /** By row: how much of its time it did not run, and how much does not count. */
  private final Int2LongOpenHashMap notRun = new Int2LongOpenHashMap(0);

  private final Int2LongOpenHashMap leftOut = new Int2LongOpenHashMap(0);

  private final ValueLog arguments;
  private final ValueLog results;

  CallTreeLog(int limit) {
    this.limit = limit;
    this.arguments = new ValueLog(limit);
    this.results = new ValueLog(limit);
    this.deadBy.defaultReturnValue(UNKNOWN);
  }

  /** Whether no call is kept any more. */
  boolean isFull() {
    return selfPcs.size() >= limit;
  }

  /** Number of the new call; the log is not full. */
  int enter(long selfPc, int parent, long time) {
    return enter(TreeKind.CALL, selfPc, parent, time);
  }

  /** Number of the new row; the log is not full. */
  int enter(TreeKind kind, long selfPc, int parent, long time) {
    final int call = selfPcs.size();
    selfPcs.add(selfPc);
    parents.add(parent);
    enters.add(time);
    exits.add(time);
    endings.add((byte) ((kind.code() << KIND_SHIFT) | Ending.OPEN.code()));
    return call;
  }

  void finish(int call, long time, Ending ending) {
    exits.set(call, time);
    endings.set(call, (byte) ((endings.getByte(call) & ~ENDING_MASK) | ending.code()));
  }

  /** It is known only now in which call the row lies. */
  void setParent(int row, int parent) {
    assert parent < row;
    parents.set(row, parent);
  }

  /** The row, which stands in no other, is of this task. */
  void setTask(int row, long task, int instance) {
    if (task != 0) {
      tasks.put(row, task);
    }
    if (instance != 1) {
      instances.put(row, instance);
    }
  }

  /** Of the row's time this much was not run by it, and this much does not count in totals. */
  void setTimes(int row, long elsewhere, long notCounted) {
    if (elsewhere != 0) {
      notRun.put(row, elsewhere);
    }
    if (notCounted != 0) {
      leftOut.put(row, notCounted);
    }
  }

  /** Of a row that stands in no other: the task it is of. */
  public long task(int row) {
    return tasks.get(row);
  }

  /** Of a row that stands in no other: which of the tasks of that id, from 1. */
  public int instance(int row) {
    return instances.getOrDefault(row, 1);
  }

  /** How much of its time the call did not run: other tasks, interrupts, losses. */
  public long notRun(int row) {
    return notRun.get(row);
  }

  /** How much of its time does not count in totals, by the {@link TimeRules}. */
  public long leftOut(int row) {
    return leftOut.get(row);
  }

  /** A call that a loss cut off had ended by now. */
  void bound(int call, long now) {
    if (ending(call) == Ending.TRUNCATED) {
      deadBy.putIfAbsent(call, now);
    }
  }

  /** Time by which a truncated call had ended, {@link #UNKNOWN} where nothing tells. */
  public long deadBy(int call) {
    return deadBy.get(call);
  }

  /** The loss that a row of {@link TreeKind#LOSS} tells of. */
  public Loss loss(int row) {
    return TreeLosses.loss(arguments(row).values());
  }

  /** Calls kept. */
  public int size() {
    return selfPcs.size();
  }

  /** selfPc of the function; of a system call its number; of a mark the function, 0 for none. */
  public long selfPc(int call) {
    return selfPcs.getLong(call);
  }

  /** Number of the enclosing call, smaller than {@code call}, or {@link #NONE}. */
  public int parent(int call) {
    return parents.getInt(call);
  }

  public long enter(int call) {
    return enters.getLong(call);
  }

  /**
   * Time of the end; of the last record before the loss where it was truncated; of the entry where
   * it is open.
   */
  public long exit(int call) {
    return exits.getLong(call);
  }

  public Ending ending(int call) {
    return Ending.of(endings.getByte(call) & ENDING_MASK);
  }

  /** What the row is. */
  public TreeKind kind(int call) {
    return TreeKind.of(endings.getByte(call) >> KIND_SHIFT);
  }

  /** What was recorded when it began; see {@link TreeKind}. */
  public RecordedValues arguments(int call) {
    return arguments.get(call);
  }

  /** What was recorded when it ended. */
  public RecordedValues results(int call) {
    return results.get(call);
  }

  ValueLog argumentLog() {
    return arguments;
  }

  ValueLog resultLog() {
    return results;
  }

  /** Writes differences to the call before, which are small: a tree is most of a snapshot. */
  void writeTo(DataOutput out) throws IOException {
    out.writeInt(size());
    long selfPc = 0;
    long enter = 0;
    for (int i = 0; i < size(); i++) {
      long step = selfPc(i) - selfPc;
      Fields.writeVarint(out, (step << 1) ^ (step >> 63));
      Fields.writeVarint(out, i - 1 - parent(i));
      Fields.writeVarint(out, enter(i) - enter);
      Fields.writeVarint(out, exit(i) - enter(i));
      out.writeByte(endings.getByte(i));
      selfPc = selfPc(i);
      enter = enter(i);
    }
    out.writeInt(deadBy.size());
    int[] bounded = deadBy.keySet().toIntArray();
    Arrays.sort(bounded);
    for (int call : bounded) {
      out.writeInt(call);
      out.writeLong(deadBy.get(call));
    }
    writeSparse(out, tasks);
    out.writeInt(instances.size());
    int[] rows = instances.keySet().toIntArray();
    Arrays.sort(rows);
    for (int row : rows) {
      out.writeInt(row);
      out.writeInt(instances.get(row));
    }
    writeSparse(out, notRun);
    writeSparse(out, leftOut);
    arguments.writeTo(out);
    results.writeTo(out);
  }

  private static void writeSparse(DataOutput out, Int2LongOpenHashMap map) throws IOException {
    out.writeInt(map.size());
    int[] rows = map.keySet().toIntArray();
    Arrays.sort(rows);
    for (int row : rows) {
      out.writeInt(row);
      out.writeLong(map.get(row));
    }
  }

  private static void readSparse(DataInput in, Int2LongOpenHashMap map, int rows)
      throws IOException {
    int count = Fields.readCount(in, rows, "numbers of rows");
    for (int i = 0; i < count; i++) {
      map.put(Fields.readCount(in, rows - 1, "as a row of the tree"), in.readLong());
    }
  }

  void readFrom(DataInput in) throws IOException {
    int count = Fields.readCount(in, limit, "calls in a tree");
    long selfPc = 0;
    long enter = 0;
    for (int i = 0; i < count; i++) {
      long step = Fields.readVarint(in);
      selfPc += (step >>> 1) ^ -(step & 1);
      long above = Fields.readVarint(in);
      enter += Fields.readVarint(in);
      long exit = enter + Fields.readVarint(in);
      int byteOfEnding = in.readUnsignedByte();
      int kind = byteOfEnding >> KIND_SHIFT;
      int ending = byteOfEnding & ENDING_MASK;
      if (above < 0
          || above > i
          || enter < 0
          || exit < enter
          || ending >= Ending.count()
          || kind >= TreeKind.count()) {
        throw new IOException("corrupt snapshot: call " + i + " of a tree");
      }
      int parent = (int) (i - 1 - above);
      finish(enter(TreeKind.of(kind), selfPc, parent, enter), exit, Ending.of(ending));
    }
    int bounds = Fields.readCount(in, count, "bounds of durations");
    for (int i = 0; i < bounds; i++) {
      int call = Fields.readCount(in, count - 1, "as a row of the tree");
      long time = in.readLong();
      if (time < exit(call)) {
        throw new IOException("corrupt snapshot: call " + call + " ended before it was open");
      }
      bound(call, time);
    }
    readSparse(in, tasks, count);
    int named = Fields.readCount(in, count, "instances of tasks");
    for (int i = 0; i < named; i++) {
      instances.put(Fields.readCount(in, count - 1, "as a row of the tree"), in.readInt());
    }
    readSparse(in, notRun, count);
    readSparse(in, leftOut, count);
    arguments.readFrom(in, count);
    for (int row = 0; row < count; row++) {
      if (kind(row) == TreeKind.LOSS && arguments(row).values().size() != LOSS_VALUES) {
        throw new IOException("corrupt snapshot: row " + row + " of a tree is no loss");
      }
    }
    results.readFrom(in, count);
  }
}
