package dev.retstack.cli.fleet;

import picocli.CommandLine.Option;

/** {@code --isolate}: whether cores run in separate processes. */
public final class IsolateOptions {
  @Option(
      names = "--isolate",
      negatable = true,
      description =
          "Run the cores of each image in a separate process, for images that are not"
              + " trusted. If the process dies, its cores end FAULTED and start again, as"
              + " NAME.restart-1.")
  private boolean isolate;

  @Option(
      names = "--isolate-restarts",
      defaultValue = "3",
      paramLabel = "N",
      description = "How often the cores of an image start again (default: ${DEFAULT-VALUE}).")
  private int restarts;

  /** True where the user asked for it. */
  public boolean isolate() {
    return isolate;
  }

  /** Restarts for each image, at most. */
  public int restarts() {
    return restarts;
  }
}
