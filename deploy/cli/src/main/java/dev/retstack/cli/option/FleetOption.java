package dev.retstack.cli.option;

import picocli.CommandLine.Option;

/** {@code --fleet}: the cores stand in a file. */
public final class FleetOption {
  @Option(
      names = "--fleet",
      paramLabel = "FILE",
      description = {
        "Run the cores of a fleet file, see \"retstack fleet --help\"; or fleet.conf, the example that",
        "comes along. Options of the fleet as a whole win over the file; those of cores stand in it."
      })
  private String file;

  /** The file as named; null where the user named none. */
  public String file() {
    return file;
  }
}
