package dev.retstack.cli.verb;

import dev.retstack.answers.replay.TraceCopy;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.Verb;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code retstack merge}: one trace of several. */
@Command(
    name = "merge",
    description = {
      "Join traces into one, core by core, in the order of the chunks' numbers.",
      "A chunk that is in several of them is written once. Two different chunks of one session, core"
          + " and number are refused: the traces are then of different runs."
    },
    footer = {
      "  retstack record --image zoo-aarch64-mcount -o a.avro",
      "  retstack record --image zoo-riscv64-mcount -o b.avro",
      "  retstack merge a.avro b.avro -o both.avro"
    })
public final class MergeVerb extends Verb {
  @Parameters(arity = "1..*", paramLabel = "TRACE", description = "Recorded traces, in any order.")
  private List<Path> traces;

  @Mixin private CopyOptions copy;

  @Override
  protected int run() throws IOException {
    copy.write(traces, (to, progress) -> TraceCopy.merge(traces, to, progress), terminal());
    return ExitCode.OK;
  }
}
