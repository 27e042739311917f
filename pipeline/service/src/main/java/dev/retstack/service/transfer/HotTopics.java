package dev.retstack.service.transfer;

import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.graph.hot.HotCores;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.KafkaSettings;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/**
 * Counts what is on the topics now into tables of hot addresses. Kinds and settings of counters are
 * the caller's. If the pipeline counted, its state would hold them for every core from the start.
 */
public final class HotTopics {
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
      KafkaSettings kafka,
      Topics topics,
      HotCores cores,
      LateSymbols names,
      TraceReplay.Progress progress)
      throws IOException, InterruptedException {
    Map<String, ImageInfo> images = new HashMap<>();
    long[] chunks = {0};
    long[] records = {0};
    RecordBatch[] batch = {new RecordBatch(0)};
    long refused =
        TopicReader.read(
            kafka,
            topics,
            image -> images.put(image.getBuildId(), names.name(ChunkApplier.info(image))),
            chunk -> {
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
