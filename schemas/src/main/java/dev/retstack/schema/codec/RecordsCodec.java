package dev.retstack.schema.codec;

import dev.retstack.schema.record.RecordBatch;

/**
 * Codec {@code records}: the Avro binary form of {@code TraceRecords}, which any Avro client reads.
 * It is written and read by hand, field by field, because this happens millions of times a second.
 *
 * <p>An array in Avro is a row of blocks: a count, then as many items; a block of count 0 ends it.
 * This codec writes all records as one block, and reads nothing else.
 */
public final class RecordsCodec implements ChunkCodec {
  /** Longest record: kind 1, time 10, depth 5, four addresses of 10. */
  private static final int RECORD_BYTES_MAX = 56;

  /** Shortest record: seven fields of one byte. */
  private static final int RECORD_BYTES_MIN = 7;

  @Override
  public String id() {
    return "records";
  }

  @Override
  public byte[] encode(RecordBatch batch) {
    int count = batch.size();
    ByteSink sink = new ByteSink(32 * count + 16);
    if (count > 0) {
      sink.zigzag(count);
    }
    for (int i = 0; i < count; i++) {
      sink.reserve(RECORD_BYTES_MAX + 1);
      sink.zigzag(batch.kind[i]);
      sink.zigzag(batch.time[i]);
      sink.zigzag(batch.depth[i]);
      sink.zigzag(batch.selfPc[i]);
      sink.zigzag(batch.fromPc[i]);
      sink.zigzag(batch.retP[i]);
      sink.zigzag(batch.fp[i]);
    }
    sink.put(0);
    return sink.toByteArray();
  }

  @Override
  public void decode(byte[] payload, int count, RecordBatch into) throws CorruptChunkException {
    ChunkCodec.clear(into, count);
    ByteSource source = new ByteSource(payload, 0, payload.length);
    if (count > 0) {
      long stated = source.zigzag();
      if (stated != count) {
        throw new CorruptChunkException("payload holds " + stated + " records, not " + count);
      }
      if (source.remaining() / RECORD_BYTES_MIN < count) {
        throw new CorruptChunkException(
            count + " records do not fit in " + source.remaining() + " bytes");
      }
    }
    for (int i = 0; i < count; i++) {
      long kind = source.zigzag();
      if (!RecordBatch.isKind(kind)) {
        throw new CorruptChunkException("record " + i + " is of unknown kind " + kind);
      }
      long time = source.zigzag();
      long depth = source.zigzag();
      if (depth != (int) depth) {
        throw new CorruptChunkException("record " + i + " has depth " + depth + " beyond 32 bits");
      }
      into.add(
          (byte) kind,
          time,
          (int) depth,
          source.zigzag(),
          source.zigzag(),
          source.zigzag(),
          source.zigzag());
    }
    if (source.varint() != 0) {
      throw new CorruptChunkException("more records follow the " + count + " that were announced");
    }
    source.checkEnd();
  }
}
