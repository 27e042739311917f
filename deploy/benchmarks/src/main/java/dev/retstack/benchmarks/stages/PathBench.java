package dev.retstack.benchmarks.stages;

import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.benchmarks.measure.CpuTime;
import dev.retstack.benchmarks.measure.Measure;
import dev.retstack.benchmarks.measure.Rounds;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.input.ImageTraits;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.ClockUnit;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.codec.ChunkCodec;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.service.PipelineConfig;
import java.util.ArrayList;
import java.util.List;

/** What lies behind the probe: packing, unpacking, reconstruction with aggregation. */
public final class PathBench {
  private static final ImageInfo IMAGE =
      new ImageInfo(
          "bench", "bench", "", new ImageTraits(false, false, 0, 0), SymbolTable.of(List.of()));

  /** Limits of the service. */
  private static final GraphLimits LIMITS =
      GraphLimits.DEFAULT.withTreeCallsPerCore(PipelineConfig.TREE_CALLS_PER_CORE);

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

  /**
   * What a partition does with chunks: checks and unpacking, reconstruction, aggregation. In CPU
   * time of this thread.
   */
  public List<Measure> apply(int rounds) throws CorruptChunkException {
    List<Chunk> chunks = seal();
    Rounds unpack = new Rounds(rounds);
    Rounds apply = new Rounds(rounds);
    Rounds both = new Rounds(rounds);
    RecordBatch into = new RecordBatch(capacity());
    for (int round = -2; round < rounds; round++) { // the first two warm up
      ChunkApplier applier = new ChunkApplier(new GraphState(LIMITS));
      applier.state().image(IMAGE);
      long unpacking = 0;
      long start = CpuTime.ofThisThread();
      long mark = start;
      for (Chunk chunk : chunks) {
        into = Chunks.decode(chunk, into);
        long unpacked = CpuTime.ofThisThread();
        unpacking += unpacked - mark;
        if (applier.apply(chunk, into) != ApplyResult.APPLIED) {
          throw new IllegalStateException("chunk " + chunk.getSequence() + " was not applied");
        }
        mark = CpuTime.ofThisThread();
      }
      if (round >= 0) {
        unpack.add((double) unpacking / records);
        apply.add((double) (mark - start - unpacking) / records);
        both.add((mark - start) / (double) records);
      }
    }
    return List.of(
        new Measure("apply", subject, "unpackNsPerRecord", unpack.median()),
        new Measure("apply", subject, "reconstructNsPerRecord", apply.median()),
        new Measure("apply", subject, "recordsPerSecond", 1e9 / both.median()));
  }

  private List<Chunk> seal() {
    List<Chunk> chunks = new ArrayList<>();
    long before = 0;
    for (RecordBatch batch : batches) {
      if (batch.size() > 0) {
        Chunk.Builder chunk =
            Chunk.newBuilder()
                .setSession("bench")
                .setCore("0")
                .setIsa("bench")
                .setImage(IMAGE.id())
                .setSequence(chunks.size())
                .setClockUnit(ClockUnit.INSTRUCTIONS)
                .setRecordsBefore(before);
        chunks.add(Chunks.seal(chunk, Codecs.standard(), batch));
        before += batch.size();
      }
    }
    return chunks;
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
