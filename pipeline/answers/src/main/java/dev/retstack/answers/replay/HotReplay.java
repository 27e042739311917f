package dev.retstack.answers.replay;

import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.graph.hot.HotCores;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.graph.input.OtherImages;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.file.TraceFileReader;
import dev.retstack.schema.record.RecordBatch;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;

/** The records of a trace into tables of hot addresses, without rebuilding the calls. */
public final class HotReplay {
  private HotReplay() {}

  /**
   * What a file was like.
   *
   * @param cut whether it was cut off
   * @param notice one sentence: where it was cut off, or that its index is wrong; empty = it is
   *     whole
   */
  public record Read(boolean cut, String notice) {}

  /**
   * Reads a whole trace.
   *
   * @param wanted only chunks of these cores count
   * @param cores filled
   * @param names for images that were announced without
   * @return whether it was cut off
   * @throws dev.retstack.schema.file.CorruptTraceException when the file is not a trace, or changed
   * @throws InvalidTraceException when its entries do not fit together
   */
  public static Read read(Path file, Predicate<CoreKey> wanted, HotCores cores, LateSymbols names)
      throws IOException {
    Map<String, ImageInfo> images = new HashMap<>();
    OtherImages others = new OtherImages(images::get);
    RecordBatch batch = new RecordBatch(0);
    try (TraceFileReader reader = TraceFileReader.open(file)) {
      for (TraceEntry entry = reader.next(); entry != null; entry = reader.next()) {
        if (entry.getImage() != null) {
          ImageInfo image = names.name(ChunkApplier.info(entry.getImage())).among(others);
          images.putIfAbsent(image.id(), image);
        } else if (entry.getChunk() != null && wanted.test(ChunkApplier.key(entry.getChunk()))) {
          batch = apply(file, entry.getChunk(), images, batch, cores);
        }
      }
      return new Read(reader.isCut(), reader.notice());
    }
  }

  private static RecordBatch apply(
      Path file, Chunk chunk, Map<String, ImageInfo> images, RecordBatch reuse, HotCores cores)
      throws InvalidTraceException {
    ImageInfo image = images.get(chunk.getImage());
    if (image == null) {
      throw InvalidTraceException.withoutImage(file, chunk);
    }
    try {
      RecordBatch batch = Chunks.decode(chunk, reuse);
      cores.apply(ChunkApplier.meta(chunk), ChunkApplier.key(chunk), image, batch);
      return batch;
    } catch (CorruptChunkException e) {
      throw new InvalidTraceException(file + ": " + e.getMessage(), e);
    }
  }
}
