package dev.retstack.fleet.publish;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.file.TraceClaim;
import dev.retstack.schema.file.TraceFileWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;

/**
 * Writes recorded traces one after the other, each whole: with the images that its chunks need, an
 * index and a seal. Merged they are what one file would have been. Images are kept in memory, as
 * any file may need them.
 */
public final class RotatingChunkSink implements ChunkSink {
  private final IntFunction<Path> names;
  private final Limit limit;
  private final LongSupplier clock;
  private final Map<String, Image> images = new LinkedHashMap<>();
  private final Set<String> written = new HashSet<>();
  private TraceFileWriter writer;
  private int number;
  private long begun;
  private boolean hasChunks;
  private boolean closed;

  /**
   * When a file is full; the next chunk begins another one.
   *
   * @param bytes written into it
   * @param nanos since it was begun
   */
  public record Limit(long bytes, long nanos) {}

  private RotatingChunkSink(IntFunction<Path> names, Limit limit, LongSupplier clock) {
    this.names = names;
    this.limit = limit;
    this.clock = clock;
  }

  /**
   * Begins the first file; what it held before is gone, as with each file that follows.
   *
   * @param first the first file: it stays held when this is closed, so that another recording under
   *     these names does not begin
   * @param names of the files, which are numbered from 1
   * @param clock in nanoseconds
   */
  public static RotatingChunkSink open(
      TraceClaim first, IntFunction<Path> names, Limit limit, LongSupplier clock)
      throws IOException {
    RotatingChunkSink sink = new RotatingChunkSink(names, limit, clock);
    sink.begin(TraceFileWriter.open(first));
    return sink;
  }

  private void begin(TraceFileWriter file) {
    number++;
    hasChunks = false;
    written.clear();
    begun = clock.getAsLong();
    writer = file;
  }

  /** The file that is written now, or was last. */
  public synchronized Path file() {
    return names.apply(number);
  }

  /** Files so far. */
  public synchronized int files() {
    return number;
  }

  @Override
  public synchronized void image(Image image) throws IOException {
    images.putIfAbsent(image.getBuildId(), image);
    if (number == 1) {
      write(image.getBuildId());
    }
  }

  private void write(String image) throws IOException {
    if (images.containsKey(image) && written.add(image)) {
      writer.write(images.get(image));
    }
  }

  @Override
  public synchronized void chunk(Chunk chunk) throws IOException {
    boolean isFull = writer.bytes() >= limit.bytes() || clock.getAsLong() - begun >= limit.nanos();
    if (isFull && hasChunks && !closed) { // an image may be larger than the limit
      writer.close();
      begin(TraceFileWriter.open(names.apply(number + 1)));
    }
    write(chunk.getImage());
    for (String other : chunk.getImages()) {
      write(other);
    }
    writer.write(chunk);
    hasChunks = true;
  }

  @Override
  public synchronized void close() throws IOException {
    closed = true;
    writer.close();
  }
}
