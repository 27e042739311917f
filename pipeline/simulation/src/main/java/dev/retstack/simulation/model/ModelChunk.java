package dev.retstack.simulation.model;

import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.schema.record.RecordBatch;

/** A chunk on its way: its envelope and its records. */
public record ModelChunk(CoreKey core, String imageId, ChunkMeta meta, RecordBatch batch) {
  /** This chunk, beginning in another task. */
  ModelChunk in(long task, int interrupts) {
    return new ModelChunk(core, imageId, meta.in(task, interrupts), batch);
  }
}
