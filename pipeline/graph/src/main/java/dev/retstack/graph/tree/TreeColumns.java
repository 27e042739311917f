package dev.retstack.graph.tree;

import dev.retstack.graph.limits.StateBudget;
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
import java.util.List;

/** The rows of a {@link CallTreeLog} as primitive columns. */
final class TreeColumns {
  private static final int KIND_SHIFT = 4;
  private static final int ENDING_MASK = (1 << KIND_SHIFT) - 1;
  private static final int LOSS_VALUES = 7;
  private static final int ROW_BYTES = 29;
  private static final int FIRST_ROWS = 16;

  /** Bytes of an entry in a table by row. */
  private static final int ENTRY_BYTES = 12;

  private final int limit;
  private final StateBudget.Account account;

  /** Bytes that were taken for it, values excepted. */
  private long bytes;

  /** Rows for which there is room. */
  private int capacity;

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

  /**
   * No rows.
   *
   * @param limit rows that the tree may have
   */
  TreeColumns(int limit, StateBudget.Account account) {
    this.limit = limit;
    this.account = account;
    this.arguments = new ValueLog(limit, account);
    this.results = new ValueLog(limit, account);
    this.deadBy.defaultReturnValue(CallTreeLog.UNKNOWN);
  }

  /** Rows for which there is room. */
  int capacity() {
    return capacity;
  }

  /** Makes room for more rows; false where it must not. */
  boolean grow() {
    int rows = rowsNext();
    return capacity < limit && account.fits((long) ROW_BYTES * (rows - capacity)) && grow(rows);
  }

  private int rowsNext() {
    return (int) Math.min(limit, Math.max(FIRST_ROWS, capacity * 3L / 2));
  }

  private boolean grow(int rows) {
    charge((long) ROW_BYTES * (rows - capacity));
    selfPcs.ensureCapacity(rows);
    parents.ensureCapacity(rows);
    enters.ensureCapacity(rows);
    exits.ensureCapacity(rows);
    endings.ensureCapacity(rows);
    capacity = rows;
    return true;
  }

  private void charge(long more) {
    account.charge(more);
    bytes += more;
  }

  /** Takes room for an entry about a row in a table beside it; false where there is none. */
  private boolean takes(Int2LongOpenHashMap table, int row) {
    long more = table.containsKey(row) ? 0 : entry(table.size());
    boolean fits = more == 0 || account.fits(more);
    if (fits) {
      charge(more);
    }
    return fits;
  }

  private static long entry(int entries) {
    return StateBudget.hashed(entries + 1, ENTRY_BYTES) - StateBudget.hashed(entries, ENTRY_BYTES);
  }

  /**
   * Removes all rows but those that get a new number.
   *
   * @param numbers by row, in the same order; negative for those that go
   * @param left number of rows that stay
   */
  void keepOnly(int[] numbers, int left) {
    for (int row = 0; row < numbers.length; row++) {
      int to = numbers[row];
      if (to >= 0) {
        int parent = parents.getInt(row);
        selfPcs.set(to, selfPcs.getLong(row));
        parents.set(to, parent < 0 ? parent : numbers[parent]);
        enters.set(to, enters.getLong(row));
        exits.set(to, exits.getLong(row));
        endings.set(to, endings.getByte(row));
      }
    }
    selfPcs.size(left);
    parents.size(left);
    enters.size(left);
    exits.size(left);
    endings.size(left);
    for (Int2LongOpenHashMap beside : List.of(deadBy, tasks, notRun, leftOut)) {
      Int2LongOpenHashMap all = beside.clone();
      beside.clear();
      all.forEach(
          (row, value) -> {
            if (numbers[row] >= 0) {
              beside.put(numbers[row], value);
            }
          });
      give(all.size(), beside.size());
    }
    Int2IntOpenHashMap named = instances.clone();
    instances.clear();
    named.forEach(
        (row, instance) -> {
          if (numbers[row] >= 0) {
            instances.put(numbers[row], instance);
          }
        });
    give(named.size(), instances.size());
    arguments.keepOnly(numbers);
    results.keepOnly(numbers);
  }

  private void give(int entries, int left) {
    charge(StateBudget.hashed(left, ENTRY_BYTES) - StateBudget.hashed(entries, ENTRY_BYTES));
  }

  /** Gives back the bytes that the tree took. */
  void release() {
    account.give(bytes + arguments.bytes() + results.bytes());
  }

  /** Number of the new row, which is open. */
  int enter(TreeKind kind, long selfPc, int parent, long time) {
    final int row = selfPcs.size();
    selfPcs.add(selfPc);
    parents.add(parent);
    enters.add(time);
    exits.add(time);
    endings.add(code(kind, Ending.OPEN));
    return row;
  }

  void finish(int row, long time, Ending ending) {
    exits.set(row, time);
    endings.set(row, code(kind(row), ending));
  }

  void setParent(int row, int parent) {
    parents.set(row, parent);
  }

  void setTask(int row, long task, int instance) {
    if (task != 0) {
      charge(entry(tasks.size()));
      tasks.put(row, task);
    }
    if (instance != 1) {
      charge(entry(instances.size()));
      instances.put(row, instance);
    }
  }

