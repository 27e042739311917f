package dev.retstack.simulation;

import dev.retstack.graph.aggregate.ApplyResult;
import dev.retstack.graph.aggregate.GraphState;

/** What is tested: something that takes chunks and has a graph to show. */
interface Subject {
  ApplyResult apply(ModelChunk chunk);

  GraphState state();

  /** The product itself; it fetches an image when it is asked for. */
  static Subject product() {
    return of(new GraphState());
  }

  static Subject of(GraphState state) {
    return new Subject() {
      @Override
      public ApplyResult apply(ModelChunk chunk) {
        ApplyResult result = deliver(chunk);
        if (result == ApplyResult.NEEDS_IMAGE) {
          state.image(ModelCore.image());
          result = deliver(chunk);
        }
        return result;
      }

      private ApplyResult deliver(ModelChunk chunk) {
        return state.apply(chunk.meta(), chunk.core(), chunk.imageId(), chunk.batch());
      }

      @Override
      public GraphState state() {
        return state;
      }
    };
  }
}
