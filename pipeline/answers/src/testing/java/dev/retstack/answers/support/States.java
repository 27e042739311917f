package dev.retstack.answers.support;

import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.codec.CorruptChunkException;
import java.util.List;

/** States filled from scripts by the code that fills them everywhere. */
public final class States {
  private States() {}

  /** The state after all chunks of these cores. */
  public static GraphState of(CoreScript... cores) {
    return of(List.of(cores));
  }

  /** The state after all chunks of these cores. */
  public static GraphState of(List<CoreScript> cores) {
    ChunkApplier applier = new ChunkApplier(new GraphState());
    for (CoreScript core : cores) {
      applier.image(core.image());
      for (Chunk chunk : core.chunks()) {
        try {
          if (applier.apply(chunk) != ApplyResult.APPLIED) {
            throw new AssertionError("not applied: " + chunk.getSequence());
          }
        } catch (CorruptChunkException e) {
          throw new AssertionError(e);
        }
      }
    }
    return applier.state();
  }
}
