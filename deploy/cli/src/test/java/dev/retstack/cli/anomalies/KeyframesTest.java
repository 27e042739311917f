package dev.retstack.cli.anomalies;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.fleet.Fleet;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.core.interrupt.InterruptTimer;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.FleetListener;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.fleet.settings.FunctionPattern;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.testing.Seeds;
import dev.retstack.unicorn.testing.WithoutCompiler;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Differential: where a chunk begins, the stacks that were rebuilt from records are the stacks of
 * the core. With short chunks they are compared after every few records. A second reader, who does
 * not get all chunks, knows by them what is open behind a gap.
 */
class KeyframesTest {
  /** Programs of each image, by one of the probes; all programs and both for {@code all}. */
  private static final boolean ALL = System.getProperty("retstack.keyframes", "").equals("all");

  private static final int SOME = 1;

  static List<LoadedImage> zoo() {
    return Zoo.images();
  }

  static List<Path> kernels() throws IOException {
    try (Stream<Path> files = Files.list(Zoo.GUEST.resolve("rtos").resolve("images"))) {
      return files.sorted().toList();
    }
  }

  @ParameterizedTest
  @MethodSource("zoo")
  void rebuiltStacksAreThoseOfTheCore(LoadedImage image) throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.fresh());
    for (String program : some(Zoo.programs(image), random)) {
      prove(image, Run.options(), random, program);
    }
  }

  /** Frames without records are there, and go without one. */
  @ParameterizedTest
  @MethodSource("zoo")
  void alsoWhereSettingsLeaveOutCalls(LoadedImage image) throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.fresh());
    TraceSettings all = TraceSettings.standard();
    List<TraceSettings> settings =
        List.of(
            all.withMinDuration(20),
            all.withMinDuration(400),
            all.withMaxDepth(3),
            all.withGraphNotraces(List.of(FunctionPattern.parse("*r*"))),
            all.withGraphNotraces(List.of(FunctionPattern.parse("*t*"))).withMinDuration(50),
            all.withGraphFunctions(List.of(FunctionPattern.parse("*o*"))).withMaxDepth(5));
    for (String program : some(Zoo.programs(image), random)) {
      TraceSettings one = settings.get(random.nextInt(settings.size()));
      prove(image, Run.options().withTrace(one), random, program);
    }
  }

  private static List<String> some(List<String> programs, SplittableRandom random) {
    List<String> some = new ArrayList<>(programs);
    while (!ALL && some.size() > SOME) {
      some.remove(random.nextInt(some.size()));
    }
    return some;
  }

  @ParameterizedTest
  @MethodSource("kernels")
  void alsoInAKernelThatIsInterrupted(Path file) throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.fresh());
    CoreOptions options =
        Run.options()
            .withInstructionLimit(20_000_000)
            .withTimers(
                List.of(
                    new InterruptTimer(900, "rtos_interrupt"),
                    new InterruptTimer(7_100, "rtos_interrupt")));
    prove(LoadedImage.load(file), options, random, "rtos");
  }

  @Test
  void alsoWhereExceptionsAndJumpsLeaveFrames(@TempDir Path folder) throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.fresh());
    for (LoadedImage image : UnwindGuests.build(folder)) {
      prove(image, Run.options(), random, "");
    }
  }

  /** The canary: each field of a record, and each record, changed behind the core. */
  @Test
  void aRecordThatWasChangedIsFound() throws Exception {
    LoadedImage image = Zoo.images().getFirst();
    CoreOptions options = Run.options().withRecordsPerChunk(50);
    List<Consumer<Change>> changes =
        List.of(
            c -> c.batch.selfPc[c.at] ^= 4,
            c -> c.batch.fromPc[c.at] ^= 4,
            c -> c.batch.retP[c.at] ^= 16,
            c -> c.batch.fp[c.at] ^= 16,
            c -> c.batch.time[c.at] = c.batch.time[c.at - 1],
            c -> c.batch.kind[c.at] = RecordBatch.FUNCTION);
    for (Consumer<Change> change : changes) {
      Applied applied = new Applied();
      applied.changes = batch -> changeOpenEntry(batch, change);
      run(image, options, "sort", applied);
      assertThat(applied.changed).isPositive();
      assertThat(Guest.stat(applied.state, Stat.KEYFRAME_MISMATCHES)).isPositive();
    }
    Applied unchanged = new Applied();
    run(image, options, "sort", unchanged);
    assertThat(Guest.stat(unchanged.state, Stat.KEYFRAME_MISMATCHES)).isZero();
  }

  private record Change(RecordBatch batch, int at) {}

  /**
   * Changes the last entry of a call that is open at the end of the batch; false: there is none.
   */
  private static boolean changeOpenEntry(RecordBatch batch, Consumer<Change> change) {
    int depth = Integer.MAX_VALUE;
    for (int i = batch.size() - 1; i > 0; i--) {
      if (batch.kind[i] == RecordBatch.EXIT) {
        depth = Math.min(depth, batch.depth[i]);
      } else if (batch.kind[i] == RecordBatch.ENTRY
          && batch.depth[i] < depth
          && batch.time[i] > batch.time[i - 1]) {
        change.accept(new Change(batch, i));
        return true;
      }
    }
    return false;
  }

  private static void prove(
      LoadedImage image, CoreOptions options, SplittableRandom random, String program)
      throws Exception {
    int records = 1 + random.nextInt(1 << random.nextInt(1, 9));
    ProbeKind one = random.nextBoolean() ? ProbeKind.JAVA : ProbeKind.NATIVE;
    List<ProbeKind> probes = ALL ? List.of(ProbeKind.JAVA, ProbeKind.NATIVE) : List.of(one);
    for (ProbeKind probe : probes) {
      if (probe == ProbeKind.NATIVE) {
        WithoutCompiler.assumeBounded();
      }
      Applied applied = new Applied();
      applied.lossy = new LossyReader(random.split());
      run(image, options.withProbe(probe).withRecordsPerChunk(records), program, applied);
      String how = "%s, %s, chunks of %d".formatted(program, probe, records);
      assertThat(Guest.stat(applied.state, Stat.KEYFRAME_MISMATCHES))
          .as(() -> how + ReportBuilder.of(applied.state).anomalies())
          .isZero();
      assertThat(Guest.stat(applied.state, Stat.CONTEXTS_DISAGREE)).as(how).isZero();
      assertThat(applied.keyframes).as(how).isPositive();
      applied.lossy.check(applied.state, how);
    }
  }

  private static void run(LoadedImage image, CoreOptions options, String program, Applied applied)
      throws Exception {
    ByteArrayOutputStream output = new ByteArrayOutputStream();
    LinuxOptions linux =
        LinuxOptions.of("zoo")
            .withArguments(List.of("zoo", program))
            .withStreams(InputStream.nullInputStream(), output, output);
    Fleet.run(
        List.of(new CoreSpec("core-0", image, options.withLinux(linux))),
        FleetOptions.standard().withThreads(1),
        applied,
        FleetListener.NONE);
  }

  /** The pipeline without its service. */
  private static final class Applied implements ChunkSink {
    final GraphState state = new GraphState();
    private RecordBatch batch = new RecordBatch(0);
    long keyframes;
    long changed;
    Predicate<RecordBatch> changes = _ -> false;

    /** A second reader, or null. */
    LossyReader lossy;

    @Override
    public void image(Image image) {
      state.image(ChunkApplier.info(image));
      if (lossy != null) {
        lossy.state.image(ChunkApplier.info(image));
      }
    }

    @Override
    public void chunk(Chunk chunk) throws IOException {
      try {
        batch = Chunks.decode(chunk, batch);
      } catch (CorruptChunkException e) {
        throw new IOException(e);
      }
      keyframes += batch.keyframe() == null ? 0 : 1;
      changed += changed == 0 && changes.test(batch) ? 1 : 0;
      ApplyResult result =
          state.apply(ChunkApplier.meta(chunk), ChunkApplier.key(chunk), chunk.getImage(), batch);
      assertThat(result).isEqualTo(ApplyResult.APPLIED);
      if (lossy != null) {
        lossy.chunk(chunk, batch);
      }
    }

    @Override
    public void close() {}
  }
}
