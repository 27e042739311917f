package dev.retstack.cli.house;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The drawing of a module's layers has all its packages, and their imports go down. */
class LayersTest {
  private static final Pattern DRAWING =
      Pattern.compile("## Layers\n.*?```\n(.*?)```", Pattern.DOTALL);

  @ParameterizedTest
  @ValueSource(strings = {"graph", "answers", "service"})
  void importsGoDown(String module) throws IOException {
    Path root = Repository.root().resolve("pipeline").resolve(module);
    Path code = root.resolve("src/main/java/dev/retstack").resolve(module);
    Map<String, Integer> lines = lines(Files.readString(root.resolve("README.md")));
    Pattern imported =
        Pattern.compile("import (?:static )?dev\\.retstack\\." + module + "\\.([a-z]+)\\.");
    List<String> wrong = new ArrayList<>();
    List<String> packages;
    try (Stream<Path> folders = Files.list(code)) {
      packages =
          folders.filter(Files::isDirectory).map(f -> f.getFileName().toString()).sorted().toList();
    }
    assertThat(lines.keySet()).containsExactlyInAnyOrderElementsOf(packages);
    for (String name : packages) {
      try (Stream<Path> files = Files.list(code.resolve(name))) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          for (Matcher other = imported.matcher(Files.readString(file)); other.find(); ) {
            if (!other.group(1).equals(name) && lines.get(other.group(1)) <= lines.get(name)) {
              wrong.add(name + " imports " + other.group(1) + ": " + file.getFileName());
            }
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  /** The line of each package in the drawing; the highest is 0. */
  private static Map<String, Integer> lines(String readme) {
    Matcher drawing = DRAWING.matcher(readme);
    assertThat(drawing.find()).as("a drawing under Layers").isTrue();
    Map<String, Integer> lines = new HashMap<>();
    String[] rows = drawing.group(1).split("\n", -1);
    for (int row = 0; row < rows.length; row++) {
      for (String name : rows[row].split(":", -1)[0].split(",", -1)) {
        if (!name.isBlank()) {
          lines.put(name.strip(), row);
        }
      }
    }
    return lines;
  }
}
