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
          "Longest time from a chunk to the checkpoint that holds it (default: ${DEFAULT-VALUE}). A"
              + " big state is written less often.")
  private long seconds;

  @Option(
      names = "--checkpoint-chunks",
      defaultValue = "512",
      paramLabel = "N",
      description = "Chunks after which a checkpoint is taken earlier (default: ${DEFAULT-VALUE}).")
  private int chunks;

  /** Longest time from one to the next. */
  public Duration interval() {
    return Duration.ofSeconds(seconds);
  }

  /** Most chunks from one to the next. */
  public int chunks() {
    return chunks;
  }
}
