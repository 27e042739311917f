package dev.retstack.fleet.zoo;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.loader.LoadedImage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The guest programs, their images, committed or built, and their expectations. */
public final class Zoo {
  public static final Path GUEST =
      Path.of(System.getProperty("retstack.root", ""), "emulators", "guest");

  private static final Path IMAGES = GUEST.resolve("images");

  /** What is committed is read once: finding the call sites of all images takes a second. */
  private static Manifest committed;

  private static List<LoadedImage> images;

  /**
   * One program in one image.
   *
   * @param image with the program
   * @param program its name
   */
  public record Case(LoadedImage image, String program) {
    /** True of every third program of an image, of another for the next image: so all come. */
    public boolean isOfThird() {
      return (images().indexOf(image) + programs(image).indexOf(program)) % 3 == 0;
    }

    @Override
    public String toString() {
      return image.elf().name() + " " + program;
    }
  }

  private Zoo() {}

  /** True where the images are here: the command was started from a checkout. */
  public static boolean isHere() {
    return Manifest.isIn(IMAGES);
  }

  /** Every committed image, in the order of the manifest. */
  public static synchronized List<LoadedImage> images() {
    try {
      if (images == null) {
        images = List.copyOf(images(committed(), ""));
      }
      return images;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The manifest of the committed images. */
  public static synchronized Manifest committed() throws IOException {
    if (committed == null) {
      committed = Manifest.of(IMAGES);
    }
    return committed;
  }

  /**
   * The images of a manifest, in its order.
   *
   * @param isa name of the one that is wanted; empty for all
   * @throws IOException with a sentence, where one cannot be read or is of no known convention
   */
  public static List<LoadedImage> images(Manifest manifest, String isa) throws IOException {
    List<LoadedImage> images = new ArrayList<>();
    for (Manifest.Entry entry : manifest.entries()) {
      if (isa.isEmpty() || entry.isa().equals(isa)) {
        LoadedImage image = load(manifest.folder().resolve(entry.file()));
        if (findCard(image).isEmpty()) {
          throw new IOException(
              "%s: no convention of %s by this name, allowed: zoo-%s-<convention>...elf, one of %s; see retstack isa"
                  .formatted(
                      entry.file(), image.isa().name(), image.isa().name(), conventions(image)));
        }
        images.add(image);
      }
    }
    return images;
  }

  private static LoadedImage load(Path file) throws IOException {
    try {
      return LoadedImage.load(file);
    } catch (NoSuchFileException e) {
      throw new IOException(
          "no such file: %s, although the manifest next to it names it; build it again"
              .formatted(file),
          e);
    }
  }

  private static List<String> conventions(LoadedImage image) {
    return image.isa().conventions().stream().map(AbiCard::name).toList();
  }

  /** The committed image of an ISA whose convention has no separate form. */
  public static LoadedImage image(Isa isa, AbiCard card) {
    try {
      return LoadedImage.load(IMAGES.resolve("zoo-%s-%s.elf".formatted(isa.name(), card.name())));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The convention that an image is of: its file is named {@code
   * zoo-<isa>-<convention>[-<form>][-<level>[-nofp]].elf}, where forms of a convention differ in
   * the bytes of the call only.
   */
  public static AbiCard card(LoadedImage image) {
    return findCard(image)
        .orElseThrow(() -> new IllegalStateException("no card for " + image.elf().name()));
  }

  private static Optional<AbiCard> findCard(LoadedImage image) {
    String file = image.elf().name();
    if (!file.startsWith("zoo-") || !file.endsWith(".elf")) {
      return Optional.empty();
    }
    String variant = file.substring("zoo-".length(), file.length() - ".elf".length());
    return image.isa().conventions().stream()
        .filter(card -> (variant + "-").startsWith(image.isa().name() + "-" + card.name() + "-"))
        .max(Comparator.comparingInt(card -> card.name().length()));
  }

  /** Names of all programs. */
  public static List<String> programs() {
    try (Stream<Path> files = Files.list(GUEST.resolve("programs"))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(".tree"))
          .map(name -> name.substring(0, name.length() - ".tree".length()))
          .filter(name -> !name.contains(".")) // those of a level
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Names of the programs that an image has: all but those that its variant goes without. */
  public static List<String> programs(LoadedImage image) {
    Set<String> without = entry(image).without();
    return programs().stream().filter(program -> !without.contains(program)).toList();
  }

  /**
   * What the manifest beside an image says of it; that of the committed ones, where it has none.
   */
  private static Manifest.Entry entry(LoadedImage image) {
    Path folder = image.elf().file().map(Path::getParent).filter(Manifest::isIn).orElse(IMAGES);
    try {
      return (folder.equals(IMAGES) ? committed() : Manifest.of(folder))
          .entry(image.elf().name())
          .orElseThrow(
              () -> new IllegalStateException(folder + " does not name " + image.elf().name()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Every program in every image that has it. */
  public static Stream<Case> cases() {
    return images().stream()
        .flatMap(image -> programs(image).stream().map(program -> new Case(image, program)));
  }

  /**
   * The expected tree of a program in an image: the tree of the program at the image's level of
   * optimisation where it has one ({@code tail.O0.tree}), without what its conventions cannot see.
   * At -O1 clang makes no tail calls yet.
   */
  public static TreeText tree(Case zoo) {
    Manifest.Entry image = entry(zoo.image());
    boolean isClang = image.convention().startsWith("clang-");
    String level = isClang && image.level().equals("O1") ? "O0" : image.level();
    String ofLevel = "%s.%s.tree".formatted(zoo.program(), level);
    TreeText all =
        TreeText.parse(
            lines(
                Files.exists(GUEST.resolve("programs").resolve(ofLevel))
                    ? ofLevel
                    : zoo.program() + ".tree"));
    return checksFramePointers(zoo.image())
        ? all
        : new TreeText(all.lines().stream().map(line -> line.replace(" !fp", "")).toList());
  }

  /**
   * True where frame pointers are compared. Programs without frame pointers may have functions that
   * make one all the same, by a separate convention.
   */
  public static boolean checksFramePointers(LoadedImage image) {
    return image.conventions().stream().anyMatch(c -> c.card().fpCheck());
  }

  /** The expected number of calls of each traced function of a program. */
  public static Map<String, Long> counts(String program) {
    Map<String, Long> counts = new TreeMap<>();
    for (String line : lines(program + ".counts")) {
      String[] parts = line.split(" ", -1);
      counts.put(parts[0], Long.valueOf(parts[1]));
    }
    return counts;
  }

  private static List<String> lines(String file) {
    try {
      return Files.readAllLines(GUEST.resolve("programs").resolve(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
