package dev.retstack.cli.doctor;

import dev.retstack.fleet.probe.NativeLibrary;

/** Whether the probe in C is here. */
final class ProbeCheck {
  private ProbeCheck() {}

  static Finding run() {
    return NativeLibrary.find()
        .map(library -> Finding.ok("probe", "in C, compiled by " + library.compiler()))
        .orElseGet(
            () ->
                Finding.warn(
                    "probe",
                    "in Java, several times slower: " + NativeLibrary.whyNot(),
                    "install a C compiler (apt-get install gcc) and touch emulators/fleet/src/main/c/*.c:"
                        + " the next start builds it"));
  }
}
