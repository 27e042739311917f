package dev.retstack.cli.fleet;

import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.FileTrouble;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.schema.wire.NearNames;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The images that come with retstack (the zoo), so that they can be named from any folder. */
public final class GuestImages {
  private static final String SUFFIX = ".elf";
  private static final Path GUEST = Path.of("emulators", "guest");

  /** Where images lie that come along and are not of the zoo: kernels that need timers. */
  private static final Path KERNELS = Path.of("rtos", "images");

  private GuestImages() {}

  /**
   * The file a user means: a path, or else the name of an image that comes along without its
   * suffix.
   *
   * @throws CommandException where it is neither; the message lists the zoo
   */
  public static Path resolve(String named) {
    Path asPath = Path.of(named);
    if (Files.isRegularFile(asPath)) {
      return asPath;
    }
    List<Path> all = new ArrayList<>(zoo());
    all.addAll(images(guest().resolve(KERNELS)));
    return all.stream()
        .filter(image -> name(image).equals(named))
        .findFirst()
        .orElseThrow(() -> none(named, all.stream().map(GuestImages::name).toList()));
  }

  private static CommandException none(String named, List<String> zoo) {
    List<String> near = NearNames.of(named, zoo, 3);
    Path file = Path.of(named);
    if (near.isEmpty() && (file.getNameCount() > 1 || Files.exists(file))) {
      return FileTrouble.reading(file, new NoSuchFileException(named));
    }
    return CommandException.badInput(
        near.isEmpty()
            ? "no such image: %s is neither a file nor one of the %d of the checkout, such as %s"
                .formatted(named, zoo.size(), zoo.isEmpty() ? "none" : zoo.getLast())
            : "no such image: %s; did you mean %s?".formatted(named, String.join(", ", near)));
  }

  /** All images of the zoo, sorted by name; empty where this is not run from a checkout. */
  public static List<Path> zoo() {
    return images(guest().resolve("images"));
  }

  private static List<Path> images(Path folder) {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(SUFFIX)).sorted().toList();
    } catch (IOException e) {
      throw CommandException.environment(
          FileTrouble.whyNotFolder("list", folder, e) + "; let this user read it", e);
    }
  }

  /** {@code emulators/guest} of the checkout that this is run from. */
  public static Path guest() {
    String root = System.getProperty("retstack.root");
    return Path.of(root == null ? "" : root).toAbsolutePath().resolve(GUEST);
  }

  /** Name of an image: its file name without the suffix. */
  public static String name(Path image) {
    String file = image.getFileName().toString();
    return file.endsWith(SUFFIX) ? file.substring(0, file.length() - SUFFIX.length()) : file;
  }

  /** Name of an image that was loaded. */
  public static String name(LoadedImage image) {
    return name(Path.of(image.elf().name()));
  }

  /** True where the checkout has an image with this name and this code. */
  public static boolean comesAlong(LoadedImage image) {
    return Stream.concat(zoo().stream(), images(guest().resolve(KERNELS)).stream())
        .filter(file -> file.getFileName().toString().equals(image.elf().name()))
        .anyMatch(file -> load(file).elf().code().equals(image.elf().code()));
  }

  /** Loads an image; one that cannot be read, or is none, is bad input. */
  public static LoadedImage load(Path file) {
    return load(file, LoadedImage::load);
  }

  /** Loads an image as {@link #load(Path)}; an image without call sites is bad input too. */
  public static LoadedImage loadInstrumented(Path file) {
    return load(file, path -> LoadedImage.load(path).requireCallSites());
  }

  /** Loads an image, where a relocatable object will do as well. */
  public static LoadedImage loadUnlinked(Path file) {
    return load(file, LoadedImage::loadUnlinked);
  }

  private interface Loader {
    LoadedImage load(Path file) throws IOException;
  }

  private static LoadedImage load(Path file, Loader loader) {
    try {
      return loader.load(file);
    } catch (ElfFormatException e) {
      throw CommandException.badInput(e.getMessage(), e);
    } catch (IOException e) {
      throw FileTrouble.reading(file, e);
    }
  }
}
