package dev.retstack.schema.codec;

/** Packs the records of one chunk into bytes and back, without loss of any field. Stateless. */
public interface ChunkCodec {
  /** Value of {@code Chunk.codec}. */
  String id();

  /** Packs all records of the batch. */
  byte[] encode(RecordBatch batch);

  /**
   * Unpacks exactly {@code count} records into {@code into}, which is cleared first.
   *
   * @throws CorruptChunkException when the bytes are not what {@link #encode} makes of {@code
   *     count} records; never any other exception, and never an allocation beyond what {@code
   *     count} asks for
   */
  void decode(byte[] payload, int count, RecordBatch into) throws CorruptChunkException;
}
