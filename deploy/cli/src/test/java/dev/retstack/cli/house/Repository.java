package dev.retstack.cli.house;

import java.nio.file.Files;
import java.nio.file.Path;

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

  /** A committed guest image. */
  public static Path image(String name) {
    return root().resolve("emulators/guest/images").resolve(name);
  }
}
