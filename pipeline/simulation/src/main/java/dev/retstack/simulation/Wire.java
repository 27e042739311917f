package dev.retstack.simulation;

import dev.retstack.schema.codec.ChunkCodec;
import dev.retstack.schema.codec.Codecs;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.codec.RecordBatch;
import java.util.List;

/** What lies between a core and the graph: records are packed, and unpacked again. */
interface Wire {
  /** Each codec in turn, by the number of the chunk. */
  Wire ALL_CODECS =
      (sequence, batch) -> {
        List<String> ids = List.copyOf(Codecs.ids());
        String id = ids.get(Math.floorMod(sequence, ids.size()));
        try {
          ChunkCodec codec = Codecs.byId(id);
          RecordBatch received = new RecordBatch(batch.size());
          codec.decode(codec.encode(batch), batch.size(), received);
          return received;
        } catch (CorruptChunkException e) {
          throw new IllegalStateException(id + " does not read what it wrote", e);
        }
      };

  /** The records as they come out at the other end. */
  RecordBatch carry(long sequence, RecordBatch batch);
}
