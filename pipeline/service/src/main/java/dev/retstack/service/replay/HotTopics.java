package dev.retstack.service.replay;

import dev.retstack.graph.aggregate.ImageInfo;
import dev.retstack.graph.hot.HotCores;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.codec.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.codec.RecordBatch;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.ingest.KafkaSettings;
import dev.retstack.service.ingest.TopicAdmin;
import dev.retstack.service.reconstruct.ChunkApplier;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/**
 * What is on the topics now into tables of hot addresses. Any kind of counter with any settings:
 * they belong to who asks, not to the pipeline, whose state would have to hold them for every core
 * from the beginning on.
 */
public final class HotTopics {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private HotTopics() {}

  /**
   * What was read.
   *
   * @param refused records that are not readable as images or chunks, or whose image is not there
   */
  public record Counted(long chunks, long records, long refused) {}

  /**
   * Reads up to where the topics end when this begins.
   *
   * @param cores filled
   */
  public static Counted read(
      KafkaSettings kafka, Topics topics, HotCores cores, TraceReplay.Progress progress)
      throws IOException, InterruptedException {
    Map<TopicPartition, Long> imageEnds;
    Map<TopicPartition, Long> eventEnds;
    try (TopicAdmin admin = new TopicAdmin(kafka, PATIENCE)) {
      eventEnds = admin.endOffsets(topics.events());
      imageEnds = admin.endOffsets(topics.images());
    }
    Map<String, ImageInfo> images = new HashMap<>();
    long refused =
        TopicReader.read(
            kafka,
            imageEnds,
            value -> {
              Image image = ConfluentFrame.decode(value, Image.class);
              images.putIfAbsent(image.getBuildId(), ChunkApplier.info(image));
            });
    long[] chunks = {0};
    long[] records = {0};
    RecordBatch[] batch = {new RecordBatch(0)};
    refused +=
        TopicReader.read(
            kafka,
            eventEnds,
            value -> {
              Chunk chunk = ConfluentFrame.decode(value, Chunk.class);
              ImageInfo image = images.get(chunk.getImage());
              if (image == null) {
                throw new CorruptChunkException("no image " + chunk.getImage());
              }
              batch[0] = Chunks.decode(chunk, batch[0]);
              cores.apply(ChunkApplier.meta(chunk), ChunkApplier.key(chunk), image, batch[0]);
              records[0] += batch[0].size();
              progress.advanced(++chunks[0], records[0]);
            });
    return new Counted(chunks[0], records[0], refused);
  }
}
