package dev.retstack.simulation;

import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.simulation.model.ModelChunk;
import dev.retstack.simulation.model.ModelCore;

/** What is tested: it takes chunks and has a graph to show. */
interface Subject {
  ApplyResult apply(ModelChunk chunk);

  GraphState state();

  /** The product itself: chunks come over the wire, an image when it is asked for. */
  static Subject product() {
    return of(new GraphState());
  }

  static Subject of(GraphState state) {
    return of(state, Wire.ALL_CODECS);
  }

  static Subject of(GraphState state, Wire wire) {
    return new Subject() {
      @Override
      public ApplyResult apply(ModelChunk chunk) {
        RecordBatch received = wire.carry(chunk.meta().sequence(), chunk.batch());
        ApplyResult result = deliver(chunk, received);
        if (result == ApplyResult.NEEDS_IMAGE) {
          state.image(ModelCore.image());
          result = deliver(chunk, received);
        }
        return result;
      }

      private ApplyResult deliver(ModelChunk chunk, RecordBatch received) {
        return state.apply(chunk.meta(), chunk.core(), chunk.imageId(), received);
      }

      @Override
      public GraphState state() {
        return state;
      }
    };
  }
}
