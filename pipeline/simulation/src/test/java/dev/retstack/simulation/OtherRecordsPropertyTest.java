package dev.retstack.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.report.EdgeRow;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.report.SystemCallRow;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.tree.CallTreeLog;
import dev.retstack.graph.tree.RecordedValues;
import dev.retstack.graph.tree.TreeKind;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.ValuesDepth;
import dev.retstack.simulation.model.ModelChunk;
import dev.retstack.simulation.model.ModelCore;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The records of a random program with other records among them, which say what they are. */
class OtherRecordsPropertyTest {
  private static final long FUNCTIONS = 0x70_0000L;
  private static final long FROM = 0x71_0000L;

  /** Snapshots per run, about. */
  private static final int SNAPSHOTS = 3;

  /** The records of a core and others between them, and what those must come to. */
  private static final class Strewn {
    final List<long[]> records = new ArrayList<>();
    final Map<Long, Long> functions = new HashMap<>();
    final Map<String, Long> edges = new HashMap<>();
    final Map<Long, Long> systemCalls = new HashMap<>();

    /** By the time of the entry, which is the call's own. */
    final Map<Long, Long> arguments = new HashMap<>();

    long marks;
    long values;
    private long[] where = {};

    Strewn(List<long[]> calls, SplittableRandom random) {
      for (int i = 0; i < calls.size(); i++) {
        final long[] call = calls.get(i);
        where = calls.get(Math.min(i + 1, calls.size() - 1));
        records.add(call);
        if (random.nextInt(3) == 0) {
          valuesOf(call, random.nextLong());
        }
        for (int more = random.nextInt(4); more > 1; more--) {
          other(call[1], (int) call[2], random);
        }
      }
    }

    private void valuesOf(long[] call, long value) {
      values++;
      add(RecordBatch.VALUES, call[1], ValuesDepth.of(0, 1, ValuesDepth.HEX), value, 0, 0);
      if (call[0] == RecordBatch.ENTRY) {
        arguments.put(call[1], value);
      }
    }

    private void other(long time, int depth, SplittableRandom random) {
      switch (random.nextInt(3)) {
        case 0 -> {
          long selfPc = FUNCTIONS + random.nextInt(5);
          long from = FROM + random.nextInt(3);
          functions.merge(selfPc, 1L, Long::sum);
          edges.merge(from + ">" + selfPc, 1L, Long::sum);
          add(RecordBatch.FUNCTION, time, 0, selfPc, from, 0);
        }
        case 1 -> {
          long number = random.nextInt(6);
          systemCalls.merge(number, 1L, Long::sum);
          add(RecordBatch.SYS_ENTER, time, depth, number, 0, 0);
          values++;
          add(RecordBatch.VALUES, time, ValuesDepth.of(0, 4, 0), number, 1, 2);
          add(RecordBatch.SYS_EXIT, time, depth, number, number - 3, 0);
        }
        default -> {
          marks++;
          add(RecordBatch.MARK, time, 0, 0, 1 + random.nextInt(7), 0);
        }
      }
    }

    private void add(byte kind, long time, int depth, long a, long b, long c) {
      records.add(new long[] {kind, time, depth, a, b, c, 0, where[7], where[8], where[9]});
    }
  }

  @Test
  void callsAreWhatTheyAreWithoutThemAndEachOfThemIsCounted() {
    Seeds.each(
        seed -> {
          SplittableRandom random = new SplittableRandom(seed);
          List<ModelCore> cores = Cores.any(random, 2, 20);
          GraphState plain = new GraphState();
          GraphState mixed = new GraphState();
          List<Strewn> all = new ArrayList<>();
          for (ModelCore core : cores) {
            core.chunks(random, 40).forEach(Subject.of(plain)::apply);
            Strewn strewn = new Strewn(core.program().records(), random);
            core.cut(strewn.records, random, 40).forEach(Subject.of(mixed)::apply);
            all.add(strewn);
          }
          sameCalls(ReportBuilder.of(plain).build(), ReportBuilder.of(mixed).build(), all);
          for (int i = 0; i < all.size(); i++) {
            core(cores.get(i), plain, mixed, all.get(i));
          }
        });
  }

