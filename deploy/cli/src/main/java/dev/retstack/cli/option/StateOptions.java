package dev.retstack.cli.option;

import dev.retstack.graph.aggregate.GraphLimits;
import dev.retstack.service.PipelineConfig;
import java.time.Duration;
import java.util.OptionalLong;
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

  @Option(
      names = "--state-mib",
      paramLabel = "N",
      description = {
        "MiB of memory that the states of all partitions of this member may hold (default: half of"
            + " the",
        "heap beyond 96 MiB, at least 16). Beyond it chunks of new cores go to dead-letters, and what"
            + " makes",
        "a core larger than its share is left out and counted (STATE_FULL)."
      })
  private Integer stateMebibytes;

  /** Bytes that states may hold; empty where nothing was said. */
  public OptionalLong stateBytes() {
    if (stateMebibytes != null && stateMebibytes < 1) {
      throw new IllegalArgumentException(
          "--state-mib %d: give a number from 1 on".formatted(stateMebibytes));
    }
    return stateMebibytes == null
        ? OptionalLong.empty()
        : OptionalLong.of((long) stateMebibytes << 20);
  }

  /** How long silent sessions are kept; zero = for ever. */
  public Duration keepEnded() {
    return keepEnded;
  }

  /** The limits of a state. */
  public GraphLimits limits() {
    return GraphLimits.DEFAULT.but().treeCallsPerCore(treeCalls).cores(cores).build();
  }
}
