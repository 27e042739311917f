package dev.retstack.graph.aggregate;

import dev.retstack.graph.snapshot.Fields;
import dev.retstack.schema.codec.ValuesDepth;
import it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

/** Values of some rows of a call tree, such as arguments: few rows have any. */
final class ValueLog {
  /** Values of one row at most; the index of a value is below this. */
  private static final int MAX_VALUES = 256;

  private final Int2ObjectOpenHashMap<RecordedValues> rows = new Int2ObjectOpenHashMap<>(0);

  /** The values of a row, {@link RecordedValues#NONE} where it has none. */
  RecordedValues get(int row) {
    return rows.getOrDefault(row, RecordedValues.NONE);
  }

  /** Gives a row all its values. */
  void set(int row, int format, LongList values) {
    rows.put(row, new RecordedValues(format, values));
  }

  /**
   * Takes the values of one record.
   *
   * @param depth see {@link ValuesDepth}
   */
  void add(int row, int depth, long[] values) {
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
    set(row, ValuesDepth.format(depth), all);
  }

  /** Where the record does not say how many values it has: at least one. */
  private static int withoutTrailingZeros(long[] values) {
    int count = values.length;
    while (count > 1 && values[count - 1] == 0) {
      count--;
    }
    return count;
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
