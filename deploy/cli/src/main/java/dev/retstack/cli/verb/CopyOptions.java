package dev.retstack.cli.verb;

import dev.retstack.answers.replay.InvalidTraceException;
import dev.retstack.answers.replay.TraceCopy;
import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.FileTrouble;
import dev.retstack.cli.command.ProgressLine;
import dev.retstack.cli.command.PyramidOption;
import dev.retstack.cli.command.Terminal;
import dev.retstack.graph.check.Count;
import dev.retstack.schema.file.CorruptTraceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Where a trace is written that is made of others. */
final class CopyOptions {
  @Option(
      names = {"-o", "--output"},
      required = true,
      paramLabel = "FILE",
      description =
          "The trace to write, not one of those that are read. An existing file is replaced when"
              + " the new one is complete.")
  private Path output;

  @Mixin private PyramidOption pyramid;

  /** Makes a trace. */
  interface Maker {
    TraceCopy.Copied make(Path to, TraceReplay.Progress progress) throws IOException;
  }

  /** Makes it of these traces, and says what was written. */
  void write(List<Path> from, Maker maker, Terminal terminal) throws IOException {
    for (Path file : from) {
      try {
        Files.newByteChannel(file).close();
      } catch (IOException e) {
        throw FileTrouble.reading(file, e);
      }
    }
    TraceCopy.Copied copied;
    try (ProgressLine line = new ProgressLine(terminal)) {
      copied = maker.make(output, line.chunks("written"));
    } catch (CorruptTraceException | InvalidTraceException e) {
      throw CommandException.badInput(e.getMessage(), e);
    } catch (IOException e) {
      throw FileTrouble.writing(output, e);
    }
    copied.notices().forEach(terminal::note);
    pyramid.write(output, terminal);
    String cut = copied.cut() ? ", less than complete: it is of a trace that was cut off" : "";
    String twice =
        copied.twice() == 0 ? "" : "; " + Count.grouped(copied.twice(), "chunk") + " came again";
    terminal.note(
        "%s, %s, %s with %s, %,d bytes in %s%s%s"
            .formatted(
                Count.grouped(copied.cores(), "core"),
                Count.grouped(copied.images(), "image"),
                Count.grouped(copied.chunks(), "chunk"),
                Count.grouped(copied.records(), "record"),
                Files.size(output),
                output,
                cut,
                twice));
  }
}
