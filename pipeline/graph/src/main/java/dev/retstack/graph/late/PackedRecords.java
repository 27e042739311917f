package dev.retstack.graph.late;

import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * The records of a chunk and its keyframe, packed.
 *
 * @param position where the chunk stands in the log that it came from; negative where it has none
 * @param codec id of the codec that packed them, or nothing: rows as they are
 * @param count how many there are
 * @param payload as in the chunk; never changed
 * @param keyframeCount records of the keyframe; {@link Chunks#NO_KEYFRAME} where there is none
 * @param keyframe as in the chunk; never changed
 * @param images build-ids that MAP records name by their index
 */
@SuppressWarnings("ArrayRecordComponent") // handed over, never compared nor a key
public record PackedRecords(
    long position,
    String codec,
    int count,
    byte[] payload,
    int keyframeCount,
    byte[] keyframe,
    List<String> images) {
  private static final String ROWS = "";

  /** Bytes of a row: kind, time, depth, four fields. */
  private static final int ROW_BYTES = 1 + 8 + 4 + 4 * 8;

  /** The records of a batch, whatever they are, as rows. */
  public static PackedRecords of(RecordBatch batch) {
    RecordBatch open = batch.keyframe() == null ? null : batch.keyframe().written();
    return new PackedRecords(
        -1,
        ROWS,
        batch.size(),
        rows(batch),
        open == null ? Chunks.NO_KEYFRAME : open.size(),
        open == null ? new byte[0] : rows(open),
        List.copyOf(batch.images()));
  }

  private static byte[] rows(RecordBatch batch) {
    ByteBuffer rows = ByteBuffer.allocate(batch.size() * ROW_BYTES);
    for (int i = 0; i < batch.size(); i++) {
      rows.put(batch.kind[i]).putLong(batch.time[i]).putInt(batch.depth[i]);
      rows.putLong(batch.selfPc[i]).putLong(batch.fromPc[i]);
      rows.putLong(batch.retP[i]).putLong(batch.fp[i]);
    }
    return rows.array();
  }

  /**
   * Unpacks them.
   *
   * @param reuse a batch to fill; where it is too small a new one is made
   * @param meta of the chunk
   * @throws CorruptChunkException where the payload is not such records
   */
  RecordBatch unpack(RecordBatch reuse, ChunkMeta meta) throws CorruptChunkException {
    RecordBatch batch = unpack(count, Chunks.RECORDS_MAX, payload, reuse);
    batch.setKeyframe(null);
    batch.setImages(images);
    if (keyframeCount != Chunks.NO_KEYFRAME) {
      Keyframe open =
          Keyframe.read(unpack(keyframeCount, Keyframe.RECORDS_MOST, keyframe, new RecordBatch(0)));
      String fault =
          open.fault(
              images.size(), meta.firstTime(), meta.task(), meta.interrupts(), Chunks.DEPTH_MAX);
      if (!fault.isEmpty()) {
        throw new CorruptChunkException("keyframe: " + fault);
      }
      batch.setKeyframe(open);
    }
    return batch;
  }

  private RecordBatch unpack(int records, int most, byte[] bytes, RecordBatch reuse)
      throws CorruptChunkException {
    if (records < 0 || records > most) {
      throw new CorruptChunkException("record count " + records);
    }
    RecordBatch batch = reuse.capacity() >= records ? reuse : new RecordBatch(records);
    if (codec.equals(ROWS)) {
      rows(records, bytes, batch);
    } else {
      Codecs.byId(codec).decode(bytes, records, batch);
    }
    return batch;
  }

  private static void rows(int count, byte[] payload, RecordBatch batch)
      throws CorruptChunkException {
    if (payload.length != count * ROW_BYTES) {
      throw new CorruptChunkException(payload.length + " bytes of " + count + " rows");
    }
    ByteBuffer rows = ByteBuffer.wrap(payload);
    batch.clear();
    for (int i = 0; i < count; i++) {
      batch.add(
          rows.get(),
          rows.getLong(),
          rows.getInt(),
          rows.getLong(),
          rows.getLong(),
          rows.getLong(),
          rows.getLong());
    }
  }
}
