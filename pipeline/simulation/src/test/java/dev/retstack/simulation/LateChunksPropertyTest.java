package dev.retstack.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.simulation.model.ModelChunk;
import dev.retstack.simulation.model.ModelCore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Chunks that come again, late, or not at all, with owners that die in between. In the end, what is
 * known and published is what the chunks give that did not come late.
 */
class LateChunksPropertyTest {
  private static final long[] THRESHOLDS = {0, 30, 1000};
  private static final int LATE_MAX = 40;

  @Test
  void aLateChunkIsLostAndCounted() {
    long[] late = new long[1];
    Seeds.each(seed -> late[0] += follow(seed, false));
    assertThat(late[0]).as("late chunks").isPositive();
  }

  @Test
  void canaryAReaderThatExpectsLateChunksIsWrong() {
    assertThatThrownBy(() -> Seeds.each(seed -> follow(seed, true)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("-Dretstack.seed=");
  }

  /** Returns how many chunks came late. */
  private static long follow(long seed, boolean expectsLate) {
    SplittableRandom random = new SplittableRandom(seed);
    long threshold = THRESHOLDS[random.nextInt(THRESHOLDS.length)];
    int drop = random.nextBoolean() ? 0 : random.nextInt(50);
    int late = random.nextInt(600);
    int crash = random.nextInt(30);
    int store = 1 + random.nextInt(100);
    GraphState expected = state();
    Follower published = new Follower(threshold);
    expected.events(published);
    List<List<ModelChunk>> arriving = new ArrayList<>();
    long lost = 0;
    for (ModelCore core : Cores.any(random, 3, random.nextInt(3) * 10)) {
      List<ModelChunk> sent = sent(core, random);
      List<Integer> arrivals =
          Delays.of(sent.size(), drop, random.nextInt(200), late, LATE_MAX, random);
      List<Integer> inOrder = Delays.inOrder(arrivals);
      lost += arrivals.stream().filter(i -> !inOrder.contains(i)).count();
      (expectsLate ? arrivals.stream().distinct().sorted() : inOrder.stream())
          .forEach(i -> apply(expected, sent.get(i)));
      arriving.add(new ArrayList<>(arrivals.stream().map(sent::get).toList()));
    }
    published.commit();

    Follower follower = new Follower(threshold);
    List<ModelChunk> log = mixed(arriving, random);
    byte[] stored = state().copy();
    int next = 0;
    GraphState owner = restored(stored, follower);
    for (int at = 0; at < log.size(); at++) {
      apply(owner, log.get(at));
      Validations.invariants(owner);
      if (random.nextInt(50) == 0) {
        ReportBuilder.of(owner).build(); // looking at it changes nothing
      }
      if (Faults.hits(random, store)) {
        follower.commit();
        stored = owner.copy();
        next = at + 1;
      } else if (Faults.hits(random, crash)) {
        follower.abort();
        owner = restored(stored, follower);
        at = next - 1;
        crash = Math.max(0, crash - 5); // it comes to an end
      }
    }
    follower.commit();
    sameResult(expected, owner);
    assertThat(follower.view()).isEqualTo(published.view());
    assertThat(owner.cores().stream().mapToLong(c -> c.stats().get(Stat.LATE_CHUNKS)).sum())
        .isEqualTo(lost);
    sameResult(expected, restored(owner.copy(), follower));
    return lost;
  }

  private static void sameResult(GraphState expected, GraphState subject) {
    Report want = ReportBuilder.of(expected).build();
    Report got = ReportBuilder.of(subject).build();
    assertThat(got.resultHash()).isEqualTo(want.resultHash());
    assertThat(got.functions()).isEqualTo(want.functions());
    assertThat(got.edges()).isEqualTo(want.edges());
    assertThat(got.cores()).isEqualTo(want.cores());
    assertThat(ReportBuilder.of(subject).anomalies())
        .isEqualTo(ReportBuilder.of(expected).anomalies());
  }

  private static List<ModelChunk> sent(ModelCore core, SplittableRandom random) {
    int largest = 10 + random.nextInt(random.nextBoolean() ? 50 : 400);
    return new Faults(
            random.nextLong(), random.nextInt(20), 0, 0, 0, 0, 0, 0, random.nextInt(4) == 0)
        .send(core, largest);
  }

  private static List<ModelChunk> mixed(List<List<ModelChunk>> cores, SplittableRandom random) {
    List<ModelChunk> log = new ArrayList<>();
    cores.removeIf(List::isEmpty);
    while (!cores.isEmpty()) {
      log.add(cores.get(random.nextInt(cores.size())).removeFirst());
      cores.removeIf(List::isEmpty);
    }
    return log;
  }

  private static GraphState state() {
    GraphState state = new GraphState();
    state.image(ModelCore.image());
    return state;
  }

  private static void apply(GraphState state, ModelChunk chunk) {
    ApplyResult result = state.apply(chunk.meta(), chunk.core(), chunk.imageId(), chunk.batch());
    assertThat(result).isIn(ApplyResult.APPLIED, ApplyResult.STALE, ApplyResult.LATE);
  }

  private static GraphState restored(byte[] bytes, Follower follower) {
    try {
      GraphState state = GraphState.ofCopy(bytes, GraphLimits.DEFAULT, StateBudget.UNLIMITED);
      state.events(follower);
      return state;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
