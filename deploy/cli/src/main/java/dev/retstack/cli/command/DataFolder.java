package dev.retstack.cli.command;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;

/** The folder in which a verb that starts a broker keeps its data, below the working folder. */
public final class DataFolder {
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss");

  private DataFolder() {}

  /**
   * The folder a user named, or a fresh one: {@code retstack-data/<verb>-<time>}.
   *
   * @param named null where the user named none
   */
  public static Path choose(Path named, String verb) {
    String time = ZonedDateTime.now(ZoneId.systemDefault()).format(TIME);
    Path folder = named != null ? named : Path.of("retstack-data", verb + "-" + time);
    try {
      return named != null ? Files.createDirectories(folder) : fresh(folder);
    } catch (IOException e) {
      throw CommandException.environment(
          FileTrouble.whyNotFolder("make", folder, e)
              + (named == null
                  ? "; start it in a folder that you may write to"
                  : "; choose another folder with --dir"),
          e);
    }
  }

  /** That folder, or the next number of it: two may start in one second. */
  private static Path fresh(Path folder) throws IOException {
    Files.createDirectories(folder.toAbsolutePath().getParent());
    Path next = folder;
    for (int number = 2; ; number++) {
      try {
        return Files.createDirectory(next);
      } catch (FileAlreadyExistsException e) {
        next = folder.resolveSibling(folder.getFileName() + "-" + number);
      }
    }
  }
}
