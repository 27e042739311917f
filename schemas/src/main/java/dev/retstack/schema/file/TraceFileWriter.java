package dev.retstack.schema.file;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.TraceSeal;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.AvroGuard;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificDatumWriter;

/**
 * Writes a recorded trace: an Avro object container of {@link TraceEntry} in zstd, one block per
 * entry. Each block has reached the operating system before {@code write} returns. So a recorder
 * that is killed leaves a file that is readable up to there. {@link #close()} adds a seal, which
 * proves that no byte before it has changed. Safe for use by several threads.
 */
public final class TraceFileWriter implements Closeable {
  static {
    AvroGuard.trustOwnClasses();
  }

  private final Closeable claim;
  private final ChecksumOutput out;
  private final DataFileWriter<TraceEntry> container;
  private final SpecificDatumWriter<TraceEntry> datums =
      new SpecificDatumWriter<>(TraceEntry.getClassSchema());
  private final ByteArrayOutputStream entryBytes = new ByteArrayOutputStream(1 << 16);
  private BinaryEncoder encoder;
  private long entries;
  private boolean broken;
  private boolean closed;

  private TraceFileWriter(OutputStream file, byte[] sync, Closeable claim) throws IOException {
    this.claim = claim;
    out = new ChecksumOutput(file);
    container = new DataFileWriter<>(datums);
    container.setCodec(CodecFactory.zstandardCodec(TraceFormat.ZSTD_LEVEL, true));
    container.create(TraceEntry.getClassSchema(), out, sync);
    container.flush();
  }

  /**
   * Begins a trace in that file; what it held before is gone.
   *
   * @throws IOException also where another process, or this one, is writing a trace there
   */
  public static TraceFileWriter open(Path file) throws IOException {
    // without a marker given, Avro makes one of time and a random number
    return open(file, null);
  }

  /** As {@link #open(Path)}; the same marker and entries give the same bytes. */
  static TraceFileWriter open(Path file, byte[] sync) throws IOException {
    Closeable claim = claim(file);
    OutputStream out = OutputStream.nullOutputStream();
    try {
      out = Files.newOutputStream(file);
      return new TraceFileWriter(out, sync, claim);
    } catch (IOException | RuntimeException e) {
      out.close();
      claim.close();
      throw e;
    }
  }

  /** Holds a file for one writer, until it is closed; a pipe or a device may have several. */
  private static Closeable claim(Path file) throws IOException {
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      return () -> {};
    }
    FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    try {
      if (channel.tryLock() != null) {
        return channel;
      }
    } catch (OverlappingFileLockException e) {
      // by this process: the same answer
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
    channel.close();
    throw new IOException("another recording is being written there");
  }

  /** Writes an image; it must stand before the chunks that name it. */
  public synchronized void write(Image image) throws IOException {
    append(new TraceEntry(image, null, null));
  }

  /**
   * Writes a chunk.
   *
   * @throws IllegalArgumentException where {@link Chunks#check} refuses it: no reader would take it
   */
  public synchronized void write(Chunk chunk) throws IOException {
    try {
      Chunks.check(chunk);
    } catch (CorruptChunkException e) {
      throw new IllegalArgumentException("not written: " + e.getMessage(), e);
    }
    append(new TraceEntry(null, chunk, null));
  }

  /**
   * Seals and closes the file. After a failed write it is only closed: it stays readable up to the
   * failure, and the reader says that it was cut off.
   */
  @Override
  public synchronized void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    // the stream is closed by Avro's writer, or here where that one fails before it
    try (claim;
        out) {
      if (!broken) {
        append(new TraceEntry(null, null, new TraceSeal(entries, out.count(), out.crc32c())));
        container.close();
      }
    }
  }

  private void append(TraceEntry entry) throws IOException {
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
    container.appendEncoded(ByteBuffer.wrap(bytes));
    container.flush();
    broken = false;
    entries++;
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

  /** Counts and sums the bytes that have reached the file. */
  private static final class ChecksumOutput extends FilterOutputStream {
    private final CRC32C crc = new CRC32C();
    private long count;

    ChecksumOutput(OutputStream out) {
      super(out);
    }

    long count() {
      return count;
    }

    long crc32c() {
      return crc.getValue();
    }

    @Override
    public void write(int b) throws IOException {
      out.write(b);
      crc.update(b);
      count++;
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      out.write(bytes, from, length);
      crc.update(bytes, from, length);
      count += length;
    }
  }
}
