package dev.retstack.machine.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The committed images of the program zoo. */
public final class Images {
  public static final Path FOLDER =
      Path.of(System.getProperty("retstack.root"), "emulators", "guest", "images");

  private Images() {}

  /** All of them, sorted by name; never empty. */
  public static List<Path> all() {
    try (Stream<Path> files = Files.list(FOLDER)) {
      List<Path> images = files.filter(f -> f.toString().endsWith(".elf")).sorted().toList();
      if (images.isEmpty()) {
        throw new IllegalStateException("no images in " + FOLDER + ": build emulators/guest");
      }
      return images;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The image of one ISA and convention: {@code of("riscv64", "mcount")}. */
  public static Path of(String isa, String convention) {
    return all().stream()
        .filter(f -> f.getFileName().toString().equals("zoo-" + isa + "-" + convention + ".elf"))
        .findFirst()
        .orElseThrow();
  }
}
