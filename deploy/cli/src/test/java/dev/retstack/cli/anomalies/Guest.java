package dev.retstack.cli.anomalies;

import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.graph.check.Severity;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.report.StatRow;
import dev.retstack.graph.state.GraphState;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.record.RecordBatch;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A guest program from the emulated core to the graph. */
final class Guest {
  private static final int CHUNK = 4_096;

  private Guest() {}

  /** Options with which returns are looked at everywhere. */
  static CoreOptions checking() {
    return Run.options().withCheckReturns(true);
  }

  static GraphState of(LoadedImage image, CoreOptions options, String program) {
    return of(Run.of(image, options, 1_000_000, core -> {}, program));
  }

  /** The records of a run as the pipeline takes them, in chunks. */
  static GraphState of(Run run) {
    return of(run, run.records(), CHUNK, -1);
  }

  /**
   * Some records of a run as the pipeline takes them.
   *
   * @param chunk records of a chunk
   * @param missing number of a chunk that does not come; none: below 0
   */
  static GraphState of(Run run, RecordBatch all, int chunk, int missing) {
    return of(run, all, chunk, i -> i == missing);
  }

  /** The same without all chunks that are missing. */
  static GraphState of(Run run, RecordBatch all, int chunk, IntPredicate missing) {
    GraphState state = new GraphState();
    ImageInfo image = ChunkApplier.info(run.image().toSchema());
    state.image(image);
    CoreKey core = new CoreKey("guest", "core-0");
    int chunks = all.size() / chunk + 1;
    for (int i = 0; i < chunks; i++) {
      int first = i * chunk;
      boolean last = i == chunks - 1;
      RecordBatch batch = new RecordBatch(chunk);
      batch.addAll(all, first, last ? all.size() : first + chunk);
      long from = batch.size() == 0 ? run.instructions() : batch.time[0];
      long to = last ? run.instructions() : batch.time[batch.size() - 1];
      ChunkMeta meta =
          new ChunkMeta(
              i,
              first,
              0,
              overruns(batch),
              0,
              from,
              to,
              ClockUnit.INSTRUCTIONS,
              last ? CoreEnd.HALTED : CoreEnd.RUNNING,
              last ? run.ending().detail() : "");
      if (missing.test(i)) {
        continue;
      }
      ApplyResult result = state.apply(meta, core, image.id(), batch);
      if (result != ApplyResult.APPLIED) {
        throw new AssertionError(result);
      }
    }
    return state;
  }

  /** Stats of severity ERROR. */
  static Map<Stat, Long> errors(GraphState state) {
    return ReportBuilder.of(state).build().stats().stream()
        .filter(row -> row.severity() == Severity.ERROR)
        .collect(Collectors.toMap(StatRow::stat, StatRow::count));
  }

  /** A stat of all cores. */
  static long stat(GraphState state, Stat stat) {
    return ReportBuilder.of(state).build().stats().stream()
        .filter(row -> row.stat() == stat)
        .mapToLong(StatRow::count)
        .sum();
  }

  private static int overruns(RecordBatch batch) {
    return (int) count(batch, i -> batch.kind[i] == RecordBatch.FUNCTION && batch.depth[i] > 0);
  }

  static long entries(Run run) {
    return count(run.records(), i -> run.records().kind[i] == RecordBatch.ENTRY);
  }

  static long exits(Run run) {
    return count(run.records(), i -> run.records().kind[i] == RecordBatch.EXIT);
  }

  /** Entries whose return address is a handler slot: the caller jumped there. */
  static long tailCalls(Run run) {
    long start = run.image().toSchema().getReturnToHandlerStart();
    long end = run.image().toSchema().getReturnToHandlerEnd();
    RecordBatch r = run.records();
    return count(
        r, i -> r.kind[i] == RecordBatch.ENTRY && r.fromPc[i] >= start && r.fromPc[i] < end);
  }

  private static long count(RecordBatch records, IntPredicate which) {
    return IntStream.range(0, records.size()).filter(which).count();
  }
}
