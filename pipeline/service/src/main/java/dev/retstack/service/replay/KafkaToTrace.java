package dev.retstack.service.replay;

import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.file.TraceFileWriter;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.KafkaSettings;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Copies what is on the topics now into a recorded trace: images first, then the chunks of each
 * partition in their order.
 */
public final class KafkaToTrace {
  private KafkaToTrace() {}

  /**
   * What was copied.
   *
   * @param refused records that are not readable as images or chunks, left out
   */
  public record Copied(long images, long chunks, long records, long refused) {}

  /** Copies up to where the topics end when this begins. */
  public static Copied copy(
      KafkaSettings kafka, Topics topics, Path file, TraceReplay.Progress progress)
      throws IOException, InterruptedException {
    long[] images = {0};
    long[] chunks = {0};
    long[] records = {0};
    try (TraceFileWriter writer = TraceFileWriter.open(file)) {
      long refused =
          TopicReader.read(
              kafka,
              topics,
              image -> {
                writer.write(image);
                images[0]++;
              },
              chunk -> {
                Chunks.check(chunk);
                writer.write(chunk);
                records[0] += chunk.getRecordCount();
                progress.advanced(++chunks[0], records[0]);
              });
      return new Copied(images[0], chunks[0], records[0], refused);
    }
  }
}
