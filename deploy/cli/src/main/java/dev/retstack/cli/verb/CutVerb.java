package dev.retstack.cli.verb;

import dev.retstack.answers.replay.TraceCopy;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.Verb;
import dev.retstack.cli.result.WindowOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code retstack cut}: a smaller trace of a window. */
@Command(
    name = "cut",
    description = {
      "Write the chunks of a window of a trace into a separate trace.",
      "Chunks are whole, from the last one ahead of the window that tells which calls are open, to"
          + " the first one behind it. So graph, report, anomalies and export show the same of the"
          + " window. What is outside of it shows as missing."
    },
    footer = {
      "  retstack record --image zoo-aarch64-mcount -o trace.avro",
      "  retstack cut trace.avro --core zoo-aarch64-mcount-0 --from 1000 --to 2000 -o part.avro",
      "  retstack report part.avro --from 1000 --to 2000"
    })
public final class CutVerb extends Verb {
  @Parameters(index = "0", paramLabel = "TRACE", description = "A recorded trace.")
  private Path trace;

  @Option(names = "--session", paramLabel = "NAME", description = "Only cores of this session.")
  private String session;

  @Mixin private WindowOptions window;
  @Mixin private CopyOptions copy;

  @Override
  protected int run() throws IOException {
    if (window.of(session).given().isEmpty()) {
      throw usage("nothing to cut: give --core, --session, --from and --to, or --at and --window");
    }
    if (!window.problem().isEmpty()) {
      throw usage(window.problem());
    }
    copy.write(
        List.of(trace),
        (to, progress) -> TraceCopy.cut(trace, window.window(), to, progress),
        terminal());
    return ExitCode.OK;
  }
}
