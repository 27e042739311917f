package dev.retstack.service.checkpoint;

import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.codec.ZstdBytes;
import dev.retstack.service.kafka.OtherVersionException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * A part of a state as records small enough for any broker.
 *
 * <pre>
 * record, big-endian   magic "RSCP"  u8 version  u32 crc32c  u32 pieces  u32 rawBytes  bytes...
 * </pre>
 *
 * A part of more than {@link #PIECE_BYTES} is cut into pieces, each a record. The bytes of a piece
 * are packed by zstd where that makes them fewer: then they are not {@code rawBytes}. The CRC-32C
 * is over all behind it.
 */
final class CheckpointCodec {
  /** Cure for a state that this release cannot read. */
  static final String CURE = "begin again with another --group";

  /**
   * Bytes of a piece: with its header and as a batch it stays below half of G1's smallest region,
   * for which see {@link dev.retstack.graph.snapshot.ByteOutput}, and below Kafka's default limit.
   */
  static final int PIECE_BYTES = 384 << 10;

  /** Fewer bytes do not become fewer by much. */
  private static final int PACKED_FROM = 256;

  private static final int MAGIC = 0x52534350;
  private static final byte VERSION = 1;
  private static final int SUMMED_FROM = 4 + 1 + 4;
  private static final int HEADER_BYTES = SUMMED_FROM + 4 + 4;

  private CheckpointCodec() {}

  /** The records of a part, at least one. */
  static List<byte[]> encode(byte[] part) {
    int pieces = Math.max(1, Math.ceilDiv(part.length, PIECE_BYTES));
    List<byte[]> records = new ArrayList<>(pieces);
    for (int piece = 0; piece < pieces; piece++) {
      int from = piece * PIECE_BYTES;
      byte[] raw =
          pieces == 1
              ? part
              : Arrays.copyOfRange(part, from, Math.min(part.length, from + PIECE_BYTES));
      byte[] packed = raw.length < PACKED_FROM ? raw : ZstdBytes.pack(raw);
      byte[] bytes = packed.length < raw.length ? packed : raw;
      byte[] record = new byte[HEADER_BYTES + bytes.length];
      ByteBuffer out = ByteBuffer.wrap(record);
      out.putInt(MAGIC).put(VERSION).putInt(0).putInt(pieces).putInt(raw.length).put(bytes);
      out.putInt(SUMMED_FROM - Integer.BYTES, sum(record));
      records.add(record);
    }
    return records;
  }

  private static int sum(byte[] record) {
    CRC32C sum = new CRC32C();
    sum.update(record, SUMMED_FROM, record.length - SUMMED_FROM);
    return (int) sum.getValue();
  }

  /** A record of a part. */
  @SuppressWarnings("ArrayRecordComponent") // handed over once, never compared nor a key
  record Piece(int pieces, byte[] bytes) {}

  /**
   * Reads a record.
   *
   * @throws CorruptCheckpointException when it is none, or damaged
   * @throws OtherVersionException when it is of another version
   */
  static Piece decode(byte[] record) throws IOException {
    ByteBuffer in = check(record);
    int pieces = in.getInt(SUMMED_FROM);
    int raw = in.getInt(SUMMED_FROM + Integer.BYTES);
    byte[] bytes = Arrays.copyOfRange(record, HEADER_BYTES, record.length);
    if (pieces < 1 || raw < 0 || raw > PIECE_BYTES || bytes.length > raw) {
      throw new CorruptCheckpointException(
          "a record of a checkpoint claims %d bytes in %d pieces and has %d"
              .formatted(raw, pieces, bytes.length));
    }
    if (bytes.length == raw) {
      return new Piece(pieces, bytes);
    }
    try {
      return new Piece(pieces, ZstdBytes.unpack(bytes, raw));
    } catch (CorruptChunkException e) {
      throw new CorruptCheckpointException(
          "a record of a checkpoint does not unpack: " + e.getMessage());
    }
  }

  private static ByteBuffer check(byte[] record) throws IOException {
    ByteBuffer in = ByteBuffer.wrap(record);
    if (record.length < HEADER_BYTES || in.getInt() != MAGIC) {
      throw new CorruptCheckpointException(
          "%d bytes are in the place of a checkpoint".formatted(record.length));
    }
    byte version = in.get();
    if (version != VERSION) {
      throw new OtherVersionException("a checkpoint", version & 0xff, VERSION, CURE);
    }
    if (in.getInt() != sum(record)) {
      throw new CorruptCheckpointException("a record of a checkpoint fails its checksum");
    }
    return in;
  }
}
