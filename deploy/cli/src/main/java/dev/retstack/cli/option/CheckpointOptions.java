package dev.retstack.cli.option;

import java.time.Duration;
import picocli.CommandLine.Option;

/** How much a member that takes a partition over has to read again, against what that costs. */
public final class CheckpointOptions {
  @Option(
      names = "--checkpoint-seconds",
      defaultValue = "5",
      paramLabel = "N",
      description =
          "Longest time from a chunk to the checkpoint that holds it (default: ${DEFAULT-VALUE}).")
  private long seconds;

  @Option(
      names = "--checkpoint-chunks",
      defaultValue = "4096",
      paramLabel = "N",
      description = "Chunks after which a checkpoint is taken earlier (default: ${DEFAULT-VALUE}).")
  private int chunks;

  @Option(
      names = "--totals-seconds",
      defaultValue = "30",
      paramLabel = "N",
      description = {
        "Publish totals that changed to the profiles topic so often while cores run, and whenever",
        "a core ends (default: ${DEFAULT-VALUE}; 0: with each checkpoint). In all it takes at most",
        "a fiftieth of the processors' time."
      })
  private long totalsSeconds;

  /** From one publication of totals to the next while cores run. */
  public Duration totalsInterval() {
    return Duration.ofSeconds(totalsSeconds);
  }

  /** Longest time from one to the next. */
  public Duration interval() {
    return Duration.ofSeconds(seconds);
  }

  /** Most chunks from one to the next. */
  public int chunks() {
    return chunks;
  }
}
