package dev.retstack.service.transfer;

import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.file.TraceFileReader;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicAdmin;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;

/** Sends a recorded trace as the fleet would: images, then chunks, with the same keys. */
public final class TraceToKafka {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private TraceToKafka() {}

  /**
   * What was sent.
   *
   * @param notice one sentence: where the file was cut off, or that its index is wrong; empty = all
   *     is well
   */
  public record Sent(long images, long chunks, long records, String notice) {}

  /**
   * Sends a whole trace and waits until Kafka has it. Creates the topics that are missing.
   *
   * @param partitions partitions of the events topic where it has to be created
   */
  public static Sent send(
      Path file, KafkaSettings kafka, Topics topics, int partitions, TraceReplay.Progress progress)
      throws IOException, InterruptedException {
    try (TopicAdmin admin = new TopicAdmin(kafka, PATIENCE)) {
      admin.ensure(topics, partitions);
    }
    long images = 0;
    long chunks = 0;
    long records = 0;
    try (TraceFileReader reader = TraceFileReader.open(file);
        TraceProducer producer = new TraceProducer(kafka, topics)) {
      for (TraceEntry entry = reader.next(); entry != null; entry = reader.next()) {
        if (entry.getImage() != null) {
          producer.image(entry.getImage());
          images++;
        } else if (entry.getChunk() != null) {
          producer.chunk(entry.getChunk());
          records += entry.getChunk().getRecordCount();
          progress.advanced(++chunks, records);
        }
      }
      producer.flush();
      return new Sent(images, chunks, records, reader.notice());
    }
  }
}
