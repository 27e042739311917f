package dev.retstack.cli.fleet;

import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.FileTrouble;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** {@code @FILE} among arguments: it is replaced by the words of the file. */
public final class NameFiles {
  private NameFiles() {}

  /** The arguments with files read; {@code #} begins a comment that ends with the line. */
  public static List<String> expand(List<String> arguments) {
    List<String> expanded = new ArrayList<>();
    for (String argument : arguments) {
      if (argument.startsWith("@")) {
        expanded.addAll(words(Path.of(argument.substring(1))));
      } else {
        expanded.add(argument);
      }
    }
    return expanded;
  }

  private static List<String> words(Path file) {
    try {
      return Files.readAllLines(file).stream()
          .map(line -> line.replaceFirst("#.*", ""))
          .flatMap(line -> Arrays.stream(line.strip().split("\\s+")))
          .filter(word -> !word.isEmpty())
          .toList();
    } catch (MalformedInputException e) {
      throw CommandException.badInput("%s is not UTF-8 text".formatted(file), e);
    } catch (IOException e) {
      throw CommandException.badInput("names: " + FileTrouble.whyNotRead(file, e), e);
    }
  }
}
