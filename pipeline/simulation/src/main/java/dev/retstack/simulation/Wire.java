package dev.retstack.simulation;

import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.ClockUnit;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.codec.ChunkCodec;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.simulation.model.ModelChunk;
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
          if (batch.keyframe() != null) {
            RecordBatch open = batch.keyframe().written();
            RecordBatch frames = new RecordBatch(open.size());
            codec.decode(codec.encode(open), open.size(), frames);
            received.setKeyframe(Keyframe.read(frames));
          }
          received.setImages(batch.images());
          return received;
        } catch (CorruptChunkException e) {
          throw new IllegalStateException(id + " does not read what it wrote", e);
        }
      };

  /** The whole chunk as a core sends it, packed by the codec whose turn it is. */
  static Chunk seal(ModelChunk chunk) {
    ChunkMeta meta = chunk.meta();
    List<String> ids = List.copyOf(Codecs.ids());
    Chunk.Builder builder =
        Chunk.newBuilder()
            .setSession(chunk.core().session())
            .setCore(chunk.core().core())
            .setIsa("model")
            .setImage(chunk.imageId())
            .setSequence(meta.sequence())
            .setFirstTime(meta.firstTime())
            .setLastTime(meta.lastTime())
            .setClockUnit(ClockUnit.valueOf(meta.unit().name()))
            .setRecordsBefore(meta.recordsBefore())
            .setLostBefore(meta.lostBefore())
            .setOverruns(meta.overruns())
            .setUnhijackable(meta.unhijackable())
            .setAbandoned(meta.abandoned())
            .setEnd(CoreEnd.valueOf(meta.end().name()))
            .setEndDetail(meta.endDetail())
            .setTask(meta.task())
            .setInterrupts(meta.interrupts());
    String codec = ids.get(Math.floorMod(meta.sequence(), ids.size()));
    try {
      return Chunks.seal(builder, Codecs.byId(codec), chunk.batch());
    } catch (CorruptChunkException e) {
      throw new IllegalStateException("no codec " + codec, e);
    }
  }

  /** The records as they come out at the other end. */
  RecordBatch carry(long sequence, RecordBatch batch);
}
