package dev.retstack.schema.file;

import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.AvroGuard;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificDatumWriter;

/** Writes entries of a trace, a block for each, and sums what it has written. */
final class TraceOutput implements Closeable {
  static {
    AvroGuard.trustOwnClasses();
  }

  private final ChecksumOutput out;
  private final DataFileWriter<TraceEntry> container;
  private final SpecificDatumWriter<TraceEntry> datums =
      new SpecificDatumWriter<>(TraceEntry.getClassSchema());
  private final ByteArrayOutputStream entryBytes = new ByteArrayOutputStream(1 << 16);
  private BinaryEncoder encoder;
  private boolean broken;

  /**
   * Begins a trace.
   *
   * @param sync the marker; null for any
   */
  TraceOutput(OutputStream file, byte[] sync) throws IOException {
    this(new ChecksumOutput(file), sync);
  }

  private TraceOutput(ChecksumOutput out, byte[] sync) throws IOException {
    this.out = out;
    container = new DataFileWriter<>(datums);
    container.setCodec(CodecFactory.zstandardCodec(TraceFormat.ZSTD_LEVEL, true));
    container.create(TraceEntry.getClassSchema(), out, sync);
    container.flush();
  }

  /** Goes on with a trace that has begun, from its end. */
  static TraceOutput behind(OutputStream file, byte[] sync) throws IOException {
    ChecksumOutput out = new ChecksumOutput(OutputStream.nullOutputStream());
    TraceOutput output = new TraceOutput(out, sync);
    out.turnTo(file);
    return output;
  }

  /** Bytes written so far. */
  long count() {
    return out.count;
  }

  /** Of all that was written. */
  long crc32c() {
    return out.crc.getValue();
  }

  /** Of the entry that was written last. */
  long blockCrc32c() {
    return out.blockCrc.getValue();
  }

  /** Whether a write failed. */
  boolean isBroken() {
    return broken;
  }

  /** Writes an entry; it has reached the file on return. */
  void append(TraceEntry entry) throws IOException {
    if (broken) {
      throw new IOException("an earlier write failed: the trace ends there");
    }
    entryBytes.reset();
    encoder = EncoderFactory.get().binaryEncoder(entryBytes, encoder);
    datums.write(entry, encoder);
    encoder.flush();
    byte[] bytes = entryBytes.toByteArray();
    refuseUnreadable(bytes);
    broken = true;
    out.blockCrc.reset();
    container.appendEncoded(ByteBuffer.wrap(bytes));
    container.flush();
    broken = false;
  }

  /** What the reader would refuse must not be written, or a user finds out too late. */
  private static void refuseUnreadable(byte[] bytes) {
    if (bytes.length > TraceFormat.ENTRY_BYTES_MAX) {
      throw new IllegalArgumentException(
          "entry of "
              + bytes.length
              + " bytes: at most "
              + TraceFormat.ENTRY_BYTES_MAX
              + " can be read back");
    }
    try {
      AvroGuard.check(TraceEntry.getClassSchema(), bytes, 0, bytes.length);
    } catch (CorruptChunkException e) {
      throw new IllegalArgumentException("entry could not be read back: " + e.getMessage(), e);
    }
  }

  @Override
  public void close() throws IOException {
    // the stream is closed by Avro's writer, or here where that one fails before it
    try (out) {
      if (!broken) {
        container.close();
      }
    }
  }

  /** Counts and sums the bytes that have reached the file. */
  private static final class ChecksumOutput extends FilterOutputStream {
    private final CRC32C crc = new CRC32C();
    private final CRC32C blockCrc = new CRC32C();
    private long count;

    ChecksumOutput(OutputStream out) {
      super(out);
    }

    void turnTo(OutputStream file) {
      out = file;
      count = 0;
    }

    @Override
    public void write(int b) throws IOException {
      out.write(b);
      crc.update(b);
      blockCrc.update(b);
      count++;
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      out.write(bytes, from, length);
      crc.update(bytes, from, length);
      blockCrc.update(bytes, from, length);
      count += length;
    }
  }
}
