package dev.retstack.schema.chunk;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.codec.CorruptChunkException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * CRC-32C over every field of a chunk but the checksum itself, in the order of the schema:
 *
 * <ul>
 *   <li>string: length of its UTF-8 bytes as 4 bytes, then those bytes; an enum likewise, by name
 *   <li>long: 8 bytes; int: 4 bytes
 *   <li>bytes: length as 4 bytes, then the bytes
 * </ul>
 *
 * All numbers are big-endian. A field added to the schema later joins at the end, and only where it
 * differs from its default, so that older chunks keep their sum: its name as a string, then its
 * value.
 */
public final class ChunkChecksum {
  private ChunkChecksum() {}

  /** The sum as an unsigned 32-bit number. */
  public static long compute(Chunk chunk) {
    Sum sum = new Sum();
    sum.string(chunk.getSession());
    sum.string(chunk.getCore());
    sum.string(chunk.getIsa());
    sum.string(chunk.getImage());
    sum.number(chunk.getSequence());
    sum.number(chunk.getFirstTime());
    sum.number(chunk.getLastTime());
    sum.string(chunk.getClockUnit().name());
    sum.number(chunk.getRecordCount());
    sum.number(chunk.getRecordsBefore());
    sum.number(chunk.getLostBefore());
    sum.number(chunk.getOverruns());
    sum.number(chunk.getUnhijackable());
    sum.string(chunk.getEnd().name());
    sum.string(chunk.getEndDetail());
    sum.string(chunk.getCodec());
    sum.bytes(chunk.getPayload());
    if (chunk.getTask() != 0) {
      sum.string("task");
      sum.number(chunk.getTask());
    }
    if (chunk.getInterrupts() != 0) {
      sum.string("interrupts");
      sum.number(chunk.getInterrupts());
    }
    if (chunk.getAbandoned() != 0) {
      sum.string("abandoned");
      sum.number(chunk.getAbandoned());
    }
    if (chunk.getKeyframeRecords() != Chunks.NO_KEYFRAME || chunk.getKeyframe().hasRemaining()) {
      sum.string("keyframe");
      sum.number(chunk.getKeyframeRecords());
      sum.bytes(chunk.getKeyframe());
    }
    if (!chunk.getImages().isEmpty()) {
      sum.string("images");
      sum.number(chunk.getImages().size());
      chunk.getImages().forEach(sum::string);
    }
    return sum.crc.getValue();
  }

  /**
   * Accepts a chunk whose fields still give its checksum.
   *
   * @throws CorruptChunkException otherwise, with both sums
   */
  public static void verify(Chunk chunk) throws CorruptChunkException {
    long computed = compute(chunk);
    if (computed != chunk.getChecksum()) {
      throw new CorruptChunkException(
          String.format(
              "checksum of chunk %d of core %s: expected %08x, received %08x",
              chunk.getSequence(), chunk.getCore(), computed, chunk.getChecksum()));
    }
  }

  private static final class Sum {
    private final CRC32C crc = new CRC32C();
    private final ByteBuffer word = ByteBuffer.allocate(Long.BYTES);

    void string(String value) {
      bytes(ByteBuffer.wrap(value.getBytes(StandardCharsets.UTF_8)));
    }

    void bytes(ByteBuffer value) {
      number(value.remaining());
      crc.update(value.duplicate());
    }

    void number(int value) {
      crc.update(word.clear().putInt(value).flip());
    }

    void number(long value) {
      crc.update(word.clear().putLong(value).flip());
    }
  }
}
