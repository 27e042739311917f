package dev.retstack.schema.codec;

import dev.retstack.schema.record.RecordBatch;

/**
 * Packs the records of one chunk into bytes and unpacks them, without loss of any field. Stateless.
 */
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

  /**
   * Empties a batch that is to take {@code count} records.
   *
   * @throws CorruptChunkException where it has no room for {@code count} records
   */
  static void clear(RecordBatch into, int count) throws CorruptChunkException {
    into.clear();
    if (count < 0 || count > into.capacity()) {
      throw new CorruptChunkException(
          "record count " + count + " is outside 0 to " + into.capacity() + ", the batch's room");
    }
  }
}
