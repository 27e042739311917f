package dev.retstack.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/**
 * Cores, a log and owners of partitions under any faults. {@code -Dretstack.simulation=10000} runs
 * more seeds than each check does, {@code -Dretstack.seed=S} one again.
 */
class SimulationTest {
  /** Steps that a planted defect must be shown by, at most. */
  private static final int SHORT = 6;

  @Test
  void underAnyFaultsNothingIsInventedAndNothingCountedTwice() {
    Seeds.each("retstack.simulation", seed -> Simulation.run(seed, () -> Consumer.Tampering.NONE));
  }

  /** A canary: a reader that hides what the core had dropped must be found out, by a few steps. */
  @Test
  void aReaderThatHidesWhatWasDroppedIsFoundOut() {
    Consumer.Tampering hides =
        chunk -> {
          if (chunk.getLostBefore() == 0 || !isWhole(chunk)) {
            return chunk;
          }
          Chunk changed = Chunk.newBuilder(chunk).build();
          changed.setLostBefore(0);
          return Chunks.seal(changed);
        };
    foundOut(() -> hides, "lost: expected");
  }

  /** Another: one that takes chunks for the next ones, whatever was between, invents calls. */
  @Test
  void aReaderThatClosesGapsIsFoundOut() {
    foundOut(ClosesGaps::new, "expected");
  }

  private static void foundOut(Supplier<Consumer.Tampering> defect, String how) {
    Throwable found =
        catchThrowable(
            () -> Seeds.each("retstack.simulation", seed -> Simulation.run(seed, defect)));
    assertThat(found)
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("-Dretstack.seed=")
        .hasMessageContaining(how);
    List<String> steps = found.getMessage().lines().filter(line -> line.startsWith("  ")).toList();
    assertThat(steps).as(found.getMessage()).hasSizeBetween(1, SHORT);
  }

  private static boolean isWhole(Chunk chunk) {
    try {
      Chunks.check(chunk);
      return true;
    } catch (CorruptChunkException e) {
      return false;
    }
  }

  /** Numbers chunks and records anew, as if none had been missing. */
  private static final class ClosesGaps implements Consumer.Tampering {
    private final Map<String, long[]> seen = new HashMap<>();

    @Override
    public Chunk of(Chunk chunk) {
      if (!isWhole(chunk)) {
        return chunk;
      }
      long[] next = seen.computeIfAbsent(chunk.getCore(), _ -> new long[2]);
      Chunk changed = Chunk.newBuilder(chunk).build();
      changed.setSequence(next[0]++);
      changed.setRecordsBefore(next[1]);
      next[1] += chunk.getRecordCount();
      return Chunks.seal(changed);
    }
  }
}
