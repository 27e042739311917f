package dev.retstack.cli;

import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.FileTrouble;
import dev.retstack.cli.command.Ranges;
import dev.retstack.cli.command.Shutdown;
import dev.retstack.cli.command.Terminal;
import dev.retstack.schema.wire.NearNames;
import dev.retstack.unicorn.library.UnicornLoadException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Entry point of the {@code retstack} command. */
public final class Main {
  private Main() {}

  /** Runs one command line and ends the JVM with one of {@link ExitCode}. */
  public static void main(String[] args) {
    int code = run(Terminal.system(), args);
    // System.exit searches every jar for a logger: 60 ms of CPU, a sixth of a short verb
    if (code != ExitCode.OK || othersRun()) {
      System.exit(code);
    }
  }

  /** True where another thread would keep the JVM from its end. */
  private static boolean othersRun() {
    ThreadGroup all = Thread.currentThread().getThreadGroup();
    while (all.getParent() != null) {
      all = all.getParent();
    }
    Thread[] threads = new Thread[all.activeCount() + 1];
    int count = all.enumerate(threads);
    return count == threads.length
        || Arrays.stream(threads, 0, count)
            .anyMatch(thread -> !thread.isDaemon() && !thread.equals(Thread.currentThread()));
  }

  /** Runs one command line in this JVM and returns one of {@link ExitCode}. */
  public static int run(Terminal terminal, String... args) {
    int code = commandLine(terminal, verbs(args)).execute(args);
    terminal.out().flush();
    terminal.err().flush();
    return code;
  }

  /** The verb that is meant, or all: to build the parser of each takes a third of a second. */
  private static List<Class<?>> verbs(String... args) {
    String first = args.length == 0 ? "" : args[0];
    if (first.equals("--version") || first.equals("-V")) {
      return List.of();
    }
    return Retstack.VERBS.stream()
        .filter(verb -> verb.getAnnotation(Command.class).name().equals(first))
        .findFirst()
        .<List<Class<?>>>map(List::of)
        .orElse(Retstack.VERBS);
  }

  /** The parser with all verbs. */
  public static CommandLine commandLine(Terminal terminal) {
    return commandLine(terminal, Retstack.VERBS);
  }

  private static CommandLine commandLine(Terminal terminal, List<Class<?>> verbs) {
    CommandLine line = new CommandLine(new Retstack(terminal));
    verbs.forEach(line::addSubcommand);
    line.setOut(new PrintWriter(terminal.rawOut(), true, StandardCharsets.UTF_8));
    line.setErr(new PrintWriter(terminal.rawErr(), true, StandardCharsets.UTF_8));
    line.setUsageHelpAutoWidth(true);
    line.setAbbreviatedOptionsAllowed(false);
    line.setExpandAtFiles(false); // where @FILE means something, it means names
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setExecutionStrategy(
        parsed -> {
          Ranges.check(parsed);
          return new CommandLine.RunLast().execute(parsed);
        });
    line.setParameterExceptionHandler((thrown, _) -> misuse(terminal, thrown));
    line.setExecutionExceptionHandler(
        (thrown, command, parsed) ->
            report(terminal, parsed.expandedArgs().contains("--verbose"), thrown));
    return line;
  }

  private static int misuse(Terminal terminal, ParameterException thrown) {
    CommandLine command = thrown.getCommandLine();
    terminal.note(
        thrown instanceof UnmatchedArgumentException odd ? odd(odd) : Ranges.sentence(thrown));
    command
        .getErr()
        .println("\"" + command.getCommandSpec().qualifiedName() + " --help\" explains it");
    return ExitCode.USAGE;
  }

  /** An unknown option or verb, with what was perhaps meant. */
  private static String odd(UnmatchedArgumentException thrown) {
    CommandLine command = thrown.getCommandLine();
    List<String> words = thrown.getUnmatched();
    String first =
        words.stream().filter(word -> word.startsWith("-")).findFirst().orElse(words.getFirst());
    boolean option = first.startsWith("-");
    String name = option ? first.replaceFirst("=.*", "") : first;
    boolean verb = !option && !command.getSubcommands().isEmpty();
    Set<String> names = new TreeSet<>(verb ? command.getSubcommands().keySet() : Set.of());
    if (option) {
      command.getCommandSpec().options().forEach(known -> names.addAll(List.of(known.names())));
    }
    List<String> near = NearNames.of(name, names, 3);
    String what = option ? "no such option" : verb ? "no such verb" : "one word too many";
    return near.isEmpty()
        ? what + ": " + name
        : "%s: %s; did you mean %s?".formatted(what, name, String.join(", ", near));
  }

  private static int report(Terminal terminal, boolean verbose, Exception thrown) {
    int code = exitCode(thrown);
    if (Shutdown.processEnds()) {
      return code;
    }
    Optional<String> known = sentence(thrown);
    terminal.note(known.orElse("this is a defect of retstack, please report it: " + thrown));
    if (verbose || known.isEmpty()) {
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

  /** Message of a failure, unless it is a defect. */
  private static Optional<String> sentence(Exception thrown) {
    return switch (thrown) {
      case CommandException known -> Optional.of(known.getMessage());
      case UnicornLoadException known -> Optional.of(known.getMessage());
      case IOException io -> Optional.of(FileTrouble.sentence(io));
      default -> Optional.empty();
    };
  }
}
