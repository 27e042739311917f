package dev.retstack.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Entry point of the {@code retstack} command. */
public final class Main {
  private Main() {}

  /** Runs one command line and ends the JVM with one of {@link ExitCode}. */
  public static void main(String[] args) {
    System.exit(run(Terminal.system(), args));
  }

  /** Runs one command line in this JVM and returns one of {@link ExitCode}. */
  public static int run(Terminal terminal, String... args) {
    int code = commandLine(terminal).execute(args);
    terminal.out().flush();
    terminal.err().flush();
    return code;
  }

  /** The parser with all verbs. */
  public static CommandLine commandLine(Terminal terminal) {
    CommandLine line = new CommandLine(new Retstack(terminal));
    line.setOut(new PrintWriter(terminal.out(), true, StandardCharsets.UTF_8));
    line.setErr(new PrintWriter(terminal.err(), true, StandardCharsets.UTF_8));
    line.setUsageHelpAutoWidth(true);
    line.setAbbreviatedOptionsAllowed(false);
    line.setExpandAtFiles(false); // where @FILE means something, it means names
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setParameterExceptionHandler((thrown, _) -> misuse(terminal, thrown));
    line.setExecutionExceptionHandler(
        (thrown, command, parsed) ->
            report(terminal, parsed.expandedArgs().contains("--verbose"), thrown));
    return line;
  }

  private static int misuse(Terminal terminal, ParameterException thrown) {
    CommandLine command = thrown.getCommandLine();
    terminal.note(thrown.getMessage());
    if (!UnmatchedArgumentException.printSuggestions(thrown, command.getErr())) {
      command.getErr().print(command.getUsageMessage().lines().findFirst().orElse("") + "\n");
    }
    command
        .getErr()
        .println("\"" + command.getCommandSpec().qualifiedName() + " --help\" explains it");
    return ExitCode.USAGE;
  }

  private static int report(Terminal terminal, boolean verbose, Exception thrown) {
    int code = exitCode(thrown);
    if (Shutdown.processEnds()) {
      return code;
    }
    terminal.note(sentence(thrown));
    if (verbose || isDefect(thrown)) {
      thrown.printStackTrace(terminal.err());
    }
    return code;
  }

  private static int exitCode(Exception thrown) {
    return switch (thrown) {
      case CommandException known -> known.exitCode();
      case NoSuchFileException _ -> ExitCode.BAD_INPUT;
      default -> ExitCode.ENVIRONMENT;
    };
  }

  private static String sentence(Exception thrown) {
    return switch (thrown) {
      case CommandException known -> known.getMessage();
      case NoSuchFileException missing -> "no such file: " + missing.getFile();
      case AccessDeniedException denied -> "no permission for " + denied.getFile();
      case FileAlreadyExistsException present -> "in the way: " + present.getFile();
      case IOException io -> io.getMessage() == null ? io.toString() : io.getMessage();
      default -> "this is a defect of retstack, please report it: " + thrown;
    };
  }

  private static boolean isDefect(Exception thrown) {
    return !(thrown instanceof CommandException || thrown instanceof IOException);
  }
}
