package dev.retstack.cli.verb;

import dev.retstack.cli.ExitCode;
import dev.retstack.cli.Logs;
import dev.retstack.cli.Retstack;
import dev.retstack.cli.Terminal;
import java.io.PrintStream;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** What every verb has: {@code --help}, {@code --verbose} and a place to speak. */
@Command(
    usageHelpAutoWidth = true,
    sortOptions = false,
    descriptionHeading = "%n",
    optionListHeading = "%nOptions:%n",
    parameterListHeading = "%n",
    footerHeading = "%nExample:%n")
abstract class Verb implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @ParentCommand private Retstack retstack;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help.",
      order = 100)
  @SuppressWarnings("UnusedVariable") // picocli acts on it
  private boolean help;

  @Option(
      names = "--verbose",
      description = "Log what the parts do, and show where an error came from.",
      order = 101)
  private boolean verbose;

  @Override
  public final Integer call() throws Exception {
    Logs.toConsole(verbose);
    return run();
  }

  /** Does the work; returns one of {@link ExitCode}. */
  abstract int run() throws Exception;

  final Terminal terminal() {
    return retstack.terminal();
  }

  final PrintStream out() {
    return terminal().out();
  }

  final void note(String message) {
    terminal().note(message);
  }

  final boolean verbose() {
    return verbose;
  }

  final CommandSpec spec() {
    return spec;
  }

  /** How the user calls this program, for what to run next: as the launcher was called. */
  static String command() {
    return System.getProperty("retstack.command", "retstack");
  }

  /** A command line that parses but makes no sense. */
  final ParameterException usage(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}
