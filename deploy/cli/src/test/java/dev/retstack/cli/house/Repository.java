package dev.retstack.cli.house;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The checkout this build runs in. */
public final class Repository {
  private Repository() {}

  /** Its top folder, from the build or by looking upwards for the launcher. */
  public static Path root() {
    String given = System.getProperty("retstack.root");
    Path folder = given == null ? Path.of("").toAbsolutePath() : Path.of(given);
    while (!Files.exists(folder.resolve("retstack"))) {
      folder = folder.getParent();
    }
    return folder;
  }

  /** The documents: every Markdown file of the checkout. */
  static List<Path> documents() throws IOException {
    List<Path> found = files(".md");
    found.add(root().resolve("README.md"));
    found.add(root().resolve("CONTRIBUTING.md"));
    return found;
  }

  /** Simple names of all Java source files. */
  static Set<String> classes() throws IOException {
    return files(".java").stream()
        .map(file -> file.getFileName().toString().replace(".java", ""))
        .collect(Collectors.toUnmodifiableSet());
  }

  private static List<Path> files(String ending) throws IOException {
    List<Path> found = new ArrayList<>();
    for (String part : List.of("schemas", "emulators", "pipeline", "deploy")) {
      try (Stream<Path> files = Files.walk(root().resolve(part))) {
        files
            .filter(file -> file.toString().endsWith(ending))
            .filter(file -> !file.toString().contains("/target/"))
            .forEach(found::add);
      }
    }
    return found;
  }

  /** A committed guest image. */
  public static Path image(String name) {
    return root().resolve("emulators/guest/images").resolve(name);
  }
}
