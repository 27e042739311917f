package dev.retstack.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.progress.FleetListener;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.fleet.zoo.EachIsa;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.Image;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** No core is starved: many cores of unequal work on two threads, seen by their virtual clocks. */
class FairnessTest {
  private static final int THREADS = 2;
  private static final long SLICE = 50_000;
  private static final long LIMIT = 10 * SLICE;

  /**
   * How far a core may be behind the foremost: one slice each for the foremost's own and for that
   * of the last chunk seen, and some for a thread that the host stops for a while.
   */
  private static final long BEHIND_MAX = 8 * SLICE;

  private static final String[][] WORK = {{"fib", "40"}, {"w200", "100000000"}};

  /** Batches of a few records and of many, so that some cores send in every few instructions. */
  private static final int[] BATCHES = {3, 200, 16_384};

  /** Each work with each batch; {@code -Dretstack.zoo=all} takes a core of each image. */
  private static List<CoreSpec> cores() {
    List<CoreSpec> cores = new ArrayList<>();
    for (LoadedImage image : EachIsa.images()) {
      if (!EachIsa.ALL && cores.size() == WORK.length * BATCHES.length) {
        break;
      }
      int number = cores.size();
      String[] work = WORK[number % WORK.length];
      CoreOptions options =
          CoreOptions.of(LinuxOptions.of("zoo").withArguments(List.of("zoo", work[0], work[1])))
              .withRecordsPerChunk(BATCHES[number % BATCHES.length])
              .withInstructionLimit(LIMIT);
      cores.add(new CoreSpec(image.elf().name(), image, options));
    }
    return cores;
  }

  /** Keeps the clock of each core as its last chunk told it, and who was how far behind. */
  private static final class Watch implements ChunkSink {
    private final Map<String, Long> clocks = new HashMap<>();
    private final Map<String, Long> chunks = new HashMap<>();
    private final int cores;
    private long mostBehind;

    Watch(int cores) {
      this.cores = cores;
    }

    @Override
    public void image(Image image) {}

    @Override
    public synchronized void chunk(Chunk chunk) {
      chunks.merge(chunk.getCore(), 1L, Long::sum);
      clocks.put(chunk.getCore(), chunk.getLastTime());
      long slowest =
          clocks.size() < cores
              ? 0 // one has not even begun
              : clocks.values().stream().mapToLong(Long::longValue).min().orElseThrow();
      mostBehind = Math.max(mostBehind, chunk.getLastTime() - slowest);
    }

    @Override
    public void close() {}
  }

  private static Watch run(List<CoreSpec> cores, int threads) throws Exception {
    Watch watch = new Watch(cores.size());
    FleetOptions options =
        FleetOptions.standard()
            .withThreads(threads)
            .withSliceInstructions(SLICE)
            .withFlushInterval(Duration.ofNanos(1)); // a chunk at the end of every slice
    List<CoreResult> results = Fleet.run(cores, options, watch, FleetListener.NONE);
    assertThat(results)
        .allSatisfy(
            result -> {
              assertThat(result.ending().end()).isEqualTo(CoreEnd.STOPPED);
              assertThat(result.instructions()).isBetween(LIMIT, LIMIT + 1_000);
            });
    return watch;
  }

  @Test
  void noCoreIsFarBehindWhateverItsWork() throws Exception {
    List<CoreSpec> cores = cores();
    Watch watch = run(cores, THREADS);
    long most = watch.chunks.values().stream().mapToLong(Long::longValue).max().orElseThrow();
    long fewest = watch.chunks.values().stream().mapToLong(Long::longValue).min().orElseThrow();
    assertThat(most).as("the work is unequal, in chunks").isGreaterThan(100 * fewest);
    assertThat(watch.mostBehind).isLessThanOrEqualTo(BEHIND_MAX);
  }

  /** With one thread there is no host to excuse: turns are taken in strict order. */
  @Test
  void onOneThreadTheBoundIsExact() throws Exception {
    Watch watch = run(cores(), 1);
    assertThat(watch.mostBehind).isBetween(SLICE / 2, 2 * SLICE + 1_000);
  }
}
