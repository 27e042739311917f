package dev.retstack.cli.command;

import dev.retstack.schema.wire.NearNames;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Why a file cannot be read or written, in one sentence: the fact, the file, and the cure. */
public final class FileTrouble {
  private static final int NEAR_MOST = 3;
  private static final int SIBLINGS_MOST = 10_000;

  private FileTrouble() {}

  /** A file that the user handed over cannot be read. */
  public static CommandException reading(Path file, IOException e) {
    return CommandException.badInput(whyNotRead(file, e), e);
  }

  /** A file that the user named cannot be written. */
  public static CommandException writing(Path file, IOException e) {
    return CommandException.environment(whyNotWritten(file, e), e);
  }

  /** The sentence of {@link #reading}. */
  public static String whyNotRead(Path file, IOException e) {
    if (Files.isDirectory(file)) {
      return "cannot read %s: it is a folder; name a file in it".formatted(file);
    }
    return switch (e) {
      case NoSuchFileException _ -> missing(file);
      case AccessDeniedException _ ->
          "cannot read %s: no permission; let this user read it".formatted(file);
      default -> "cannot read %s: %s; check the file and its disk".formatted(file, words(e));
    };
  }

  /** The sentence of {@link #writing}. */
  public static String whyNotWritten(Path file, IOException e) {
    String other = "; choose another file with -o";
    Path parent = file.toAbsolutePath().getParent();
    if (Files.isDirectory(file)) {
      return "cannot write %s: it is a folder; name a file in it with -o".formatted(file);
    }
    if (e instanceof AccessDeniedException) {
      return "cannot write %s: no permission%s".formatted(file, other);
    }
    if (e instanceof FileSystemException && parent != null && !Files.isDirectory(parent)) {
      return "cannot write %s: there is no folder %s; make it, or choose another file with -o"
          .formatted(file, parent);
    }
    String words = words(e);
    return isFull(words)
        ? "cannot write %s: the disk is full (%s written); free space, or choose a file elsewhere with -o"
            .formatted(file, written(file))
        : "cannot write %s: %s%s".formatted(file, words, other);
  }

  /**
   * Why a folder cannot be made or used, without a cure: {@code cannot make a/b: a is a file}.
   *
   * @param what could not be done, such as "make"
   */
  public static String whyNotFolder(String what, Path folder, IOException e) {
    for (Path part = folder.toAbsolutePath(); part != null; part = part.getParent()) {
      if (Files.exists(part) && !Files.isDirectory(part)) {
        return "cannot %s %s: %s is a file".formatted(what, folder, part);
      }
    }
    return "cannot %s %s: %s".formatted(what, folder, words(e));
  }

  private static String missing(Path file) {
    Path parent = file.toAbsolutePath().getParent();
    if (parent == null || !Files.isDirectory(parent)) {
      return "no such file: %s: there is no folder %s".formatted(file, parent);
    }
    Path name = file.getFileName();
    List<String> near = List.of();
    try (Stream<Path> siblings = Files.list(parent)) {
      near =
          NearNames.of(
              name.toString(),
              siblings.limit(SIBLINGS_MOST).map(s -> s.getFileName().toString()).toList(),
              NEAR_MOST);
    } catch (IOException e) {
      // a folder that nobody may list has no near names
    }
    return near.isEmpty()
        ? "no such file: %s; its folder has no name like it".formatted(file)
        : "no such file: %s; did you mean %s?".formatted(file, String.join(", ", near));
  }

  private static boolean isFull(String words) {
    String lower = words.toLowerCase(Locale.ROOT);
    return lower.contains("no space left")
        || lower.contains("file too large")
        || lower.contains("quota exceeded");
  }

  private static String written(Path file) {
    try {
      return "%,d bytes".formatted(Files.size(file));
    } catch (IOException e) {
      return "nothing";
    }
  }

  /** What the system said, without the name of a class or the file again. */
  public static String words(Throwable e) {
    Throwable cause = e.getCause();
    return switch (e) {
      case FileSystemException of when of.getReason() != null -> of.getReason();
      case AccessDeniedException _ -> "no permission";
      case NoSuchFileException _ -> "there is no such file or folder";
      case FileAlreadyExistsException _ -> "something is there already";
      // an exception around another one has the other's class and message as its own
      case Throwable _
          when cause != null
              && (e.getMessage() == null || e.getMessage().equals(cause.toString())) ->
          words(cause);
      default -> e.getMessage() == null ? "the system gave no reason" : e.getMessage();
    };
  }

  /** A sentence for an exception that no verb put into words. */
  public static String sentence(IOException e) {
    return switch (e) {
      case NoSuchFileException missing -> missing(Path.of(missing.getFile()));
      case AccessDeniedException denied ->
          "no permission for %s: give this user access".formatted(denied.getFile());
      case FileAlreadyExistsException present ->
          "%s is in the way: move it, or choose another name".formatted(present.getFile());
      case FileSystemException of when of.getFile() != null ->
          "%s: %s; fix it, or choose another".formatted(of.getFile(), words(of));
      default -> isFull(words(e)) ? "the disk is full: free space" : words(e);
    };
  }
}
