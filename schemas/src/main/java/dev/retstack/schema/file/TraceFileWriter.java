package dev.retstack.schema.file;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.TraceSeal;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;

/**
 * Writes a recorded trace: an Avro object container of {@link TraceEntry} in zstd, one block per
 * entry. Each block has reached the operating system before {@code write} returns. So a recorder
 * that is killed leaves a file that is readable up to there. {@link #close()} adds the index of the
 * chunks, and a seal, which proves that no byte before it has changed. Memory is bounded: see
 * {@link TraceIndex}. Safe for use by several threads.
 */
public final class TraceFileWriter implements Closeable {
  private final Closeable claim;
  private final TraceOutput out;
  private final TraceIndex index = new TraceIndex();
  private long entries;
  private boolean cut;
  private boolean closed;

  private TraceFileWriter(OutputStream file, byte[] sync, Closeable claim) throws IOException {
    this.claim = claim;
    out = TraceOutput.begin(file, sync);
  }

  /**
   * Begins a trace in that file; what it held before is gone.
   *
   * @throws IOException also where another process, or this one, is writing a trace there
   */
  public static TraceFileWriter open(Path file) throws IOException {
    return open(file, null);
  }

  /** Begins a trace in a file that stays held when the trace is closed. */
  public static TraceFileWriter open(TraceClaim claim) throws IOException {
    return new TraceFileWriter(claim.begin(), null, () -> {});
  }

  /** Begins a trace in a stream, which is closed with it. */
  public static TraceFileWriter to(OutputStream out) throws IOException {
    return new TraceFileWriter(out, null, () -> {});
  }

  /** As {@link #open(Path)}; the same marker and entries give the same bytes. */
  static TraceFileWriter open(Path file, byte[] sync) throws IOException {
    TraceClaim claim = TraceClaim.of(file);
    try {
      return new TraceFileWriter(claim.begin(), sync, claim);
    } catch (IOException | RuntimeException e) {
      claim.close();
      throw e;
    }
  }

  /** Writes an image; it must stand before the chunks that name it. */
  public synchronized void write(Image image) throws IOException {
    long position = out.count();
    out.append(new TraceEntry(image, null, null, null, null, null));
    index.add(image, position, out.count());
    entries++;
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
    long position = out.count();
    out.append(new TraceEntry(null, chunk, null, null, null, null));
    index.add(chunk, position, out.count());
    entries++;
  }

  /** What is written here was cut off where it came from: the seal says so to every reader. */
  public synchronized void setCut() {
    cut = true;
  }

  /** Bytes that the file has now; index and seal come last. */
  public synchronized long bytes() {
    return out.count();
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
    try (claim;
        out) {
      if (!out.isBroken()) {
        long bytes = out.count();
        long crc = out.crc32c();
        out.append(new TraceEntry(null, null, index.toBlock(), null, null, null));
        TraceSeal seal = new TraceSeal(entries, bytes, crc, out.blockCrc32c(), 0L, 0L, cut);
        out.append(new TraceEntry(null, null, null, seal, null, null));
      }
    }
  }
}
