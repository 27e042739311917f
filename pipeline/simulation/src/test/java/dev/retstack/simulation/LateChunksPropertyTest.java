package dev.retstack.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.LateLimits;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.simulation.model.ModelChunk;
import dev.retstack.simulation.model.ModelCore;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Chunks that come again, late, in any order, or not at all, with owners that die in between. In
 * the end, what is known and published is what the same chunks give in order.
 */
class LateChunksPropertyTest {
  private static final long[] THRESHOLDS = {0, 30, 1000};
  private static final int LATE_MAX = 40;

  @Test
  void chunksInAnyOrderGiveTheBytesOfThoseInOrder() {
    Seeds.each(
        seed -> {
          SplittableRandom random = new SplittableRandom(seed);
          GraphState expected = state(LateLimits.DEFAULT);
          GraphState subject = state(LateLimits.DEFAULT);
          for (ModelCore core : Cores.any(random, 3, random.nextInt(3) * 10)) {
            List<ModelChunk> sent = sent(core, random);
            sent.forEach(chunk -> apply(expected, chunk));
            for (int i : Delays.of(sent.size(), 0, 0, random.nextInt(600), LATE_MAX, random)) {
              apply(subject, sent.get(i));
              if (random.nextInt(50) == 0) {
                ReportBuilder.of(subject).build(); // looking at it changes nothing
              }
            }
          }
          assertThat(subject.heldChunks()).isZero();
          assertThat(LinkedRunsTest.snapshot(subject)).isEqualTo(LinkedRunsTest.snapshot(expected));
          assertThat(subject.cores())
              .extracting(core -> core.revision())
              .isEqualTo(expected.cores().stream().map(core -> core.revision()).toList());
        });
  }

  @Test
  void whoFollowsEndsWithWhatIsPublishedOfChunksInOrder() {
    long[] amendments = new long[1];
    Seeds.each(seed -> amendments[0] += follow(seed, LateLimits.DEFAULT, true));
    assertThat(amendments[0]).as("amendments").isPositive();
  }

  @Test
  void canaryWhoIgnoresAmendmentsIsWrong() {
    assertThatThrownBy(() -> Seeds.each(seed -> follow(seed, LateLimits.DEFAULT, false)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("-Dretstack.seed=");
  }

  @Test
  void canaryWhoHoldsNothingIsWrong() {
    assertThatThrownBy(() -> Seeds.each(seed -> follow(seed, LateLimits.NONE, true)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("-Dretstack.seed=");
  }

  /** Returns how often it was amended. */
  private static long follow(long seed, LateLimits limits, boolean followsTheRule) {
    SplittableRandom random = new SplittableRandom(seed);
    long threshold = THRESHOLDS[random.nextInt(THRESHOLDS.length)];
    int drop = random.nextBoolean() ? 0 : random.nextInt(50);
    int late = random.nextInt(600);
    int crash = random.nextInt(30);
    int store = 1 + random.nextInt(100);
    List<ModelChunk> inOrder = new ArrayList<>();
    List<List<ModelChunk>> arriving = new ArrayList<>();
    for (ModelCore core : Cores.any(random, 3, random.nextInt(3) * 10)) {
      List<ModelChunk> sent = sent(core, random);
      List<Integer> arrivals =
          Delays.of(sent.size(), drop, random.nextInt(200), late, LATE_MAX, random);
      arrivals.stream().distinct().sorted().map(sent::get).forEach(inOrder::add);
      arriving.add(new ArrayList<>(arrivals.stream().map(sent::get).toList()));
    }
    GraphState expected = state(LateLimits.NONE);
    Follower published = new Follower(threshold, true);
    expected.events(published);
    inOrder.forEach(chunk -> apply(expected, chunk));
    published.commit();

    Follower follower = new Follower(threshold, followsTheRule);
    List<ModelChunk> log = mixed(arriving, random);
    byte[] stored = LinkedRunsTest.snapshot(state(limits));
    int next = 0;
    GraphState owner = restored(stored, limits, follower);
    for (int at = 0; at < log.size(); at++) {
      apply(owner, log.get(at));
      Validations.invariants(owner);
      if (Faults.hits(random, store)) {
        owner.tell();
        follower.commit();
        stored = LinkedRunsTest.snapshot(owner);
        next = at + 1;
      } else if (Faults.hits(random, crash)) {
        follower.abort();
        owner = restored(stored, limits, follower);
        at = next - 1;
        crash = Math.max(0, crash - 5); // it comes to an end
      }
    }
    owner.tell();
    follower.commit();
    sameResult(expected, owner);
    assertThat(follower.view()).isEqualTo(published.view());
    byte[] before = LinkedRunsTest.snapshot(owner);
    owner.settle();
    sameResult(expected, owner);
    assertThat(owner.heldChunks()).isZero();
    sameResult(expected, restored(before, limits, follower));
    return follower.amendments();
  }

  @Test
  void whatComesBehindTheWindowIsCountedAndNeverWrong() {
    long[] late = new long[1];
    Seeds.each(
        seed -> {
          SplittableRandom random = new SplittableRandom(seed);
          LateLimits limits = limits(random);
          GraphState subject = state(limits);
          GraphState expected = state(LateLimits.NONE);
          long tooLate = 0;
          for (ModelCore core : Cores.any(random, 3, random.nextInt(3) * 10)) {
            List<ModelChunk> sent = sent(core, random);
            boolean[] taken = new boolean[sent.size()];
            List<Integer> refused = new ArrayList<>();
            for (int i : Delays.of(sent.size(), 20, 100, random.nextInt(600), LATE_MAX, random)) {
              ApplyResult result = apply(subject, sent.get(i));
              taken[i] |= result != ApplyResult.STALE;
              if (result == ApplyResult.STALE) {
                refused.add(i);
              }
              if (random.nextInt(100) == 0) {
                subject = restored(LinkedRunsTest.snapshot(subject), limits, null);
              }
            }
            for (int i = 0; i < taken.length; i++) {
              if (taken[i]) {
                apply(expected, sent.get(i));
              }
            }
            tooLate += refused.stream().filter(i -> !taken[i]).count();
          }
          sameResult(expected, subject);
          long counted =
              subject.cores().stream().mapToLong(c -> c.stats().get(Stat.LATE_CHUNKS)).sum();
          assertThat(counted).isEqualTo(tooLate);
          late[0] += counted;
        });
    assertThat(late[0]).as("chunks that came too late").isPositive();
  }

  private static LateLimits limits(SplittableRandom random) {
    return new LateLimits(
        random.nextInt(8),
        random.nextBoolean() ? 1 << 20 : 300 + random.nextInt(2000),
        random.nextBoolean() ? 1 << 20 : random.nextInt(20),
        random.nextBoolean() ? 1 << 20 : 300 + random.nextInt(3000));
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

  private static GraphState state(LateLimits late) {
    GraphState state = new GraphState(GraphLimits.DEFAULT.withLate(late));
    state.image(ModelCore.image());
    return state;
  }

  private static ApplyResult apply(GraphState state, ModelChunk chunk) {
    ApplyResult result = state.apply(chunk.meta(), chunk.core(), chunk.imageId(), chunk.batch());
    assertThat(result).isNotIn(ApplyResult.NEEDS_IMAGE, ApplyResult.REFUSED);
    return result;
  }

  private static GraphState restored(byte[] bytes, LateLimits late, Follower follower) {
    try {
      GraphState state =
          GraphState.readFrom(
              new DataInputStream(new ByteArrayInputStream(bytes)),
              GraphLimits.DEFAULT.withLate(late));
      state.events(follower);
      return state;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
