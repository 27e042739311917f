package dev.retstack.simulation;

import dev.retstack.graph.losses.Loss;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.simulation.model.ModelChunk;
import java.util.ArrayList;
import java.util.List;

/**
 * What a reader must know of one core's records after these chunks came in any order. A chunk that
 * comes behind a later one does not count.
 */
final class Expected {
  private final List<Loss> losses = new ArrayList<>();
  private long nextSequence;
  private long recordsBefore;
  private long records;
  private long time;

  /** A chunk came, unharmed. */
  void take(ModelChunk chunk) {
    if (chunk.meta().sequence() >= nextSequence) {
      next(chunk);
    }
  }

  private void next(ModelChunk chunk) {
    long sequence = chunk.meta().sequence();
    long before = chunk.meta().recordsBefore();
    if (sequence > nextSequence) {
      long from = time;
      time = Math.max(time, chunk.meta().firstTime());
      losses.add(
          new Loss(
              Loss.Kind.MISSING,
              nextSequence,
              sequence,
              recordsBefore,
              before - recordsBefore,
              from,
              time));
    }
    if (chunk.meta().lostBefore() > 0) {
      dropped(chunk.meta().firstTime(), chunk.meta().lostBefore(), sequence, before);
    }
    RecordBatch batch = chunk.batch();
    for (int i = 0; i < batch.size(); i++) {
      if (batch.kind[i] == RecordBatch.LOST) {
        dropped(batch.time[i], batch.selfPc[i], sequence, before + i + 1);
      } else {
        time = Math.max(time, batch.time[i]);
        records++;
      }
    }
    nextSequence = sequence + 1;
    recordsBefore = before + batch.size();
  }

  private void dropped(long when, long count, long sequence, long record) {
    long from = time;
    time = Math.max(time, when);
    losses.add(new Loss(Loss.Kind.DROPPED, sequence, sequence, record, count, from, time));
  }

  /** Records that are in the graph. */
  long records() {
    return records;
  }

  /** Records that are known to be missing. */
  long lost() {
    return losses.stream().mapToLong(Loss::records).sum();
  }

  /** Where they are missing. */
  List<Loss> losses() {
    return losses;
  }
}
