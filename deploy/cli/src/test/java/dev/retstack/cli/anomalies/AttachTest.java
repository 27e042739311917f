package dev.retstack.cli.anomalies;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.fleet.settings.Tracer;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.testing.Seeds;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Beginning in mid-stream: tracing is switched on in a program that is deep in calls, and a reader
 * comes to a stream that has begun. What was before is not known, and nothing is said of it; what
 * is learnt later is told as what it is, and is no anomaly.
 */
class AttachTest {
  private static final List<String> PROGRAMS =
      List.of("ackermann", "deep", "nested", "longjmp", "tail", "mutual", "sort", "interpreter");

  /** The moment was in the program's last block: it ended before the core could be told. */
  private static final long NEVER = Long.MAX_VALUE;

  static Stream<LoadedImage> images() {
    return Stream.of(
            "x86_64 fentry",
            "x86_64 mcount",
            "i386 mcount",
            "aarch64 mcount",
            "aarch64 patchable",
            "riscv64 mcount",
            "arm thumb-mcount",
            "s390x fentry",
            "ppc64 profile-kernel",
            "mips mcount",
            "m68k mcount")
        .map(
            name -> {
              String[] parts = name.split(" ", -1);
              Isa isa = Isas.find(parts[0]).orElseThrow();
              return Zoo.image(isa, isa.convention(parts[1]).orElseThrow());
            });
  }

  @ParameterizedTest
  @MethodSource("images")
  void tracingBeginsDeepInCalls(LoadedImage image) {
    long seed = Seeds.fresh();
    SplittableRandom random = new SplittableRandom(seed);
    for (String program : PROGRAMS) {
      if (!Zoo.programs(image).contains(program)) {
        continue;
      }
      Run full = Run.of(image, program);
      long from = random.nextLong(full.instructions());
      TraceSettings before =
          random.nextBoolean()
              ? TraceSettings.standard().withTracer(Tracer.NOP)
              : TraceSettings.standard().withOn(false);
      List<String> expected = null;
      for (ProbeKind probe : List.of(ProbeKind.JAVA, ProbeKind.NATIVE)) {
        long[] since = {NEVER};
        Run run =
            Run.of(
                image,
                Guest.checking().withProbe(probe).withTrace(before),
                core -> {
                  if (since[0] == NEVER && core.instructions() >= from) {
                    since[0] = core.instructions();
                    core.trace(TraceSettings.standard());
                  }
                  return since[0] == NEVER ? Math.max(1, from - core.instructions()) : 1_000_000;
                },
                program);
        String how = "%s from %d, %s: -Dretstack.seed=%d".formatted(program, from, probe, seed);
        expected = expected == null ? since(full, since[0]) : expected;
        assertThat(calls(run.records())).as(how).isEqualTo(expected);
        assertThat(run.output()).as(how).isEqualTo(full.output());
        assertThat(run.ending()).as(how).isEqualTo(full.ending());
        isTold(run, how);
      }
    }
  }

  private static void isTold(Run run, String how) {
    GraphState state = Guest.of(run);
    assertThat(Guest.errors(state)).as(how).isEmpty();
    long open = Guest.entries(run) - Guest.exits(run);
    assertThat(Guest.stat(state, Stat.UNWOUND_CALLS) + Guest.stat(state, Stat.ENDED_CALLS))
        .as(how)
        .isEqualTo(open);
    assertThat(calls(state)).as(how).isEqualTo(run.counts());
  }

  private static Map<String, Long> calls(GraphState state) {
    return ReportBuilder.of(state).build().functions().stream()
        .collect(Collectors.toMap(FunctionRow::name, FunctionRow::calls, Long::sum, TreeMap::new));
  }

  private static List<String> calls(RecordBatch records) {
    List<String> calls = new ArrayList<>();
    for (int i = 0; i < records.size(); i++) {
      if (records.kind[i] == RecordBatch.ENTRY || records.kind[i] == RecordBatch.EXIT) {
        calls.add(text(records, i, 0));
      }
    }
    return calls;
  }

  private static String text(RecordBatch records, int i, int unseen) {
    return "%d %s %x at %d"
        .formatted(
            records.time[i],
            records.kind[i] == RecordBatch.ENTRY ? "in" : "out",
            records.selfPc[i],
            records.depth[i] - unseen);
  }

  /** What the full trace says of the calls that began at a time or later. */
  private static List<String> since(Run full, long time) {
    RecordBatch records = full.records();
    List<String> calls = new ArrayList<>();
    int unseen = 0; // open calls that began before; they are the lowest
    for (int i = 0; i < records.size(); i++) {
      unseen = Math.min(unseen, records.depth[i] + (records.kind[i] == RecordBatch.EXIT ? 1 : 0));
      if (records.kind[i] == RecordBatch.ENTRY && records.time[i] < time) {
        unseen = records.depth[i] + 1;
      } else if (records.kind[i] == RecordBatch.ENTRY || records.depth[i] >= unseen) {
        calls.add(text(records, i, unseen));
      } else {
        unseen = records.depth[i];
      }
    }
    return calls;
  }

  @ParameterizedTest
  @MethodSource("images")
  void aReaderComesToAStreamThatHasBegun(LoadedImage image) {
    long seed = Seeds.fresh();
    SplittableRandom random = new SplittableRandom(seed);
    for (String program : PROGRAMS) {
      if (!Zoo.programs(image).contains(program)) {
        continue;
      }
      Run run = Run.of(image, program);
      RecordBatch all = run.records();
      int chunk = 1 + random.nextInt(Math.max(1, all.size() / 3));
      int first = 1 + random.nextInt(all.size() / chunk);
      String how =
          "%s from chunk %d of %d records: -Dretstack.seed=%d"
              .formatted(program, first, chunk, seed);
      GraphState state = Guest.of(run, all, chunk, i -> i < first);
      assertThat(Guest.errors(state).keySet())
          .as(how)
          .isSubsetOf(Stat.GAP_RECORDS, Stat.GAP_CHUNKS);
      assertThat(Guest.stat(state, Stat.GAP_RECORDS)).as(how).isEqualTo((long) first * chunk);
      Map<String, Long> seen = new TreeMap<>();
      for (int i = first * chunk; i < all.size(); i++) {
        if (all.kind[i] == RecordBatch.ENTRY) {
          String name = image.elf().functionAt(all.selfPc[i]).orElseThrow().name();
          seen.merge(name, 1L, Long::sum);
        }
      }
      assertThat(calls(state)).as(how).isEqualTo(seen);
      assertThat(ReportBuilder.of(state).anomalies())
          .as(how)
          .allMatch(row -> row.kind() == AnomalyKind.SEQUENCE_GAP);
    }
  }
}
