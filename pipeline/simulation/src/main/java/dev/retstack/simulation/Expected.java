package dev.retstack.simulation;

import dev.retstack.graph.reconstruct.CoreEnd;
import dev.retstack.schema.codec.RecordBatch;

/**
 * What a reader must know of the records of one core, from the chunks that came, in their order.
 */
final class Expected {
  private long nextSequence;
  private long recordsBefore;
  private long records;
  private long lost;
  private boolean ended;

  /** A chunk came, unharmed. */
  void take(ModelChunk chunk) {
    if (chunk.meta().sequence() < nextSequence || ended) {
      return;
    }
    lost += chunk.meta().recordsBefore() - recordsBefore + chunk.meta().lostBefore();
    RecordBatch batch = chunk.batch();
    for (int i = 0; i < batch.size(); i++) {
      if (batch.kind[i] == RecordBatch.LOST) {
        lost += batch.selfPc[i];
      } else {
        records++;
      }
    }
    nextSequence = chunk.meta().sequence() + 1;
    recordsBefore = chunk.meta().recordsBefore() + batch.size();
    ended = chunk.meta().end() != CoreEnd.RUNNING;
  }

  /** Records that are in the graph. */
  long records() {
    return records;
  }

  /** Records that are known to be missing. */
  long lost() {
    return lost;
  }
}
