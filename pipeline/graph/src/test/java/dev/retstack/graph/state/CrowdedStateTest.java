package dev.retstack.graph.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.Stream;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.schema.record.RecordBatch;
import org.junit.jupiter.api.Test;

/** A producer fills a state with cores: those of others come and stay all the same. */
class CrowdedStateTest {
  private static final int MANY = 20_000;

  private final StateBudget budget = new StateBudget(4 << 20, 0);
  private final GraphState state = new GraphState(GraphLimits.DEFAULT, TimeRules.DEFAULT, budget);

  private ApplyResult apply(String session, String core, long sequence, CoreEnd end) {
    RecordBatch batch = new RecordBatch(2);
    long time = 10 * sequence;
    batch.add(RecordBatch.ENTRY, time, 0, Stream.MAIN, 0x900, 0x8000, 0x8000);
    batch.add(RecordBatch.EXIT, time + 5, 0, Stream.MAIN, 0x900, 0x8000, 0x8000);
    ChunkMeta meta =
        new ChunkMeta(
            sequence, 2 * sequence, 0, 0, 0, time, time + 5, ClockUnit.INSTRUCTIONS, end, "");
    return state.apply(meta, new CoreKey(session, core), Stream.IMAGE.id(), batch);
  }

  /** Sends new cores until one has no room; how many had. */
  private int fill(String session, CoreEnd end) {
    for (int i = 0; i < MANY; i++) {
      if (apply(session, session + "-" + i, 0, end) == ApplyResult.NO_ROOM) {
        return i;
      }
    }
    return MANY;
  }

  @Test
  void theCoresOfWhoFillsItLeaveForThoseOfOthers() {
    state.image(Stream.IMAGE);
    assertThat(apply("good", "early", 0, CoreEnd.HALTED)).isEqualTo(ApplyResult.APPLIED);
    int filled = fill("hog", CoreEnd.RUNNING);
    assertThat(filled).isBetween(100, MANY - 1);
    int refused = 0;
    for (int i = 0; i < 200; i++) {
      String core = "late-" + i;
      while (apply("good", core, 0, CoreEnd.RUNNING) == ApplyResult.NO_ROOM) {
        refused++;
        assertThat(refused).as("it is not shut out for ever").isLessThan(2_000);
      }
      assertThat(apply("good", core, 1, CoreEnd.RUNNING)).isEqualTo(ApplyResult.APPLIED);
    }
    fill("hog2", CoreEnd.RUNNING);
    assertThat(state.ages().forgotten().cores()).isPositive();
    assertThat(state.summaries())
        .filteredOn(core -> core.key().session().equals("good"))
        .as("others do not lose a core, ended or not")
        .hasSize(201)
        .allSatisfy(core -> assertThat(core.lost()).isZero());
  }

  /**
   * Many sessions, none of which has half of the state: what has ended leaves for a smaller one.
   */
  @Test
  void endedCoresOfManySessionsLeaveForOneThatBegins() {
    state.image(Stream.IMAGE);
    int sessions = 0;
    while (apply("ended-" + sessions, "one", 0, CoreEnd.HALTED) != ApplyResult.NO_ROOM
        && state.ages().forgotten().cores() == 0) {
      for (int i = 0; i < 100; i++) {
        var _ = apply("ended-" + sessions, "core-" + i, 0, CoreEnd.HALTED);
      }
      sessions++;
      assertThat(sessions).isLessThan(MANY);
    }
    int refused = 0;
    for (int i = 0; i < 10; i++) {
      while (apply("late", "late-" + i, 0, CoreEnd.RUNNING) == ApplyResult.NO_ROOM) {
        refused++;
        assertThat(refused).as("it is not shut out").isLessThan(2_000);
      }
    }
    assertThat(sessions).isGreaterThan(2);
    assertThat(state.summaries())
        .filteredOn(core -> core.key().session().equals("late"))
        .hasSize(10);
  }

  /** Ended cores of the same session make room for its own. */
  @Test
  void whoFillsItHimselfGoesOnInThePlaceOfHisEndedCores() {
    state.image(Stream.IMAGE);
    assertThat(apply("good", "early", 0, CoreEnd.HALTED)).isEqualTo(ApplyResult.APPLIED);
    assertThat(fill("own", CoreEnd.HALTED)).isEqualTo(MANY);
    assertThat(state.summary(new CoreKey("good", "early"))).isPresent();
    assertThat(state.ages().forgotten().cores()).isEqualTo(MANY + 1L - state.summaries().size());
    assertThat(budget.held()).isLessThanOrEqualTo(budget.limit());
  }
}