  @Test
  void cuttingAndSnapshotsDoNotChangeTheResult() {
    Seeds.each(
        seed -> {
          SplittableRandom random = new SplittableRandom(seed);
          ModelCore core = Cores.any(random, 1, 20).getFirst();
          List<long[]> records = new Strewn(core.program().records(), random).records;
          String expected = null;
          for (int largest : new int[] {1000, 7}) {
            GraphState state = new GraphState();
            List<ModelChunk> chunks = core.cut(records, random, largest);
            for (ModelChunk chunk : chunks) {
              Subject.of(state).apply(chunk);
              state = random.nextInt(chunks.size()) < SNAPSHOTS ? copy(state) : state;
            }
            String tree = ReportBuilder.of(state).trees().toString();
            String result = ReportBuilder.of(state).build().resultHash() + tree;
            assertThat(result).isEqualTo(expected == null ? result : expected);
            expected = result;
          }
        });
  }

  private static void sameCalls(Report plain, Report mixed, List<Strewn> all) {
    Map<Long, Long> functions = new HashMap<>();
    Map<String, Long> edges = new HashMap<>();
    Map<Long, Long> systemCalls = new HashMap<>();
    for (Strewn strewn : all) {
      strewn.functions.forEach((selfPc, calls) -> functions.merge(selfPc, calls, Long::sum));
      strewn.edges.forEach((edge, calls) -> edges.merge(edge, calls, Long::sum));
      strewn.systemCalls.forEach((number, calls) -> systemCalls.merge(number, calls, Long::sum));
    }
    Map<Boolean, List<FunctionRow>> rows =
        mixed.functions().stream().collect(Collectors.partitioningBy(f -> f.selfPc() < FUNCTIONS));
    assertThat(rows.get(true)).isEqualTo(plain.functions());
    assertThat(
            rows.get(false).stream()
                .collect(Collectors.toMap(FunctionRow::selfPc, FunctionRow::calls)))
        .isEqualTo(functions);
    Map<Boolean, List<EdgeRow>> arcs =
        mixed.edges().stream().collect(Collectors.partitioningBy(e -> e.calleePc() < FUNCTIONS));
    assertThat(arcs.get(true)).isEqualTo(plain.edges());
    assertThat(
            arcs.get(false).stream()
                .collect(Collectors.toMap(e -> e.callerPc() + ">" + e.calleePc(), EdgeRow::calls)))
        .isEqualTo(edges);
    assertThat(mixed.stats()).isEqualTo(plain.stats());
    for (SystemCallRow row : mixed.systemCalls()) {
      long number = Long.parseLong(row.name());
      assertThat(row.calls()).isEqualTo(systemCalls.remove(number));
      assertThat(row.errors()).isEqualTo(number < 3 ? row.calls() : 0);
    }
    assertThat(systemCalls).isEmpty();
  }

  private static void core(ModelCore core, GraphState plain, GraphState mixed, Strewn strewn) {
    CoreGraph graph = mixed.core(core.key()).orElseThrow();
    assertThat(graph.digest()).isEqualTo(plain.core(core.key()).orElseThrow().digest());
    assertThat(graph.progress().records()).isEqualTo(strewn.records.size());
    assertThat(graph.other().marks()).isEqualTo(strewn.marks);
    assertThat(graph.other().values()).isEqualTo(strewn.values);
    CallTreeLog tree = graph.tree();
    for (int row = 0; row < tree.size(); row++) {
      if (tree.kind(row) == TreeKind.CALL) {
        Long argument = strewn.arguments.get(tree.enter(row));
        assertThat(tree.arguments(row))
            .isEqualTo(
                argument == null
                    ? RecordedValues.NONE
                    : new RecordedValues(ValuesDepth.HEX, LongList.of(argument.longValue())));
      }
    }
  }

  private static GraphState copy(GraphState state) {
    try {
      return GraphState.ofCopy(state.copy(), GraphLimits.DEFAULT, StateBudget.UNLIMITED);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
