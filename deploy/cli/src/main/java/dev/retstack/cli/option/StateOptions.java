package dev.retstack.cli.option;

import dev.retstack.graph.aggregate.GraphLimits;
import dev.retstack.service.PipelineConfig;
import java.time.Duration;
import picocli.CommandLine.Option;

/** How much a partition may hold: what lies beyond is counted and told, never silently left out. */
public final class StateOptions {
  @Option(
      names = "--cores-per-partition",
      defaultValue = "100000",
      paramLabel = "N",
      description =
          "Cores that a partition may hold, those that ended included (default: ${DEFAULT-VALUE});"
              + " chunks of others go to dead-letters.")
  private int cores;

  @Option(
      names = "--tree-calls",
      defaultValue = "" + PipelineConfig.TREE_CALLS_PER_CORE,
      paramLabel = "N",
      description =
          "Calls of each core kept for its call tree (default: ${DEFAULT-VALUE}): most of what a"
              + " core takes in memory and in checkpoints. Totals count all calls.")
  private int treeCalls;

  @Option(
      names = "--keep-ended",
      defaultValue = "7d",
      paramLabel = "TIME",
      converter = TimeSpanConverter.class,
      description = {
        "Forget a session when nothing has come of it for so long, by the time of the events topic:",
        "30m, 12h, 7d; 0 keeps all (default: ${DEFAULT-VALUE}). What was published of it stays;",
        "chunks of it that come later go to dead-letters."
      })
  private Duration keepEnded;

  /** How long silent sessions are kept; zero = for ever. */
  public Duration keepEnded() {
    return keepEnded;
  }

  /** The limits of a state. */
  public GraphLimits limits() {
    if (cores < 1 || treeCalls < 0) {
      throw new IllegalArgumentException(
          "--cores-per-partition %d, --tree-calls %d: at least 1 and 0"
              .formatted(cores, treeCalls));
    }
    return GraphLimits.DEFAULT.but().treeCallsPerCore(treeCalls).cores(cores).build();
  }
}
