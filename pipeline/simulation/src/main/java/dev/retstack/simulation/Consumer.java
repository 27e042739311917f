package dev.retstack.simulation;

import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.simulation.model.ModelCore;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * An owner of one partition. It begins with the content of the {@link Store}, reads from the
 * committed offset, and skips what the state already has.
 */
final class Consumer {
  private final SimulatedLog log;
  private final int partition;
  private final Store store;
  private final long epoch;
  private final ChunkApplier applier;
  private final Tampering tampering;
  private long position;

  /** Next offset that the state has not seen. */
  private long next;

  /** A defect to be planted between the log and the state. */
  interface Tampering {
    /** Chunks arrive as they are. */
    Tampering NONE = chunk -> chunk;

    Chunk of(Chunk chunk);
  }

  Consumer(SimulatedLog log, int partition, Store store, Tampering tampering) {
    this.log = log;
    this.partition = partition;
    this.store = store;
    this.tampering = tampering;
    this.epoch = store.take();
    this.applier = new ChunkApplier(stored(store.state()));
    this.next = store.next();
    this.position = store.committed();
  }

  GraphState state() {
    return applier.state();
  }

  /** Next offset that the state has not seen. */
  long next() {
    return next;
  }

  boolean atEnd() {
    return position >= log.end(partition);
  }

  /** Takes the record at its position, if there is one. */
  void poll() {
    if (atEnd()) {
      return;
    }
    if (position >= next) {
      apply(tampering.of(log.read(partition, position).wire()));
      next = position + 1;
    }
    position++;
  }

  private void apply(Chunk chunk) {
    try {
      if (applier.apply(chunk) == ApplyResult.NEEDS_IMAGE) {
        state().image(ModelCore.image());
        applier.apply(chunk);
      }
    } catch (CorruptChunkException e) {
      // counted by the applier, as a dead letter in the service
    }
  }

  /** Stores the state; false where another owner came. */
  boolean snapshot() {
    return store.put(epoch, next, state().copy());
  }

  void commit() {
    store.commit(epoch);
  }

  private static GraphState stored(byte[] bytes) {
    try {
      return bytes.length == 0
          ? new GraphState()
          : GraphState.ofCopy(bytes, GraphLimits.DEFAULT, StateBudget.UNLIMITED);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
