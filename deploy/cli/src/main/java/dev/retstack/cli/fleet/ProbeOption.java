package dev.retstack.cli.fleet;

import dev.retstack.cli.command.CommandException;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.probe.nativec.NativeLibrary;
import picocli.CommandLine.Option;

/** {@code --probe}: what sees the entries and exits of a core. */
public final class ProbeOption {
  @Option(
      names = "--probe",
      defaultValue = "auto",
      paramLabel = "PROBE",
      description =
          "auto (default): the probe in C if the build could compile it, else the one in"
              + " Java; java or native: that one. Both make the same records.")
  private ProbeKind probe;

  /**
   * What the user asked for.
   *
   * @throws CommandException where it is the probe in C and there is none
   */
  public ProbeKind probe() {
    if (probe == ProbeKind.NATIVE && NativeLibrary.find().isEmpty()) {
      throw CommandException.environment("--probe native: " + NativeLibrary.whyNot());
    }
    return probe;
  }
}
