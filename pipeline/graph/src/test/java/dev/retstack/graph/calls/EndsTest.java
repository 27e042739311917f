package dev.retstack.graph.calls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.Stream;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.report.TaskRow;
import dev.retstack.graph.tree.Ending;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What dies with a task, an interrupt or a core: the calls that were open in it, and no others. */
class EndsTest {
  private static final long FROM = 0x900;

  /** main and a are open in task 0; b and c in task 1, which goes on. */
  private final Stream stream =
      new Stream()
          .enter(1, 0, Stream.MAIN, FROM)
          .enter(2, 1, Stream.A, FROM)
          .started(3, 1)
          .enter(4, 0, Stream.B, FROM)
          .enter(5, 1, Stream.C, FROM);

  private void returns() {
    stream.exit(30, 1, Stream.A, FROM).exit(31, 0, Stream.MAIN, FROM);
  }

  @Test
  void aTaskThatEndsTakesItsOwnCallsAlong() {
    stream.ended(10, 1).switched(11, 0, 2);
    returns();
    stream.end(40);
    assertEndings(2, 2, 0);
  }

  @Test
  void aTaskThatEndsInsideOfItsInterruptTakesThatAlong() {
    stream.interrupt(6, 7, 2).enter(7, 0, Stream.A, FROM).ended(10, 1).switched(11, 0, 2);
    returns();
    stream.end(40);
    assertEndings(2, 3, 0);
  }

  @Test
  void anIdThatIsUsedAgainEndsTheTaskThatHadIt() {
    stream
        .switched(9, 0, 2)
        .started(10, 1)
        .enter(11, 0, Stream.C, FROM)
        .exit(12, 0, Stream.C, FROM);
    stream.switched(13, 0, 2);
    returns();
    stream.end(40);
    assertEndings(3, 2, 0);
  }

  @Test
  void aCoreThatEndsTakesAllTasksAlong() {
    stream.interrupt(6, 7, 2).enter(7, 0, Stream.A, FROM).end(40);
    assertEndings(0, 5, 0);
  }

  @Test
  void anInterruptThatIsLeftTakesItsCallsAlongAndTheTaskGoesOn() {
    stream.interrupt(6, 7, 2).enter(7, 0, Stream.A, FROM).interruptEnd(8, 7);
    stream.exit(9, 1, Stream.C, FROM).exit(10, 0, Stream.B, FROM).switched(11, 0, 2);
    returns();
    stream.end(40);
    assertEndings(4, 0, 1);
  }

  @Test
  void aTaskMayMissWhatWasLostInItsLifeAndNothingElse() {
    stream.switched(6, 0, 2).started(7, 2).ended(8, 2).switched(9, 0, 2).lost(10, 5);
    stream.switched(12, 1, 2).started(14, 3).enter(15, 0, Stream.C, FROM).end(40);
    List<TaskRow> tasks = new ReportBuilder().add(stream.state()).build().cores().get(0).tasks();
    assertThat(tasks).extracting(TaskRow::id).containsExactly(0L, 1L, 2L, 3L);
    assertThat(tasks).extracting(TaskRow::mayMiss).containsExactly(5L, 5L, 0L, 0L);
    assertThat(tasks).extracting(TaskRow::completeness).endsWith(100.0, 100.0);
    long records = tasks.stream().mapToLong(TaskRow::records).sum();
    assertThat(records)
        .isEqualTo(stream.state().core(Stream.CORE).orElseThrow().progress().records());
  }

  private void assertEndings(int returned, int ended, int unwound) {
    CoreGraph core = stream.state().core(Stream.CORE).orElseThrow();
    assertThat(core.progress().ended(Ending.RETURNED)).isEqualTo(returned);
    assertThat(core.progress().ended(Ending.ENDED)).isEqualTo(ended);
    assertThat(core.progress().ended(Ending.UNWOUND)).isEqualTo(unwound);
    assertThat(core.progress().open()).isZero();
    for (Stat stat :
        new Stat[] {Stat.MISPLACED_EXITS, Stat.UNKNOWN_EXITS, Stat.CONTEXTS_DISAGREE}) {
      assertThat(core.stats().get(stat)).as(stat.name()).isZero();
    }
  }
}
