package dev.retstack.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.pyramid.JobPyramids;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.snapshot.ByteOutput;
import dev.retstack.graph.snapshot.StateChanges;
import dev.retstack.graph.state.GraphState;
import dev.retstack.simulation.model.ModelChunk;
import dev.retstack.simulation.model.ModelCore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * The pyramids of a partition whose owners die, whose chunks come late, twice and with losses, byte
 * for byte against those of the chunks that came in order, without a crash.
 */
class JobPyramidsPropertyTest {
  private static final int LATE_MAX = 40;
  private static final int CORES = 1_000;

  /** What a checkpoint has. */
  private static final class Parts implements StateChanges {
    private final Map<String, byte[]> parts = new HashMap<>();

    @Override
    public void put(String key, byte[] part) {
      parts.put(key, part);
    }

    @Override
    public void remove(String key) {
      assertThat(parts.remove(key)).as("part %s is there", key).isNotNull();
    }
  }

  private static final class Owner {
    private final GraphState state;
    private final JobPyramids pyramids;

    Owner(Map<String, byte[]> stored) throws IOException {
      Map<String, byte[]> parts = new HashMap<>(stored);
      pyramids = JobPyramids.takeFrom(parts, StateBudget.UNLIMITED);
      state =
          parts.isEmpty()
              ? new GraphState()
              : GraphState.readFrom(parts, GraphLimits.DEFAULT, StateBudget.UNLIMITED);
      state.image(ModelCore.image());
      state.pyramids(pyramids);
    }

    void apply(ModelChunk chunk) {
      var _ = state.apply(chunk.meta(), chunk.core(), chunk.imageId(), chunk.batch());
    }

    void writeTo(Parts parts) throws IOException {
      state.writeChanges(parts);
      pyramids.writeChanges(parts);
    }

    Map<CoreKey, String> all() throws IOException {
      Map<CoreKey, String> all = new HashMap<>();
      for (CoreKey key : pyramids.cores()) {
        ByteOutput bytes = new ByteOutput(1 << 12);
        pyramids.of(key).writeTo(bytes);
        all.put(key, HexFormat.of().formatHex(bytes.take()));
      }
      return all;
    }
  }

  @Test
  void lateDoubledAndLostChunksAndCrashesChangeNothing() {
    Seeds.each(seed -> check(seed, false));
  }

  @Test
  void canaryAnOwnerThatForgetsTheTilesIsFoundOut() {
    assertThatThrownBy(() -> Seeds.each(seed -> check(seed, true)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("-Dretstack.seed=");
  }

  private static void check(long seed, boolean forgets) {
    SplittableRandom random = new SplittableRandom(seed);
    try {
      Owner expected = new Owner(Map.of());
      Parts log = new Parts();
      Owner owner = new Owner(log.parts);
      for (ModelCore core : ContextPropertyTest.cores(random)) {
        List<ModelChunk> sent =
            new Faults(
                    random.nextLong(), random.nextInt(20), 0, 0, 0, 0, 0, 0, random.nextInt(4) == 0)
                .send(core, 10 + random.nextInt(200));
        List<Integer> arrivals =
            Delays.of(
                sent.size(),
                random.nextInt(50),
                random.nextInt(200),
                random.nextInt(600),
                LATE_MAX,
                random);
        Delays.inOrder(arrivals).stream().map(sent::get).forEach(expected::apply);
        int next = 0;
        int crash = 30;
        owner.writeTo(log);
        for (int at = 0; at < arrivals.size(); at++) {
          owner.apply(sent.get(arrivals.get(at)));
          if (random.nextInt(20) == 0) {
            ReportBuilder.of(owner.state).build(); // looking at it changes nothing
          }
          if (random.nextInt(30) == 0) {
            owner.writeTo(log);
            next = at + 1;
          } else if (Faults.hits(random, crash)) {
            Map<String, byte[]> stored = new HashMap<>(log.parts);
            stored.keySet().removeIf(key -> forgets && key.startsWith("y/"));
            owner = new Owner(stored);
            at = next - 1;
            crash = Math.max(0, crash - 5); // it comes to an end
          }
        }
      }
      owner.writeTo(log);
      owner = new Owner(log.parts);
      assertThat(owner.all()).isEqualTo(expected.all());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Many cores have coarser tiles, or none, and never more than a fifth of the budget. */
  @Test
  void manyCoresStayInTheirShare() {
    Seeds.each(
        seed -> {
          SplittableRandom random = new SplittableRandom(seed);
          StateBudget budget = new StateBudget((8L << 20) << random.nextInt(8), 0);
          JobPyramids pyramids = new JobPyramids(budget);
          for (int core = 0; core < CORES; core++) {
            pyramids.begin(new CoreKey("session", "core-" + core));
          }
          for (int i = 0; i < 20 * CORES; i++) {
            var pyramid = pyramids.of(new CoreKey("session", "core-" + random.nextInt(CORES)));
            if (pyramid != null) {
              pyramid.turnTo(0, 1, 0);
              pyramid.call(random.nextInt(8), i, 1000L * i, 1000L * i + 10);
            }
          }
          assertThat(budget.held()).isEqualTo(pyramids.bytes());
          assertThat(pyramids.bytes()).isBetween(1L, budget.limit() / 5);
          pyramids.forget(Set.of("session"));
          assertThat(budget.held()).isZero();
        });
  }
}
