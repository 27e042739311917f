package dev.retstack.service.transfer;

import dev.retstack.answers.replay.InvalidTraceException;
import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.answers.replay.WindowChunks;
import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.file.TraceFileWriter;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.KafkaSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Copies what is on the topics now into a recorded trace: images first, then the chunks of each
 * partition in their order.
 */
public final class KafkaToTrace {
  /** Chunks of a window have this part of the heap. */
  private static final int HEAP_PART = 4;

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

  /**
   * Copies a window of some cores: the chunks from the last keyframe before it to the first one
   * behind it, core by core, with their images. All of the events topic is read: the times of cores
   * are not those of the log, which therefore cannot find them. The file takes its place when it is
   * complete.
   *
   * @param progress hears how far the topic was read
   * @throws InvalidTraceException where there is no such core, or the window does not fit in memory
   */
  public static Copied copy(
      KafkaSettings kafka,
      Topics topics,
      TraceReplay.Window window,
      Path file,
      TraceReplay.Progress progress)
      throws IOException, InterruptedException {
    Map<CoreKey, WindowChunks> cores = new TreeMap<>();
    long room = Runtime.getRuntime().maxMemory() / HEAP_PART;
    long[] read = {0, 0};
    long refused =
        TopicReader.readChunks(
            kafka,
            topics,
            chunk -> {
              if (window.core().test(ChunkApplier.key(chunk))) {
                Chunks.check(chunk);
                cores
                    .computeIfAbsent(
                        ChunkApplier.key(chunk), _ -> new WindowChunks(window.from(), window.to()))
                    .add(chunk, read[0]);
                if (cores.values().stream().mapToLong(WindowChunks::bytes).sum() > room) {
                  throw new InvalidTraceException(
                      "the window has more than %,d bytes of chunks: give a narrower one, or record the whole topic and cut that"
                          .formatted(room),
                      null);
                }
              }
              read[1] += chunk.getRecordCount();
              progress.advanced(++read[0], read[1]);
            });
    if (cores.isEmpty()) {
      throw new InvalidTraceException(
          "no such core in topic %s: %,d chunks of others are there"
              .formatted(topics.events(), read[0]),
          null);
    }
    List<Chunk> chunks = cores.values().stream().flatMap(of -> of.list(true).stream()).toList();
    return write(kafka, topics, chunks, file, refused);
  }

  private static Copied write(
      KafkaSettings kafka, Topics topics, List<Chunk> chunks, Path file, long refused)
      throws IOException, InterruptedException {
    Set<String> missing = new HashSet<>();
    chunks.forEach(chunk -> missing.add(chunk.getImage()));
    chunks.forEach(chunk -> missing.addAll(chunk.getImages()));
    Path part = file.resolveSibling(file.getFileName() + ".part");
    try {
      int wanted = missing.size();
      try (TraceFileWriter writer = TraceFileWriter.open(part)) {
        TopicReader.readImages(
            kafka,
            topics,
            image -> {
              if (missing.remove(image.getBuildId())) {
                writer.write(image);
              }
            });
        for (Chunk chunk : chunks) {
          if (missing.contains(chunk.getImage())) {
            throw InvalidTraceException.withoutImage(Path.of(topics.images()), chunk);
          }
          writer.write(chunk);
        }
      }
      Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
      return new Copied(
          wanted - missing.size(),
          chunks.size(),
          chunks.stream().mapToLong(Chunk::getRecordCount).sum(),
          refused);
    } finally {
      Files.deleteIfExists(part);
    }
  }
}
