package dev.retstack.service.replay;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.codec.Chunks;
import dev.retstack.schema.file.TraceFileWriter;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.ingest.KafkaSettings;
import dev.retstack.service.ingest.TopicAdmin;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/**
 * Copies what is on the topics now into a recorded trace: images first, then the chunks of each
 * partition in their order. It reads outside of any group and changes nothing there.
 */
public final class KafkaToTrace {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

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
    Map<TopicPartition, Long> imageEnds;
    Map<TopicPartition, Long> eventEnds;
    try (TopicAdmin admin = new TopicAdmin(kafka, PATIENCE)) {
      eventEnds = admin.endOffsets(topics.events());
      imageEnds = admin.endOffsets(topics.images());
    }
    long[] images = {0};
    long[] chunks = {0};
    long[] records = {0};
    try (TraceFileWriter writer = TraceFileWriter.open(file)) {
      long refused =
          TopicReader.read(
              kafka,
              imageEnds,
              value -> {
                writer.write(ConfluentFrame.decode(value, Image.class));
                images[0]++;
              });
      refused +=
          TopicReader.read(
              kafka,
              eventEnds,
              value -> {
                Chunk chunk = ConfluentFrame.decode(value, Chunk.class);
                Chunks.check(chunk);
                writer.write(chunk);
                records[0] += chunk.getRecordCount();
                progress.advanced(++chunks[0], records[0]);
              });
      return new Copied(images[0], chunks[0], records[0], refused);
    }
  }
}
