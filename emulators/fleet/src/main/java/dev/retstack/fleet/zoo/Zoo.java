package dev.retstack.fleet.zoo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.fleet.isa.AbiCard;
import dev.retstack.fleet.isa.Isa;
import dev.retstack.fleet.loader.LoadedImage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** The committed guest programs, their images and expectations. */
public final class Zoo {
  public static final Path GUEST =
      Path.of(System.getProperty("retstack.root", ""), "emulators", "guest");

  private static final Path MANIFEST = GUEST.resolve("images/manifest.json");
  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * One program in one image.
   *
   * @param image with the program
   * @param program its name
   */
  public record Case(LoadedImage image, String program) {
    @Override
    public String toString() {
      return image.elf().name() + " " + program;
    }
  }

  private Zoo() {}

  /** True where the images are here: the command was started from a checkout. */
  public static boolean isHere() {
    return Files.isRegularFile(MANIFEST);
  }

  /** Every image of the zoo that the manifest has, in its order. */
  public static List<LoadedImage> images() {
    return entries()
        .map(entry -> entry.get("file").asText())
        .filter(file -> file.startsWith("zoo-"))
        .map(Zoo::image)
        .toList();
  }

  /** The image of an ISA whose convention has no form of its own. */
  public static LoadedImage image(Isa isa, AbiCard card) {
    return image("zoo-%s-%s.elf".formatted(isa.name(), card.name()));
  }

  private static LoadedImage image(String file) {
    try {
      return LoadedImage.load(GUEST.resolve("images").resolve(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The convention that an image of the manifest is of: its file is named {@code
   * zoo-<isa>-<convention>[-<form>].elf}, where forms of a convention differ in the bytes of the
   * call only.
   */
  public static AbiCard card(LoadedImage image) {
    String file = image.elf().name();
    String variant = file.substring("zoo-".length(), file.length() - ".elf".length());
    return image.isa().conventions().stream()
        .filter(card -> (variant + "-").startsWith(image.isa().name() + "-" + card.name() + "-"))
        .max(Comparator.comparingInt(card -> card.name().length()))
        .orElseThrow(() -> new IllegalStateException("no card for " + file));
  }

  /** Names of all programs. */
  public static List<String> programs() {
    try (Stream<Path> files = Files.list(GUEST.resolve("programs"))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(".tree"))
          .map(name -> name.substring(0, name.length() - ".tree".length()))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Names of the programs that an image has: all but those that its variant goes without. */
  public static List<String> programs(LoadedImage image) {
    Set<String> without = without(image.elf().name());
    return programs().stream().filter(program -> !without.contains(program)).toList();
  }

  /** What the manifest says that an image goes without, because its convention cannot have it. */
  private static Set<String> without(String file) {
    JsonNode image =
        entries()
            .filter(entry -> entry.get("file").asText().equals(file))
            .findFirst()
            .orElseThrow(() -> new IllegalStateException(MANIFEST + " does not tell of " + file));
    return StreamSupport.stream(image.get("without").spliterator(), false)
        .map(JsonNode::asText)
        .collect(Collectors.toSet());
  }

  private static Stream<JsonNode> entries() {
    try {
      JsonNode manifest = JSON.readTree(MANIFEST.toFile());
      return StreamSupport.stream(manifest.get("images").spliterator(), false);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Every program in every image that has it. */
  public static Stream<Case> cases() {
    return images().stream()
        .flatMap(image -> programs(image).stream().map(program -> new Case(image, program)));
  }

  /** The expected tree of a program. */
  public static CallTree tree(String program) {
    return CallTree.parse(lines(program + ".tree"));
  }

  /** The expected tree of a program in an image: without what its conventions cannot see. */
  public static CallTree tree(Case zoo) {
    CallTree all = tree(zoo.program());
    return checksFramePointers(zoo.image())
        ? all
        : new CallTree(all.lines().stream().map(line -> line.replace(" !fp", "")).toList());
  }

  /**
   * True where frame pointers are compared. Programs without frame pointers may have functions that
   * make one all the same, by a convention of their own.
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
