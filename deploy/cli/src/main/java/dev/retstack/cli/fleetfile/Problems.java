package dev.retstack.cli.fleetfile;

import com.typesafe.config.ConfigOrigin;
import dev.retstack.cli.command.CommandException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** What is wrong with a fleet file: each problem once, in the order of the file. */
final class Problems {
  private record Problem(String file, int line, String sentence) {
    String text() {
      return "\n  " + file + (line > 0 ? ":" + line : "") + ": " + sentence;
    }
  }

  private final Path file;
  private final Set<Problem> problems =
      new TreeSet<>(
          Comparator.comparing(Problem::file)
              .thenComparingInt(Problem::line)
              .thenComparing(Problem::sentence));

  Problems(Path file) {
    this.file = file;
  }

  /** Notes what is wrong at a place. */
  void add(ConfigOrigin place, String sentence) {
    String where = place.filename() != null ? place.filename() : place.description();
    problems.add(new Problem(where, place.lineNumber(), sentence));
  }

  /** Notes what is wrong with a value. */
  void add(Argument argument, String why) {
    String key = argument.key();
    add(argument.origin(), why.startsWith(key) ? why : key + ": " + why);
  }

  boolean isEmpty() {
    return problems.isEmpty();
  }

  /**
   * Throws one exception that lists all problems.
   *
   * @throws CommandException where there is one
   */
  void throwIfAny() {
    if (!problems.isEmpty()) {
      throw CommandException.usage(
          "%s: %s%s"
              .formatted(
                  file,
                  problems.size() == 1 ? "a problem" : problems.size() + " problems",
                  problems.stream().map(Problem::text).collect(Collectors.joining())));
    }
  }
}
