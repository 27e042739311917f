package dev.retstack.graph.tree;

import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;

/**
 * Raw registers that were recorded with a call.
 *
 * @param format how to show them: a constant of {@link dev.retstack.schema.record.ValuesDepth}
 * @param values in the order of their index
 */
public record RecordedValues(int format, LongList values) {
  /** No values. */
  public static final RecordedValues NONE = new RecordedValues(0, LongImmutableList.of());

  public RecordedValues {
    values = new LongImmutableList(values);
  }

  public boolean isEmpty() {
    return values.isEmpty();
  }
}
