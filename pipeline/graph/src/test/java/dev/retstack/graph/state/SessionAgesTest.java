package dev.retstack.graph.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.retstack.graph.Stream;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.snapshot.StateLog;
import java.io.IOException;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which sessions are over, by the log's time alone. */
class SessionAgesTest {
  private static final long KEEP = 3_600_000;
  private static final long STEP = SessionAges.LONGEST_STEP_MILLIS;
  private static final long BEGIN = 1_795_000_000_000L;

  private final SessionAges ages = new SessionAges(new StateLog(), 1_000);

  private boolean hear(String session, long millis) {
    boolean taken = ages.reach(session, millis, KEEP);
    if (taken) {
      ages.noteActivity(session);
    }
    return taken;
  }

  /** Another session goes on for so long. */
  private void passes(long millis) {
    for (long t = 0; t <= millis; t += STEP) {
      assertThat(hear("other", BEGIN + t)).isTrue();
    }
  }

  @Test
  void aSessionIsOverWhenTheLogWentOnWithoutItForLonger() {
    assertThat(hear("s", BEGIN)).isTrue();
    passes(KEEP);
    assertThat(hear("s", BEGIN + KEEP)).as("exactly so long").isTrue();
    passes(2 * KEEP + STEP);
    assertThat(hear("s", BEGIN + 2 * KEEP + STEP)).isFalse();
    assertThat(hear("t", BEGIN + 2 * KEEP + STEP)).as("a new one").isTrue();
  }

  @Test
  void whoComesAfterALongSilenceOfTheWholeLogIsNotOver() {
    hear("s", BEGIN);
    assertThat(hear("s", BEGIN + 100 * KEEP)).isTrue();
  }

  @Test
  void oneClockThatIsWrongByYearsEndsNobody() {
    hear("s", BEGIN);
    hear("other", BEGIN + 10_000L * KEEP);
    assertThat(hear("s", BEGIN + 1_000)).isTrue();
    hear("other", -1);
    hear("other", 0);
    assertThat(hear("s", BEGIN + 2_000)).isTrue();
  }

  @Test
  void nothingIsOverWhereAllIsKept() {
    ages.reach("s", BEGIN, 0);
    ages.noteActivity("s");
    for (long t = 0; t < 10 * KEEP; t += STEP) {
      ages.reach("other", BEGIN + t, 0);
      ages.noteActivity("other");
    }
    assertThat(ages.reach("s", BEGIN + 10 * KEEP, 0)).isTrue();
  }

  @Test
  void whatIsOverLeavesTheStateAndStaysRefusedInItsSnapshot() throws IOException {
    GraphState state = new GraphState();
    new Stream(state).enter(10, 0, Stream.MAIN, 0x500).send();
    String session = Stream.CORE.session();
    state.ages().reach(session, BEGIN, KEEP);
    state.ages().noteActivity(session);
    String before = ReportBuilder.of(state).build().resultHash();
    assertThat(state.forget(Set::of)).isEmpty();
    assertThat(ReportBuilder.of(state).build().resultHash()).isEqualTo(before);
    for (long t = 0; t <= KEEP + STEP; t += STEP) {
      state.ages().reach("other", BEGIN + t, KEEP);
      state.ages().noteActivity("other");
    }
    state = copy(state); // over, and still in it
    assertThat(state.cores()).hasSize(1);
    assertThat(state.forget(Set::of)).containsExactly(session);
    assertThat(state.cores()).isEmpty();
    state.profiles((key, _) -> fail("totals of %s are left", key));
    assertThat(state.images()).isEmpty();
    state = copy(state);
    assertThat(state.ages().forgotten())
        .isEqualTo(new ForgottenSessions(1, 1, 1, 0, BEGIN + KEEP + STEP));
    assertThat(state.ages().reach(session, BEGIN + 2 * KEEP, KEEP)).isFalse();
    assertThat(ReportBuilder.of(state).build().resultHash())
        .isEqualTo(ReportBuilder.of(new GraphState()).build().resultHash());
  }

  private static GraphState copy(GraphState state) throws IOException {
    return GraphState.ofCopy(state.copy(), GraphLimits.DEFAULT, StateBudget.UNLIMITED);
  }
}
