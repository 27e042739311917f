package dev.retstack.graph.late;

import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.RecordBatch;
import java.nio.ByteBuffer;

/**
 * The records of a chunk, packed.
 *
 * @param position where the chunk stands in the log that it came from; negative where it has none
 * @param codec id of the codec that packed them, or nothing: rows as they are
 * @param count how many there are
 * @param payload as in the chunk; never changed
 */
@SuppressWarnings("ArrayRecordComponent") // handed over, never compared nor a key
public record PackedRecords(long position, String codec, int count, byte[] payload) {
  private static final String ROWS = "";

  /** Bytes of a row: kind, time, depth, four fields. */
  private static final int ROW_BYTES = 1 + 8 + 4 + 4 * 8;

  /** The records of a batch, whatever they are, as rows. */
  public static PackedRecords of(RecordBatch batch) {
    ByteBuffer rows = ByteBuffer.allocate(batch.size() * ROW_BYTES);
    for (int i = 0; i < batch.size(); i++) {
      rows.put(batch.kind[i]).putLong(batch.time[i]).putInt(batch.depth[i]);
      rows.putLong(batch.selfPc[i]).putLong(batch.fromPc[i]);
      rows.putLong(batch.retP[i]).putLong(batch.fp[i]);
    }
    return new PackedRecords(-1, ROWS, batch.size(), rows.array());
  }

  /**
   * Unpacks them.
   *
   * @param reuse a batch to fill; where it is too small a new one is made
   * @throws CorruptChunkException where the payload is not such records
   */
  RecordBatch unpack(RecordBatch reuse) throws CorruptChunkException {
    if (count < 0 || count > Chunks.RECORDS_MAX) {
      throw new CorruptChunkException("record count " + count);
    }
    RecordBatch batch = reuse.capacity() >= count ? reuse : new RecordBatch(count);
    if (codec.equals(ROWS)) {
      rows(batch);
    } else {
      Codecs.byId(codec).decode(payload, count, batch);
    }
    return batch;
  }

  private void rows(RecordBatch batch) throws CorruptChunkException {
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
