package dev.retstack.graph.hot;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.List;

/**
 * Settings of a table of hot addresses; the names in brackets are those of the seed.
 *
 * @param entries addresses that the table holds (PROF_CNT)
 * @param width addresses counted as one: a power of two (PROF_ERR)
 * @param increment what a hit adds to a count (PROF_HITCNT_INC)
 * @param decay whether each hit takes 1 from the next entry in turn (PROF_DECAY)
 * @param ignored addresses that are not counted (ignr_list)
 */
@RecordBuilder
public record HotSettings(
    int entries, int width, int increment, boolean decay, List<AddressRange> ignored)
    implements HotSettingsBuilder.With {
  /** Entries of a table at most. */
  public static final int MAX_ENTRIES = 1 << 20;

  /** Settings of the seed; its list of ignored addresses names the address 0. */
  public static final HotSettings SEED =
      new HotSettings(30, 1, 10, true, List.of(new AddressRange(0, 1)));

  public HotSettings {
    ignored = List.copyOf(ignored);
    if (entries < 1 || entries > MAX_ENTRIES) {
      throw new IllegalArgumentException(
          "%d entries: a table has 1 to %d".formatted(entries, MAX_ENTRIES));
    }
    if (Integer.bitCount(width) != 1 || width < 0) {
      throw new IllegalArgumentException(
          "width %d: use a power of two, such as 16".formatted(width));
    }
    if (increment < 1) {
      throw new IllegalArgumentException("increment %d: use 1 or more".formatted(increment));
    }
  }

  /** Whether an address is not counted. */
  boolean ignores(long address) {
    for (int i = 0; i < ignored.size(); i++) {
      if (ignored.get(i).contains(address)) {
        return true;
      }
    }
    return false;
  }

  /** The address under which an address is counted. */
  long base(long address) {
    return address & -(long) width;
  }
}
