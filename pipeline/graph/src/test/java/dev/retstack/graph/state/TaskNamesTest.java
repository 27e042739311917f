package dev.retstack.graph.state;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.retstack.graph.Stream;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.report.TaskChoice;
import dev.retstack.graph.report.TaskRow;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskName;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The names that a program gives its tasks are shown wherever a task is. */
class TaskNamesTest {
  private static final long LATE = 0x1_0000_0000L;

  private static TaskName name(String text) {
    return TaskName.of(text.getBytes(UTF_8));
  }

  /** A call in a task, which may have a name by then or not. */
  private static Stream call(Stream stream, long at) {
    return stream.enter(at, 0, Stream.A, 0x500).exit(at + 5, 0, Stream.A, 0x500);
  }

  private static GraphState copy(GraphState state) throws IOException {
    return GraphState.ofCopy(state.copy(), GraphLimits.DEFAULT, StateBudget.UNLIMITED);
  }

  private static List<String> names(GraphState state) {
    return ReportBuilder.of(state).build().cores().getFirst().tasks().stream()
        .map(TaskRow::name)
        .toList();
  }

  @Test
  void aNameIsShownWithTheId() throws IOException {
    Stream stream = call(new Stream().named(10, 0, name("boss")).named(11, 1001, name("late")), 12);
    call(stream.started(20, 1001), 30).send();
    call(stream.switched(40, 0, 0), 50).send();
    call(stream.started(60, 1002), 70).send();
    stream.named(75, 1001, name("worker")).started(80, LATE).named(90, LATE, name("r\u00e4d"));
    call(stream, 95).smashed(110, 0, Stream.B, 0x666, 0x777).end(120);
    for (GraphState state : List.of(stream.state(), copy(stream.state()))) {
      assertThat(names(state))
          .containsExactly("boss-0", "worker-1001", "task 1002", "r\u00e4d-0x100000000");
      ReportBuilder report = ReportBuilder.of(state);
      assertThat(report.trees())
          .extracting(CallTree::taskName)
          .containsExactly("boss-0", "worker-1001", "task 1002", "r\u00e4d-0x100000000");
      assertThat(report.anomalies())
          .extracting(AnomalyRow::kind, AnomalyRow::taskName)
          .contains(tuple(AnomalyKind.STACK_SMASHED, "r\u00e4d-0x100000000"));
    }
  }

  /** A name that was taken away, or given to a task that never came, is none. */
  @Test
  void aNameMayBeTakenAway() {
    Stream stream = call(new Stream().named(10, 0, name("boss")).named(11, 7, name("never")), 12);
    call(stream.started(30, 1001).named(31, 1001, name("worker")), 32);
    stream.named(40, 1001, TaskName.NONE).named(41, 0, name("")).end(50);
    assertThat(names(stream.state())).containsExactly("task 0", "task 1001");
  }

  /** Who begins behind the records that gave the names knows them by the keyframe. */
  @Test
  void aKeyframeTellsNames() {
    Stream stream = call(new Stream().named(10, 0, name("boss")), 12).send();
    call(stream.started(20, 1001).named(21, 1001, name("worker")), 22).skip();
    Keyframe.Builder open = new Keyframe.Builder();
    open.task(0, 0, 0);
    open.last();
    open.task(1001, 0, 0);
    RecordBatch names = new RecordBatch(1);
    name("worker").addTo(names, 0, 1001);
    open.names(names);
    stream.opens(open);
    call(stream, 30).send(stream.meta().in(1001, 0));
    assertThat(names(stream.state())).containsExactly("task 0", "worker-1001");
  }

  @Test
  void atMostAsManyAreKeptAsTasks() throws IOException {
    GraphLimits limits = GraphLimits.DEFAULT.but().tasks(3).build();
    Stream stream = call(new Stream(new GraphState(limits)), 1);
    for (int id = 1; id <= 5; id++) {
      call(stream.started(10L * id, id).named(10L * id, id, name("t" + id)), 10L * id + 1);
      stream.ended(10L * id + 8, id);
    }
    stream.end(100);
    assertThat(names(stream.state())).containsExactly("task 0", "t4-4 (3)", "t5-5 (4)");
    assertThat(names(copy(stream.state()))).isEqualTo(names(stream.state()));
  }

  @Test
  void tasksAreChosenByTheNameWithTheIdAndWithout() {
    for (String text : List.of("worker", "worker-1001", "1001", "0x3e9", "")) {
      assertThat(new TaskChoice(text).has(1001, "worker-1001")).as(text).isTrue();
      assertThat(new TaskChoice(text).has(1001, "worker-1001 (2)"))
          .as(text)
          .isEqualTo(!text.equals("worker-1001"));
    }
    for (String text : List.of("work", "worker-", "worker-10", "worker-1001x", "-1001")) {
      assertThat(new TaskChoice(text).has(1001, "worker-1001")).as(text).isFalse();
    }
  }

  @Test
  void aReportByTaskHasTheNames() {
    Stream stream = call(new Stream(GraphState.byTask(GraphLimits.DEFAULT, TimeRules.DEFAULT)), 1);
    call(stream.started(10, 1001).named(11, 1001, name("worker")), 20).end(30);
    Report report = ReportBuilder.of(stream.state()).build();
    assertThat(report.byTask()).extracting(row -> row.name()).contains("worker-1001");
  }
}
