package dev.retstack.graph.tree;

import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.schema.record.ValuesDepth;
import it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/**
 * Values of some rows of a call tree, such as arguments. Few rows have any. There is room for
 * {@link #VALUES_PER_ROW} values for each row of the tree; further ones are left out.
 */
public final class ValueLog {
  /** Values of one row at most; the index of a value is below this. */
  private static final int MAX_VALUES = 256;

  /** Values of all rows together, for each row of the tree. */
  private static final long VALUES_PER_ROW = 8;

  private static final int ROW_BYTES = 64;

  private static final int ENTRY_BYTES = 8;

  private final Int2ObjectOpenHashMap<RecordedValues> rows = new Int2ObjectOpenHashMap<>(0);
  private final StateBudget.Account account;
  private final long limit;
  private long size;

  /**
   * No values.
   *
   * @param treeRows rows that the tree may have
   */
  ValueLog(int treeRows, StateBudget.Account account) {
    this(VALUES_PER_ROW * treeRows, account);
  }

  private ValueLog(long limit, StateBudget.Account account) {
    this.limit = limit;
    this.account = account;
  }

  /** Bytes that were taken for it. */
  long bytes() {
    return (long) ROW_BYTES * rows.size()
        + Long.BYTES * size
        + StateBudget.hashed(rows.size(), ENTRY_BYTES);
  }

  /** What its rows take where its size is that of more than these. */
  long bytesOfRows() {
    long values = rows.values().stream().mapToLong(row -> row.values().size()).sum();
    return (long) ROW_BYTES * rows.size() + Long.BYTES * values;
  }

  /** The values of a row, {@link RecordedValues#NONE} where it has none. */
  RecordedValues get(int row) {
    return rows.getOrDefault(row, RecordedValues.NONE);
  }

  /** Gives a row all its values, few: that is always possible. */
  public void set(int row, int format, LongList values) {
    long before = bytes();
    size += values.size() - get(row).values().size();
    rows.put(row, new RecordedValues(format, values));
    account.charge(bytes() - before);
  }

  /** Whether a row may get {@code count} values. */
  public boolean hasRoom(int row, int count) {
    int more = count - get(row).values().size();
    return more <= 0
        || (size + more <= limit && account.fits(ROW_BYTES + (long) Long.BYTES * more));
  }

  /**
   * Takes the values of one record.
   *
   * @param depth see {@link ValuesDepth}
   * @return false where there is no room for them
   */
  public boolean add(int row, int depth, long[] values) {
    int first = ValuesDepth.first(depth);
    int count = ValuesDepth.count(depth);
    if (count == 0) {
      count = withoutTrailingZeros(values);
    }
    LongArrayList all = new LongArrayList(get(row).values());
    all.size(Math.min(Math.max(all.size(), first + count), MAX_VALUES));
    for (int i = 0; i < count && first + i < MAX_VALUES; i++) {
      all.set(first + i, values[i]);
    }
    if (!hasRoom(row, all.size())) {
      return false;
    }
    set(row, ValuesDepth.format(depth), all);
    return true;
  }

  /** Where the record does not say how many values it has: at least one. */
  private static int withoutTrailingZeros(long[] values) {
    int count = values.length;
    while (count > 1 && values[count - 1] == 0) {
      count--;
    }
    return count;
  }

  /** The values of these rows alone, with room as if all others were there too. */
  ValueLog only(int[] of) {
    ValueLog only = new ValueLog(limit, StateBudget.UNLIMITED.open(0));
    for (int row : of) {
      if (rows.containsKey(row)) {
        only.rows.put(row, rows.get(row));
      }
    }
    only.size = size;
    return only;
  }

  /** Takes the values of all rows out but those that get a new number. */
  void keepOnly(int[] numbers) {
    if (rows.isEmpty()) {
      return;
    }
    final long before = bytes();
    Int2ObjectOpenHashMap<RecordedValues> all = rows.clone();
    rows.clear();
    size = 0;
    all.forEach(
        (row, values) -> {
          if (numbers[row] >= 0) {
            rows.put(numbers[row], values);
            size += values.values().size();
          }
        });
    account.give(before - bytes());
  }

  /** Whether no other rows than these, ascending, have values. */
  boolean isOf(int[] of) {
    return rows.keySet().intStream().allMatch(row -> Arrays.binarySearch(of, row) >= 0);
  }

  /** Gives rows all the values that they have there. */
  void setAll(ValueLog of) {
    of.rows.forEach((row, values) -> set(row, values.format(), values.values()));
  }

  /** Values of all rows. */
  long size() {
    return size;
  }

  /** Sets the number of values, with those of rows that are stored elsewhere. */
  void setSize(long all) {
    size = all;
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeInt(rows.size());
    int[] sorted = rows.keySet().toIntArray();
    Arrays.sort(sorted);
    for (int row : sorted) {
      RecordedValues values = rows.get(row);
      out.writeInt(row);
      out.writeByte(values.format());
      Fields.writeLongs(out, values.values());
    }
  }

  /**
   * Reads what {@link #writeTo} wrote.
   *
   * @param limit rows of the tree
   */
  void readFrom(DataInput in, int limit) throws IOException {
    int count = Fields.readCount(in, limit, "rows with values");
    for (int i = 0; i < count; i++) {
      int row = Fields.readCount(in, limit - 1, "as a row of the tree");
      int format = in.readUnsignedByte();
      set(row, format, Fields.readLongs(in));
    }
  }
}
