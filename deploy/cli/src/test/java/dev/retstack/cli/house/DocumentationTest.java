package dev.retstack.cli.house;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.Main;
import dev.retstack.cli.Terminal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Every retstack command in a code fence marked {@code sh} parses: verb and options exist. */
class DocumentationTest {
  /** Verbs that the launcher itself knows. */
  private static final List<String> OF_THE_LAUNCHER = List.of("test");

  @Test
  void everyCommandInAReadmeParses() throws IOException {
    List<String> wrong = new ArrayList<>();
    int commands = 0;
    for (Path readme : readmes()) {
      for (String line : shellLines(Files.readString(readme))) {
        String command = retstackCommand(line);
        if (command != null) {
          commands++;
          String error = parse(command);
          if (error != null) {
            wrong.add(Repository.root().relativize(readme) + ": " + line + ": " + error);
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(commands).as("commands found in READMEs").isPositive();
  }

  private static String parse(String command) {
    String[] words = command.split("\\s+");
    if (words.length > 1 && OF_THE_LAUNCHER.contains(words[1])) {
      return null;
    }
    try {
      CommandLine line = Main.commandLine(Terminal.system());
      line.parseArgs(List.of(words).subList(1, words.length).toArray(String[]::new));
      return null;
    } catch (ParameterException e) {
      return e.getMessage();
    }
  }

  /** The command without what a shell does around it; null where it is another program's. */
  private static String retstackCommand(String line) {
    String bare =
        line.replaceFirst("^\\$ ", "")
            .replaceFirst("^([A-Z_]+=\\S+ )+", "")
            .replaceFirst("\\s+#.*$", "")
            .replaceFirst("\\s*(\\||>|&&|&$).*$", "")
            .strip();
    return bare.startsWith("./retstack") || bare.startsWith("retstack ") ? bare : null;
  }

  private static List<String> shellLines(String markdown) {
    List<String> lines = new ArrayList<>();
    boolean inside = false;
    for (String line : markdown.lines().toList()) {
      if (line.strip().startsWith("```")) {
        inside = !inside && line.strip().equals("```sh");
      } else if (inside) {
        lines.add(line.strip());
      }
    }
    return lines;
  }

  private static List<Path> readmes() throws IOException {
    try (Stream<Path> files = Files.walk(Repository.root(), 4)) {
      return files
          .filter(file -> file.endsWith("README.md") || file.endsWith("RUNBOOK.md"))
          .filter(file -> !file.toString().contains("/target/"))
          .toList();
    }
  }
}
