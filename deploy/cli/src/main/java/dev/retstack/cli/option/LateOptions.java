package dev.retstack.cli.option;

import dev.retstack.graph.aggregate.LateLimits;
import picocli.CommandLine.Option;

/** How long a member waits for chunks that did not come before it takes them for lost. */
public final class LateOptions {
  @Option(
      names = "--late-chunks",
      defaultValue = "64",
      paramLabel = "N",
      description =
          "Chunks of a core that are held where one ahead of them is missing, so that it counts if"
              + " it still comes (default: ${DEFAULT-VALUE}). 0: what is missing is lost at once.")
  private int chunks;

  @Option(
      names = "--late-mib",
      defaultValue = "32",
      paramLabel = "N",
      description =
          "MiB of them that a partition holds, in memory and in each checkpoint; one core at most a"
              + " quarter (default: ${DEFAULT-VALUE}).")
  private int mebibytes;

  /** What is held. */
  public LateLimits limits() {
    return LateLimits.DEFAULT.withChunksPerCore(chunks).withBytes((long) mebibytes << 20);
  }
}
