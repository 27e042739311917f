package dev.retstack.cli.command;

import java.io.PrintStream;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** What every verb has: {@code --help}, {@code --verbose}, and the terminal. */
@Command(
    usageHelpAutoWidth = true,
    sortOptions = false,
    descriptionHeading = "%n",
    optionListHeading = "%nOptions:%n",
    parameterListHeading = "%n",
    footerHeading = "%nExample:%n")
public abstract class Verb implements Callable<Integer> {
  private static final Pattern PLAIN_WORD = Pattern.compile("[\\w@%+=:,./-]+");

  @Spec private CommandSpec spec;
  @ParentCommand private Supplier<Terminal> retstack;

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
  protected abstract int run() throws Exception;

  protected final Terminal terminal() {
    return retstack.get();
  }

  protected final PrintStream out() {
    return terminal().out();
  }

  protected final void note(String message) {
    terminal().note(message);
  }

  protected final boolean verbose() {
    return verbose;
  }

  protected final CommandSpec spec() {
    return spec;
  }

  /**
   * A command line for the user's shell, with this program as it was called.
   *
   * @param words verb, options and files as they are; they are quoted where the shell needs it
   */
  public static String command(String... words) {
    return Stream.concat(
            Stream.of(System.getProperty("retstack.command", "retstack")), Stream.of(words))
        .map(Verb::quoted)
        .collect(Collectors.joining(" "));
  }

  private static String quoted(String word) {
    return PLAIN_WORD.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
  }

  /** A command line that parses but makes no sense. */
  protected final ParameterException usage(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}
