package dev.retstack.graph.calls;

import dev.retstack.graph.check.StatCounts;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.tree.Ending;

/**
 * How far a core came: what is known of it without its calls, also while it rests.
 *
 * @param nextSequence number of the chunk that must come next
 * @param keyframes chunks where its stacks were compared with those of the core
 * @param records records taken, of any kind but LOST
 * @param lost records known to be missing
 * @param time its clock as last seen, in its unit
 * @param open calls that have not ended
 * @param anomalies found
 * @param truncated calls that a loss cut off
 * @param end RUNNING, or why it ended
 * @param endDetail how it ended, in words; empty while it runs
 * @param stats good until its next chunk
 */
public record CoreSummary(
    CoreKey key,
    ImageInfo image,
    ClockUnit unit,
    long nextSequence,
    long keyframes,
    long records,
    long lost,
    long time,
    int open,
    long anomalies,
    long truncated,
    CoreEnd end,
    String endDetail,
    StatCounts stats) {

  static CoreSummary of(CoreGraph core) {
    CoreReconstructor p = core.progress();
    return new CoreSummary(
        core.key(),
        core.image(),
        core.unit(),
        p.nextSequence(),
        p.keyframes(),
        p.records(),
        p.lost(),
        p.time(),
        p.open(),
        core.anomalies().noted(),
        p.ended(Ending.TRUNCATED),
        p.end(),
        p.endDetail(),
        core.stats());
  }
}
