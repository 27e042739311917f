package dev.retstack.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.report.ContextRow;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.report.TaskChoice;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.totals.ContextKey;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.simulation.model.ModelChunk;
import dev.retstack.simulation.model.ModelCore;
import dev.retstack.simulation.model.Oracle;
import dev.retstack.simulation.model.TrueCall;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Totals of each task against the truth, and against those of all together. */
class TaskTotalsPropertyTest {
  @Test
  void totalsOfEachTaskAreTheTruthAndAddUpToThoseOfAll() {
    Seeds.each(
        seed -> {
          SplittableRandom random = new SplittableRandom(seed);
          TimeRules rules =
              new TimeRules(random.nextBoolean(), random.nextBoolean(), random.nextBoolean());
          List<ModelCore> cores = ContextPropertyTest.cores(random);
          GraphState together = new GraphState(GraphLimits.DEFAULT, rules);
          GraphState byTask = GraphState.byTask(GraphLimits.DEFAULT, rules);
          for (ModelCore core : cores) {
            for (ModelChunk chunk : core.chunks(random, 40)) {
              Subject.of(together).apply(chunk);
              Subject.of(byTask).apply(chunk);
            }
          }
          Report report = ReportBuilder.of(byTask).build();
          assertThat(report.resultHash())
              .isEqualTo(ReportBuilder.of(together).build().resultHash());
          assertThat(report.functions()).isEqualTo(ReportBuilder.of(together).build().functions());
          assertThat(report.edges()).isEqualTo(ReportBuilder.of(together).build().edges());
          for (ModelCore core : cores) {
            eachTaskIsTrue(report.byTask(), core, rules);
          }
        });
  }

  @Test
  void aTaskAloneHasItsCallsOnAllCores() {
    Seeds.each(
        seed -> {
          SplittableRandom random = new SplittableRandom(seed);
          List<ModelCore> cores = ContextPropertyTest.cores(random);
          GraphState byTask = GraphState.byTask(GraphLimits.DEFAULT, TimeRules.DEFAULT);
          cores.forEach(core -> core.chunks(random, 40).forEach(Subject.of(byTask)::apply));
          long id = random.nextInt(4);
          Report alone =
              new ReportBuilder()
                  .add(byTask)
                  .only(new TaskChoice(Long.toUnsignedString(id)))
                  .build();
          Oracle oracle = new Oracle(List.of());
          cores.forEach(c -> oracle.add(calls(c, t -> t.interrupt == null && t.task == id)));
          assertThat(totals(alone.functions())).isEqualTo(totals(oracle));
          assertThat(alone.resultHash()).isEqualTo(ReportBuilder.of(byTask).build().resultHash());
        });
  }

  private static void eachTaskIsTrue(List<ContextRow> rows, ModelCore core, TimeRules rules) {
    List<ContextRow> own =
        rows.stream().filter(row -> row.context().core().equals(core.key())).toList();
    long seen = 0;
    for (ContextRow row : own) {
      ContextKey of = row.context();
      List<TrueCall> calls =
          of.isInterrupts()
              ? calls(core, t -> t.interrupt != null)
              : calls(
                  core,
                  t -> t.interrupt == null && t.task == of.task() && t.instance == of.instance());
      Oracle oracle = new Oracle(calls, rules);
      assertThat(totals(row.functions())).as(row.name()).isEqualTo(totals(oracle));
      assertThat(row.edges()).as(row.name()).hasSameSizeAs(oracle.edges.keySet());
      seen += row.functions().stream().mapToLong(FunctionRow::calls).sum();
    }
    assertThat(seen).isEqualTo(calls(core, t -> t.interrupt == null || rules.interrupts()).size());
  }

  private static List<TrueCall> calls(ModelCore core, Predicate<TrueCall> which) {
    return core.program().calls.stream().filter(which).toList();
  }

  private static Map<Long, List<Long>> totals(List<FunctionRow> rows) {
    Map<Long, List<Long>> totals = new HashMap<>();
    for (FunctionRow row : rows) {
      totals.put(row.selfPc(), List.of(row.calls(), row.finished(), row.total(), row.self()));
    }
    return totals;
  }

  private static Map<Long, List<Long>> totals(Oracle oracle) {
    Map<Long, List<Long>> totals = new HashMap<>();
    oracle.functions.forEach(
        (selfPc, row) -> totals.put(selfPc, List.of(row.calls, row.finished, row.total, row.self)));
    return totals;
  }
}
