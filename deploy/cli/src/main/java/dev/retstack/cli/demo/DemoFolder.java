package dev.retstack.cli.demo;

import dev.retstack.cli.CommandException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;

/** Where a demo keeps its data: {@code retstack-data/demo-<time>} under the working folder. */
public final class DemoFolder {
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss");

  private DemoFolder() {}

  /** The folder a user named, or a fresh one. */
  public static Path choose(Path named) {
    Path folder =
        named != null
            ? named
            : Path.of(
                "retstack-data", "demo-" + ZonedDateTime.now(ZoneId.systemDefault()).format(TIME));
    try {
      return Files.createDirectories(folder);
    } catch (IOException e) {
      throw CommandException.environment(
          "cannot make " + folder + " (" + e + "): choose another folder with --dir", e);
    }
  }
}
