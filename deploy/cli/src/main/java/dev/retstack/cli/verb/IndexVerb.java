package dev.retstack.cli.verb;

import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.PyramidOption;
import dev.retstack.cli.command.Verb;
import dev.retstack.cli.result.SourceOptions;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code retstack index}: makes the pyramid of a trace anew. */
@Command(
    name = "index",
    description = {
      "Write the pyramid of a complete trace into it, in place of one that may be there.",
      "It is what \"retstack graph --timeline\" is answered from. record, cut and merge write it,"
          + " unless --no-pyramid was given. Chunks and index are not touched. Of a trace that was"
          + " cut off, make a complete one first: \"retstack merge\"."
    },
    footer = {
      "  retstack record --image zoo-x86_64-fentry --no-pyramid -o trace.avro -- fib 20",
      "  retstack index trace.avro",
      "  retstack graph trace.avro --timeline"
    })
public final class IndexVerb extends Verb {
  @Parameters(index = "0", paramLabel = "TRACE", description = "A recorded trace.")
  private Path trace;

  @Override
  protected int run() {
    try {
      PyramidOption.renew(trace, terminal());
    } catch (IOException e) {
      throw SourceOptions.unreadable(trace, e);
    }
    return ExitCode.OK;
  }
}
