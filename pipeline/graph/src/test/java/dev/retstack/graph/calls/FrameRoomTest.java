package dev.retstack.graph.calls;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.Stream;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.graph.tree.Ending;
import dev.retstack.schema.record.RecordBatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The stacks of a core have room for so many frames together; deeper calls are left out. */
class FrameRoomTest {
  private static final int DEPTH = 64;

  /** Frames that any stack has room for. */
  private static final int OWN = 32;

  private static final long FROM = 0x900;
  private static final GraphLimits LIMITS = GraphLimits.DEFAULT.but().maxDepth(DEPTH).build();

  private final Stream stream = new Stream(new GraphState(LIMITS));
  private long time;

  /** Tasks 1 to 4 take all the room there is. */
  @BeforeEach
  void fill() {
    for (int task = 1; task <= 4; task++) {
      stream.started(++time, task);
      enter(0, DEPTH);
    }
    stream.started(++time, 5);
  }

  private void enter(int from, int to) {
    for (int depth = from; depth < to; depth++) {
      stream.enter(++time, depth, Stream.A, FROM);
    }
    stream.send();
  }

  private void exit(int from, int to) {
    for (int depth = from - 1; depth >= to; depth--) {
      stream.exit(++time, depth, Stream.A, FROM);
    }
    stream.send();
  }

  @Test
  void callsBeyondTheRoomAreLeftOutAndTheOthersReturn() {
    enter(0, DEPTH);
    exit(DEPTH, 0);
    assertCounts(4 * DEPTH + OWN, OWN, 2L * (DEPTH - OWN));
  }

  @Test
  void theRoomOfATaskThatEndedServesAgain() {
    enter(0, DEPTH);
    exit(DEPTH, 0);
    stream.switched(++time, 1, DEPTH).ended(++time, 1).switched(++time, 5, 0);
    enter(0, DEPTH);
    exit(DEPTH, 0);
    assertCounts(4 * DEPTH + OWN + DEPTH, OWN + DEPTH, 2L * (DEPTH - OWN));
  }

  @Test
  void aCallThatPassesOverThoseLeftOutIsKept() {
    enter(0, DEPTH);
    enter(OWN - 2, OWN); // a longjmp
    exit(OWN, 0);
    assertCounts(4 * DEPTH + OWN + 2, OWN, DEPTH - OWN);
  }

  @Test
  void aStateReadBackHasTheSameRoom() throws Exception {
    enter(0, DEPTH - 8);
    byte[] bytes = stream.state().copy();
    GraphState copy = GraphState.ofCopy(bytes, LIMITS, StateBudget.UNLIMITED);
    assertThat(copy.copy()).isEqualTo(bytes);
  }

  /** Others took all there is while it was at rest. */
  @Test
  void aCoreThatWakesHasTheFramesThatItHad() {
    StateBudget budget = new StateBudget(8 << 20, 0);
    Stream core = new Stream(new GraphState(LIMITS, TimeRules.DEFAULT, budget));
    for (int call = 0; call < 1_500; call++) { // rows of the tree beyond what a core is promised
      core.enter(++time, 0, Stream.A, FROM).exit(++time, 0, Stream.A, FROM).send();
    }
    CoreKey other = new CoreKey("s", "other");
    RecordBatch none = new RecordBatch(1);
    core.state()
        .apply(ChunkMeta.running(0, 0, 0, 0, ClockUnit.NANOSECONDS), other, Stream.IMAGE_ID, none);
    budget.open(0).charge(budget.limit());
    core.state().makeRoom();
    assertThat(core.state().resting()).isEqualTo(1);
    core.enter(++time, 0, Stream.A, FROM).exit(++time, 0, Stream.A, FROM).send();
    CoreGraph woken = core.state().core(Stream.CORE).orElseThrow();
    assertThat(woken.account().room()).isNegative();
    assertThat(woken.stats().get(Stat.FRAMES_NOT_KEPT)).isZero();
    assertThat(woken.progress().ended(Ending.RETURNED)).isEqualTo(1_501);
  }

  private void assertCounts(long entries, long returned, long leftOut) {
    CoreGraph core = stream.state().core(Stream.CORE).orElseThrow();
    assertThat(core.stats().get(Stat.FRAMES_NOT_KEPT)).isEqualTo(leftOut);
    assertThat(core.progress().entries()).isEqualTo(entries);
    assertThat(core.progress().ended(Ending.RETURNED)).isEqualTo(returned);
    for (Stat stat :
        new Stat[] {Stat.MISPLACED_EXITS, Stat.UNKNOWN_EXITS, Stat.STACK_JUMPS, Stat.BAD_RECORDS}) {
      assertThat(core.stats().get(stat)).as(stat.name()).isZero();
    }
  }
}
