package dev.retstack.graph.hot;

import java.util.List;

/**
 * Counts calls by address, in bounded memory. A pure state machine: the same addresses in the same
 * order give the same counts. Not safe for use by several threads at once.
 */
public sealed interface HotCounter permits SeedTable, ExactCounts {
  /** Counts a call. */
  void hit(long address);

  /** The addresses, most hits first. */
  List<HotCount> counts();

  /** Sum of all hits: the whole to which the ratios refer. */
  long total();

  /** Calls counted under no separate address, because there are too many. */
  long notKept();

  /**
   * What the counters of several cores of one image add up to; they are not changed.
   *
   * @param others of this kind, with these settings
   */
  HotCounter merge(List<HotCounter> others);

  /** How to make counters of a kind. */
  enum Kind {
    /** {@link SeedTable}. */
    SEED_TABLE,
    /** {@link ExactCounts}. */
    EXACT;

    /** An empty counter. */
    public HotCounter create(HotSettings settings) {
      return switch (this) {
        case SEED_TABLE -> new SeedTable(settings);
        case EXACT -> new ExactCounts(settings);
      };
    }
  }
}
