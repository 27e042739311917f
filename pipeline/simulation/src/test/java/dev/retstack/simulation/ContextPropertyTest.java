package dev.retstack.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.graph.tree.Ending;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.simulation.model.ModelChunk;
import dev.retstack.simulation.model.ModelCore;
import dev.retstack.simulation.model.ModelProgram;
import dev.retstack.simulation.model.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Programs of several tasks and of interrupts against the truth that they know themselves. */
class ContextPropertyTest {
  @Test
  void byAnyRulesOfTimeTheTotalsAreTheTruth() {
    Seeds.each(
        seed -> {
          SplittableRandom random = new SplittableRandom(seed);
          TimeRules rules =
              new TimeRules(random.nextBoolean(), random.nextBoolean(), random.nextBoolean());
          List<ModelCore> cores = cores(random);
          GraphState state = new GraphState(limits(random), rules);
          Subject subject = Subject.of(state);
          for (ModelCore core : cores) {
            core.chunks(random, 40).forEach(subject::apply);
          }
          if (state.stats().get(Stat.TREE_CALLS_NOT_KEPT) == 0) {
            Validations.identical(state, cores);
          }
        });
  }

  @Test
  void underAnyFaultNoTotalIsMoreThanTheTruth() {
    Seeds.each(
        seed -> {
          SplittableRandom random = new SplittableRandom(seed);
          TimeRules rules =
              new TimeRules(random.nextBoolean(), random.nextBoolean(), random.nextBoolean());
          List<ModelCore> cores = cores(random);
          Faults faults = Faults.any(random);
          GraphState state = new GraphState(GraphLimits.DEFAULT, rules);
          Subject subject = Subject.of(state);
          for (ModelCore core : cores) {
            state.events(rules.equals(TimeRules.DEFAULT) ? new OwnTime(core) : null);
            for (ModelChunk chunk : faults.deliver(core, 40).chunks()) {
              subject.apply(chunk);
              Validations.invariants(state);
            }
          }
          Validations.notMore(state, cores);
          Validations.treesAreTrue(state, cores);
        });
  }

  /** The ret_stacks of the program are as large as those that the reader knows, and fill up. */
  @Test
  void aFullRetStackIsAsAnyOther() {
    Seeds.each(
        seed -> {
          SplittableRandom random = new SplittableRandom(seed);
          int frames = 1 + random.nextInt(12);
          List<ModelCore> cores = cores(random, frames);
          GraphLimits limits = GraphLimits.DEFAULT.but().maxDepth(frames).build();
          Subject subject = Subject.of(new GraphState(limits));
          for (ModelCore core : cores) {
            core.chunks(random, 40).forEach(subject::apply);
          }
          Validations.identical(subject.state(), cores);
          Faults faults = Faults.any(random);
          Subject faulty = Subject.of(new GraphState(limits));
          for (ModelCore core : cores) {
            for (ModelChunk chunk : faults.deliver(core, 40).chunks()) {
              faulty.apply(chunk);
              Validations.invariants(faulty.state());
            }
          }
          Validations.notMore(faulty.state(), cores);
          Validations.treesAreTrue(faulty.state(), cores);
        });
  }

  /** The canary: a reader that leaves TASK records out must be found out. */
  @Test
  void aReaderThatIgnoresTaskRecordsIsFoundOut() {
    assertThatThrownBy(
            () ->
                Seeds.each(
                    seed -> {
                      SplittableRandom random = new SplittableRandom(seed);
                      List<ModelCore> cores = cores(random);
                      Subject subject = Subject.product();
                      for (ModelCore core : cores) {
                        core.chunks(random, 40).forEach(c -> subject.apply(withoutTasks(c)));
                      }
                      Validations.identical(subject.state(), cores);
                    }))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("-Dretstack.seed=");
  }

  @Test
  void tasksBeyondTheLimitAreCountedAndLeftOut() {
    Seeds.each(
        seed -> {
          SplittableRandom random = new SplittableRandom(seed);
          ModelCore core = cores(random).getFirst();
          GraphState state =
              new GraphState(GraphLimits.DEFAULT.but().tasks(1 + random.nextInt(3)).build());
          Subject subject = Subject.of(state);
          for (ModelChunk chunk : core.chunks(random, 40)) {
            assertThat(subject.apply(chunk)).isEqualTo(ApplyResult.APPLIED);
            Validations.invariants(state);
          }
          Validations.notMore(state, List.of(core));
          long seen = ReportBuilder.of(state).build().cores().getFirst().entries();
          assertThat(seen).isLessThanOrEqualTo(core.program().calls.size());
          assertThat(core.program().calls.stream().map(c -> c.ending)).doesNotContain(Ending.OPEN);
        });
  }

  private static GraphLimits limits(SplittableRandom random) {
    return random.nextBoolean()
        ? GraphLimits.DEFAULT
        : GraphLimits.DEFAULT.withTreeCallsPerCore(1 << 18);
  }

  /** One or two cores with tasks, interrupts and stacks that change. */
  static List<ModelCore> cores(SplittableRandom random) {
    return cores(random, 0);
  }

  /** The same with ret_stacks of that many frames; 0: as large as they may be. */
  private static List<ModelCore> cores(SplittableRandom random, int retStack) {
    List<ModelCore> cores = new ArrayList<>();
    for (int i = 0, count = 1 + random.nextInt(2); i < count; i++) {
      Workload.Contexts contexts =
          new Workload.Contexts(
              1 + random.nextInt(6),
              random.nextInt(200),
              random.nextInt(40),
              random.nextInt(100),
              1 + random.nextInt(3),
              random.nextBoolean());
      Workload any = Workload.any(random).with(contexts);
      Workload workload = retStack == 0 ? any : any.withRetStack(retStack);
      CoreKey key = new CoreKey("session", "core" + i);
      cores.add(new ModelCore(key, new ModelProgram(random.split(), workload).run()));
    }
    return cores;
  }

  private static ModelChunk withoutTasks(ModelChunk chunk) {
    RecordBatch all = chunk.batch();
    RecordBatch blind = new RecordBatch(all.capacity());
    for (int i = 0; i < all.size(); i++) {
      boolean task = all.kind[i] == RecordBatch.TASK;
      blind.add(
          task ? RecordBatch.MARK : all.kind[i],
          all.time[i],
          all.depth[i],
          all.selfPc[i],
          all.fromPc[i],
          all.retP[i],
          all.fp[i]);
    }
    return new ModelChunk(chunk.core(), chunk.imageId(), chunk.meta(), blind);
  }
}
