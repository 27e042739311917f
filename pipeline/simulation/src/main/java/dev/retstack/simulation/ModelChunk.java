package dev.retstack.simulation;

import dev.retstack.graph.aggregate.CoreKey;
import dev.retstack.graph.reconstruct.ChunkMeta;
import dev.retstack.schema.codec.RecordBatch;

/** A chunk on its way: what stands in the envelope and the records. */
record ModelChunk(CoreKey core, String imageId, ChunkMeta meta, RecordBatch batch) {
  /** The same chunk, beginning in another task. */
  ModelChunk in(long task, int interrupts) {
    return new ModelChunk(core, imageId, meta.in(task, interrupts), batch);
  }
}
