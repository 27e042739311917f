package dev.retstack.fleet.publish;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.file.TraceClaim;
import dev.retstack.schema.file.TraceFileWriter;
import java.io.IOException;
import java.nio.file.Path;

/** Writes a recorded trace; {@link #close} seals it. */
public final class FileChunkSink implements ChunkSink {
  private final TraceFileWriter writer;

  private FileChunkSink(TraceFileWriter writer) {
    this.writer = writer;
  }

  /** Begins a trace in that file; what it held before is gone. */
  public static FileChunkSink open(Path file) throws IOException {
    return new FileChunkSink(TraceFileWriter.open(file));
  }

  /** Writes into a file that stays held when this is closed. */
  public static FileChunkSink open(TraceClaim claim) throws IOException {
    return new FileChunkSink(TraceFileWriter.open(claim));
  }

  @Override
  public void image(Image image) throws IOException {
    writer.write(image);
  }

  @Override
  public void chunk(Chunk chunk) throws IOException {
    writer.write(chunk);
  }

  @Override
  public void close() throws IOException {
    writer.close();
  }
}
