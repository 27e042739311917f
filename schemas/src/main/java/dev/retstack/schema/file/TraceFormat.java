package dev.retstack.schema.file;

import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.wire.ConfluentFrame;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/** Numbers and headers of the recorded trace, which {@code schemas/README.md} draws. */
final class TraceFormat {
  static final String CODEC = "zstandard";
  static final int ZSTD_LEVEL = 3;
  static final int SYNC_BYTES = 16;

  /** Bytes of an entry in Avro binary at most: as many as a Kafka message of it has. */
  static final int ENTRY_BYTES_MAX = ConfluentFrame.MESSAGE_BYTES_MAX;

  /** Bytes of a block at most: an entry that zstd could not make smaller. */
  static final int BLOCK_BYTES_MAX = ENTRY_BYTES_MAX + (1 << 17);

  /** The block of a seal, and the marker before it, at most: 71 and 16 bytes. */
  static final int SEAL_BYTES_MAX = 128;

  /** Only byte that may follow zstd's magic: checksum, size not stated, no dictionary. */
  static final int ZSTD_DESCRIPTOR = 0b0000_0100;

  /** The window of level 3, 2 MiB; fixed, since a changed one would go unnoticed. */
  static final int ZSTD_WINDOW = 0x58;

  private static final byte[] MAGIC = {'O', 'b', 'j', 1};

  /**
   * All headers a trace may begin with, without the sync marker, and the schema each announces: one
   * per known version of {@code TraceEntry} and order of the two metadata entries. No header begins
   * another.
   */
  static final List<byte[]> HEADERS = List.of(headerBytes(true), headerBytes(false));

  private TraceFormat() {}

  private static byte[] headerBytes(boolean schemaFirst) {
    SequencedMap<String, String> metadata = new LinkedHashMap<>();
    metadata.put("avro.schema", TraceEntry.schemaText());
    metadata.put("avro.codec", CODEC);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(MAGIC);
    putLong(out, metadata.size());
    (schemaFirst ? metadata : metadata.reversed())
        .forEach(
            (key, value) -> {
              putString(out, key);
              putString(out, value);
            });
    putLong(out, 0);
    return out.toByteArray();
  }

  private static void putString(ByteArrayOutputStream out, String value) {
    byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
    putLong(out, bytes.length);
    out.writeBytes(bytes);
  }

  /** A non-negative number in Avro's zigzag form. */
  static void putLong(ByteArrayOutputStream out, long value) {
    long rest = value << 1;
    while (rest > 0x7f) {
      out.write((int) ((rest & 0x7f) | 0x80));
      rest >>>= 7;
    }
    out.write((int) rest);
  }
}