  void setTimes(int row, long elsewhere, long notCounted) {
    if (elsewhere != 0 && takes(notRun, row)) {
      notRun.put(row, elsewhere);
    }
    if (notCounted != 0 && takes(leftOut, row)) {
      leftOut.put(row, notCounted);
    }
  }

  void bound(int row, long now) {
    if (ending(row) == Ending.TRUNCATED && takes(deadBy, row)) {
      deadBy.putIfAbsent(row, now);
    }
  }

  int size() {
    return selfPcs.size();
  }

  long selfPc(int row) {
    return selfPcs.getLong(row);
  }

  int parent(int row) {
    return parents.getInt(row);
  }

  long enter(int row) {
    return enters.getLong(row);
  }

  long exit(int row) {
    return exits.getLong(row);
  }

  Ending ending(int row) {
    return ending(endings.getByte(row));
  }

  TreeKind kind(int row) {
    return kind(endings.getByte(row));
  }

  /** Kind and ending in one. */
  byte code(int row) {
    return endings.getByte(row);
  }

  long deadBy(int row) {
    return deadBy.get(row);
  }

  long task(int row) {
    return tasks.get(row);
  }

  int instance(int row) {
    return instances.getOrDefault(row, 1);
  }

  long notRun(int row) {
    return notRun.get(row);
  }

  long leftOut(int row) {
    return leftOut.get(row);
  }

  ValueLog arguments() {
    return arguments;
  }

  ValueLog results() {
    return results;
  }

  static byte code(TreeKind kind, Ending ending) {
    return (byte) ((kind.code() << KIND_SHIFT) | ending.code());
  }

  static Ending ending(byte code) {
    return Ending.of(code & ENDING_MASK);
  }

  static TreeKind kind(byte code) {
    return TreeKind.of(code >> KIND_SHIFT);
  }

  /**
   * Reads kind and ending in one.
   *
   * @throws IOException where there is no such kind or ending
   */
  static byte readCode(DataInput in) throws IOException {
    byte code = in.readByte();
    if (code < 0
        || (code & ENDING_MASK) >= Ending.count()
        || code >> KIND_SHIFT >= TreeKind.count()) {
      throw new IOException("corrupt snapshot: %d as what a row of a tree is".formatted(code));
    }
    return code;
  }

  /** Writes differences to the row before, which are small: a tree is most of a snapshot. */
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
    writeSparse(out, deadBy);
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

  private void readSparse(DataInput in, Int2LongOpenHashMap map, int rows) throws IOException {
    int count = Fields.readCount(in, rows, "numbers of rows");
    for (int i = 0; i < count; i++) {
      charge(entry(map.size()));
      map.put(Fields.readCount(in, rows - 1, "as a row of the tree"), in.readLong());
    }
  }

  /**
   * Reads what {@link #writeTo} wrote into these empty columns.
   *
   * @param limit rows at most
   */
  void readFrom(DataInput in, int limit) throws IOException {
    int count = Fields.readCount(in, limit, "calls in a tree");
    long selfPc = 0;
    long enter = 0;
    for (int i = 0; i < count; i++) {
      long step = Fields.readVarint(in);
      selfPc += (step >>> 1) ^ -(step & 1);
      long above = Fields.readVarint(in);
      enter += Fields.readVarint(in);
      long exit = enter + Fields.readVarint(in);
      byte code = readCode(in);
      if (above < 0 || above > i || enter < 0 || exit < enter) {
        throw new IOException("corrupt snapshot: call " + i + " of a tree");
      }
      int parent = (int) (i - 1 - above);
      if (i == capacity) {
        grow(rowsNext());
      }
      finish(enter(kind(code), selfPc, parent, enter), exit, ending(code));
    }
    int bounds = Fields.readCount(in, count, "bounds of durations");
    for (int i = 0; i < bounds; i++) {
      int row = Fields.readCount(in, count - 1, "as a row of the tree");
      long time = in.readLong();
      if (time < exit(row)) {
        throw new IOException("corrupt snapshot: call " + row + " ended before it was open");
      }
      bound(row, time);
    }
    readSparse(in, tasks, count);
    int named = Fields.readCount(in, count, "instances of tasks");
    for (int i = 0; i < named; i++) {
      charge(entry(instances.size()));
      instances.put(Fields.readCount(in, count - 1, "as a row of the tree"), in.readInt());
    }
    readSparse(in, notRun, count);
    readSparse(in, leftOut, count);
    arguments.readFrom(in, count);
    results.readFrom(in, count);
    checkLosses();
  }

  /**
   * Looks at the values of losses, which readers take for granted.
   *
   * @throws IOException where there are too few
   */
  void checkLosses() throws IOException {
    for (int row = 0; row < size(); row++) {
      if (kind(row) == TreeKind.LOSS && arguments.get(row).values().size() != LOSS_VALUES) {
        throw new IOException("corrupt snapshot: row " + row + " of a tree is not a loss");
      }
    }
  }
}
