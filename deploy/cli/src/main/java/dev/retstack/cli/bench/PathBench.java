package dev.retstack.cli.bench;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.linux.LinuxOptions;
import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.graph.aggregate.ApplyResult;
import dev.retstack.graph.aggregate.CoreKey;
import dev.retstack.graph.aggregate.GraphState;
import dev.retstack.graph.aggregate.ImageInfo;
import dev.retstack.graph.reconstruct.ChunkMeta;
import dev.retstack.graph.reconstruct.ClockUnit;
import dev.retstack.graph.reconstruct.ImageTraits;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.schema.codec.ChunkCodec;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.codec.RecordBatch;
import java.util.ArrayList;
import java.util.List;

/** What lies behind the probe: packing, unpacking, reconstruction with aggregation. */
public final class PathBench {
  private final String subject;
  private final List<RecordBatch> batches = new ArrayList<>();
  private final long records;

  private PathBench(String subject, List<RecordBatch> batches) {
    this.subject = subject;
    this.batches.addAll(batches);
    this.records = batches.stream().mapToLong(RecordBatch::size).sum();
  }

  /** Takes the records of one run of a program on one clock as the material. */
  public static PathBench of(
      LoadedImage image, String program, long argument, CoreOptions.Clock clock) {
    List<RecordBatch> batches = new ArrayList<>();
    List<String> argv = List.of("zoo", program, String.valueOf(argument));
    CoreOptions traced = CoreOptions.of(LinuxOptions.of(program)).withClock(clock);
    GuestRun.of(image, argv, traced, _ -> {}, batch -> batches.add(copy(batch)));
    String unit = clock == CoreOptions.Clock.HOST ? ", host ns" : "";
    return new PathBench(image.elf().name() + " " + program + unit, batches);
  }

  /** Packing and unpacking by one codec, in CPU time of this thread. */
  public List<Measure> codec(ChunkCodec codec, int rounds) throws CorruptChunkException {
    Rounds encode = new Rounds(rounds);
    Rounds decode = new Rounds(rounds);
    long bytes = 0;
    for (int round = -1; round < rounds; round++) { // the first one warms up
      List<byte[]> packed = new ArrayList<>(batches.size());
      long start = CpuTime.ofThisThread();
      for (RecordBatch batch : batches) {
        packed.add(codec.encode(batch));
      }
      long half = CpuTime.ofThisThread();
      RecordBatch into = new RecordBatch(capacity());
      for (int i = 0; i < packed.size(); i++) {
        codec.decode(packed.get(i), batches.get(i).size(), into);
      }
      long end = CpuTime.ofThisThread();
      if (round >= 0) {
        encode.add((double) (half - start) / records);
        decode.add((double) (end - half) / records);
      }
      bytes = packed.stream().mapToLong(payload -> payload.length).sum();
    }
    String what = codec.id() + ", " + subject;
    return List.of(
        new Measure("encode", what, "nsPerRecord", encode.median()),
        new Measure("decode", what, "nsPerRecord", decode.median()),
        new Measure("encode", what, "bytesPerRecord", (double) bytes / records));
  }

  /** Reconstruction and aggregation. */
  public List<Measure> apply(int rounds) {
    Rounds perRecord = new Rounds(rounds);
    for (int round = -1; round < rounds; round++) { // the first one warms up
      GraphState state = new GraphState();
      state.image(
          new ImageInfo(
              "bench",
              "bench",
              "",
              new ImageTraits(false, false, 0, 0),
              SymbolTable.of(List.of())));
      long start = System.nanoTime();
      long before = 0;
      long sequence = 0;
      for (RecordBatch batch : batches) {
        if (batch.size() == 0) {
          continue;
        }
        ChunkMeta meta =
            ChunkMeta.running(
                sequence++,
                before,
                batch.time[0],
                batch.time[batch.size() - 1],
                ClockUnit.INSTRUCTIONS);
        if (state.apply(meta, new CoreKey("bench", "0"), "bench", batch) != ApplyResult.APPLIED) {
          throw new IllegalStateException("chunk " + sequence + " was not applied");
        }
        before += batch.size();
      }
      if (round >= 0) {
        perRecord.add((double) (System.nanoTime() - start) / records);
      }
    }
    return List.of(new Measure("apply", subject, "nsPerRecord", perRecord.median()));
  }

  private int capacity() {
    return batches.stream().mapToInt(RecordBatch::size).max().orElse(0);
  }

  private static RecordBatch copy(RecordBatch from) {
    RecordBatch to = new RecordBatch(from.size());
    to.addAll(from, 0, from.size());
    return to;
  }
}
