package dev.retstack.benchmarks;

import dev.retstack.fleet.Fleet;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.progress.FleetListener;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.RecordBatch;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * What one core sent while a program of the zoo ran on it: the material of the benchmarks. Only
 * full chunks, so that every one stands for the same number of records.
 *
 * @param image what ran
 * @param chunks in sequence, from the first
 */
record Series(Image image, List<Chunk> chunks) {
  /** Records in each chunk. */
  static final int RECORDS = CoreOptions.RECORDS_PER_CHUNK;

  private static final String IMAGE = "zoo-x86_64-fentry.elf";

  /** Chunks to wish for: enough that none is still in the processor's cache when it comes again. */
  private static final int CHUNKS = 48;

  private static final int CHUNKS_MIN = 2;

  /**
   * Runs a program.
   *
   * @param workload {@code w200} or {@code fib}
   */
  static Series of(String workload) throws IOException, InterruptedException {
    LoadedImage image = LoadedImage.load(Zoo.GUEST.resolve("images").resolve(IMAGE));
    String size =
        switch (workload) {
          case "w200" -> "8000"; // each round makes about 49 calls
          case "fib" -> "25";
          default -> throw new IllegalArgumentException("workload " + workload + ": w200 or fib");
        };
    CoreOptions options =
        CoreOptions.of(LinuxOptions.of("zoo").withArguments(List.of("zoo", workload, size)))
            .withRecordsPerChunk(RECORDS);
    Kept kept = new Kept();
    List<CoreResult> results =
        Fleet.run(
            List.of(new CoreSpec("core", image, options)),
            FleetOptions.standard().withThreads(1),
            kept,
            FleetListener.NONE);
    if (!results.getFirst().ok() || kept.full.size() < CHUNKS_MIN) {
      throw new IllegalStateException(
          "%s %s ended with %d full chunks: %s"
              .formatted(workload, size, kept.full.size(), results.getFirst().ending().detail()));
    }
    return new Series(kept.image, kept.full);
  }

  /** The records of each chunk. */
  List<RecordBatch> batches() throws CorruptChunkException {
    List<RecordBatch> batches = new ArrayList<>();
    for (Chunk chunk : chunks) {
      batches.add(Chunks.decode(chunk));
    }
    return batches;
  }

  private static final class Kept implements ChunkSink {
    private final List<Chunk> full = new ArrayList<>();
    private Image image;

    @Override
    public void image(Image described) {
      image = described;
    }

    @Override
    public void chunk(Chunk chunk) {
      if (chunk.getRecordCount() == RECORDS && full.size() < CHUNKS) {
        full.add(chunk);
      }
    }

    @Override
    public void close() {}
  }
}
