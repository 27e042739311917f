package dev.retstack.cli.verb;

import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.Verb;
import picocli.AutoComplete;
import picocli.CommandLine.Command;

/** {@code retstack completion}: what a shell needs to complete verbs and options. */
@Command(
    name = "completion",
    description = "Print a completion script for bash and zsh.",
    footer = "  source <(retstack completion)")
public final class CompletionVerb extends Verb {
  @Override
  protected int run() {
    out().print(AutoComplete.bash("retstack", spec().root().commandLine()));
    return ExitCode.OK;
  }
}
