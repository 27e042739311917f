package dev.retstack.service.progress;

import dev.retstack.graph.aggregate.CoreGraph;
import dev.retstack.graph.aggregate.CoreKey;
import dev.retstack.graph.reconstruct.CoreEnd;

/**
 * How far one core came.
 *
 * @param partition partition of events its chunks are in
 * @param isa as in Image
 * @param chunks chunks it is known to have sent
 * @param records records received
 * @param lost records known to be lost
 * @param time its clock, in the unit of its chunks
 * @param end RUNNING, or why it ended
 */
public record CoreProgress(
    CoreKey key,
    int partition,
    String isa,
    long chunks,
    long records,
    long lost,
    long time,
    CoreEnd end) {
  /** How far this core of a partition came. */
  public static CoreProgress of(int partition, CoreGraph core) {
    return new CoreProgress(
        core.key(),
        partition,
        core.image().isa(),
        core.progress().nextSequence(),
        core.progress().records(),
        core.progress().lost(),
        core.progress().time(),
        core.progress().end());
  }

  /** Whether the last chunk of the core was seen. */
  public boolean ended() {
    return end != CoreEnd.RUNNING;
  }
}
