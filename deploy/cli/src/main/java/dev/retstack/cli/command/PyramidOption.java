package dev.retstack.cli.command;

import dev.retstack.answers.replay.InvalidTraceException;
import dev.retstack.answers.replay.PyramidPass;
import dev.retstack.graph.check.Count;
import dev.retstack.schema.file.CorruptTraceException;
import dev.retstack.schema.file.TraceClaim;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Whether a trace that is written gets a pyramid: {@code --no-pyramid}. */
public final class PyramidOption {
  @Option(
      names = "--no-pyramid",
      description =
          "Do not read the trace again at the end to write its pyramid, from which \"retstack graph"
              + " --timeline\" shows any time of it at once.")
  private boolean without;

  /**
   * Writes the pyramid of a complete trace, unless it is not wanted. A file that cannot have one
   * stays as it is, with a word.
   */
  public void write(Path file, Terminal terminal) throws IOException {
    if (!without && Files.isRegularFile(file)) {
      try (TraceClaim claim = TraceClaim.of(file)) {
        write(claim, terminal);
      }
    }
  }

  /** Writes the pyramid into a file that is claimed already. */
  public void write(TraceClaim file, Terminal terminal) throws IOException {
    if (without || !Files.isRegularFile(file.file())) {
      return;
    }
    try (ProgressLine line = new ProgressLine(terminal)) {
      var _ = PyramidPass.write(file, line.chunks("put into the pyramid"));
    } catch (CorruptTraceException | InvalidTraceException e) {
      terminal.note("no pyramid was written: " + e.getMessage());
    }
  }

  /** Writes it anew, and says so. */
  public static void renew(Path file, Terminal terminal) throws IOException {
    PyramidPass.Written written;
    try (ProgressLine line = new ProgressLine(terminal)) {
      written = PyramidPass.write(file, line.chunks("put into the pyramid"));
    }
    terminal.note(
        "a pyramid of %s, %s, %,d bytes in %s"
            .formatted(
                Count.grouped(written.cores(), "core"),
                Count.grouped(written.records(), "record"),
                written.bytes(),
                file));
  }
}
