package dev.retstack.fleet;

import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.RecordBatch;
import java.io.IOException;

/** A sink that reads what it is given. */
public interface BatchSink extends ChunkSink {
  /** The records of a chunk. */
  void batch(Chunk chunk, RecordBatch batch);

  @Override
  default void image(Image image) {}

  @Override
  default void chunk(Chunk chunk) throws IOException {
    RecordBatch batch;
    try {
      batch = Chunks.decode(chunk);
    } catch (CorruptChunkException e) {
      throw new IOException(e);
    }
    batch(chunk, batch);
  }

  @Override
  default void close() {}
}
