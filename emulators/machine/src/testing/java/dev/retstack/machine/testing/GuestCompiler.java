package dev.retstack.machine.testing;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** A C compiler of this host that makes programs for one ISA; tests skip where it is missing. */
public enum GuestCompiler {
  X86_64("x86_64-linux-gnu-gcc", "x86_64"),
  AARCH64("aarch64-linux-gnu-gcc", "aarch64"),
  RISCV64("riscv64-linux-gnu-gcc", "riscv64");

  private final String command;
  private final String isa;

  GuestCompiler(String command, String isa) {
    this.command = command;
    this.isa = isa;
  }

  /** Name of the ISA as in the capability table. */
  public String isa() {
    return isa;
  }

  /** Skips the calling test, with the reason, where the compiler is not installed. */
  public GuestCompiler assumeInstalled() {
    Assumptions.assumeTrue(installed(command), "skipped: no " + command);
    return this;
  }

  /** Runs the compiler; a failure is an {@link AssertionError} with its messages. */
  public Path compile(Path output, String... arguments) throws IOException, InterruptedException {
    return compileWith(command, output, arguments);
  }

  /**
   * Runs any compiler with gcc's options; skips the calling test, with the reason, where the
   * libraries or headers of its ISA are not installed.
   */
  public static Path compileWith(String command, Path output, String... arguments)
      throws IOException, InterruptedException {
    List<String> line = new ArrayList<>(List.of(command, "-o", output.toString()));
    Collections.addAll(line, arguments);
    Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
    String messages = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      Assumptions.assumeFalse(
          lacksLibraries(messages),
          "skipped: no C library for " + command + (line.contains("-m32") ? " -m32" : ""));
      throw new AssertionError(String.join(" ", line) + "\n" + messages);
    }
    return output;
  }

  /** True where a compiler says that the linker, libraries or headers of the ISA are missing. */
  public static boolean lacksLibraries(String messages) {
    return Stream.of(
            "ld: cannot find",
            "unrecognised emulation mode",
            "gnu/stubs-32.h",
            "bits/wordsize.h",
            "bits/c++config.h")
        .anyMatch(messages::contains);
  }

  /** True where {@code command} is found on the path. */
  public static boolean installed(String command) {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, command)));
  }
}
