package dev.retstack.graph.losses;

import dev.retstack.graph.limits.Saturating;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;

/**
 * Records that are missing at one place of a core's stream.
 *
 * @param kind where they went missing
 * @param fromChunk MISSING: number of the first chunk that did not come; DROPPED: of the chunk that
 *     reports it
 * @param toChunk number of the first chunk behind the loss
 * @param record number, in the order of the records that the core sent, of the first one missing
 *     (MISSING) or of the first one behind the loss (DROPPED: what was dropped has no numbers)
 * @param records how many; of MISSING chunks, what they themselves had dropped is not known
 * @param after time of the last record before it
 * @param until time by which it was over
 */
public record Loss(
    Kind kind, long fromChunk, long toChunk, long record, long records, long after, long until) {

  /** Where records went missing. */
  public enum Kind {
    /** The core dropped them, and counted them. */
    DROPPED,
    /** The core sent them, and they never came. */
    MISSING
  }

  /** The loss in the values of a row of the call tree. */
  public static Loss of(LongList v) {
    Kind kind = v.getLong(0) == 0 ? Kind.DROPPED : Kind.MISSING;
    return new Loss(
        kind, v.getLong(1), v.getLong(2), v.getLong(3), v.getLong(4), v.getLong(5), v.getLong(6));
  }

  /** What a row of the call tree keeps of it. */
  public LongList values() {
    return LongArrayList.of(
        kind == Kind.DROPPED ? 0 : 1, fromChunk, toChunk, record, records, after, until);
  }

  /** This one and a later one, with whatever lies between. */
  public Loss with(Loss later) {
    return new Loss(
        kind == later.kind ? kind : Kind.MISSING,
        fromChunk,
        later.toChunk,
        record,
        Saturating.sum(records, later.records),
        after,
        later.until);
  }
}
