package dev.retstack.fleet.zoo;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/**
 * What {@code emulators/guest/build.sh} writes about the images of a folder, in their {@code
 * manifest.json}.
 *
 * @param folder with the images
 * @param entries one per image, in the order of the manifest
 */
public record Manifest(Path folder, List<Entry> entries) {
  private static final String CURE =
      "build images there with emulators/guest/build.sh --levels DIR";

  private static final String FILE = "manifest.json";
  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * An image.
   *
   * @param file its name: {@code zoo-<isa>-<convention>[-<form>][-<level>[-nofp]].elf}
   * @param isa name of its ISA
   * @param convention and form
   * @param level of optimisation: {@code O0}, {@code O2}, ...
   * @param framePointers false where the compiler left them out
   * @param without programs that it cannot have
   */
  public record Entry(
      String file,
      String isa,
      String convention,
      String level,
      boolean framePointers,
      Set<String> without) {
    public Entry {
      without = Set.copyOf(without);
    }
  }

  public Manifest {
    entries = List.copyOf(entries);
  }

  /** True where a folder has a manifest. */
  static boolean isIn(Path folder) {
    return Files.isRegularFile(folder.resolve(FILE));
  }

  /**
   * Reads the manifest of a folder.
   *
   * @throws IOException with a sentence that names what is missing, and the cure
   */
  public static Manifest of(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      throw new IOException("no such directory: %s; %s".formatted(folder, CURE));
    }
    Path file = folder.resolve(FILE);
    if (!Files.isRegularFile(file)) {
      throw new IOException("no %s in %s, so no images; %s".formatted(FILE, folder, CURE));
    }
    List<Entry> entries;
    try {
      entries =
          StreamSupport.stream(JSON.readTree(file.toFile()).path("images").spliterator(), false)
              .map(Manifest::entry)
              .toList();
    } catch (JsonProcessingException | IllegalArgumentException e) {
      throw new IOException(
          "%s is not a manifest: %s; %s".formatted(file, firstLine(e.getMessage()), CURE), e);
    }
    if (entries.isEmpty()) {
      throw new IOException("no images in %s; %s".formatted(file, CURE));
    }
    return new Manifest(folder, entries);
  }

  private static Entry entry(JsonNode image) {
    return new Entry(
        text(image, "file"),
        text(image, "isa"),
        text(image, "convention"),
        text(image, "level"),
        image.path("framePointers").asBoolean(),
        StreamSupport.stream(image.path("without").spliterator(), false)
            .map(JsonNode::asText)
            .collect(Collectors.toSet()));
  }

  private static String text(JsonNode image, String field) {
    return Optional.ofNullable(image.get(field))
        .filter(JsonNode::isTextual)
        .map(JsonNode::asText)
        .orElseThrow(() -> new IllegalArgumentException("an image without \"" + field + '"'));
  }

  private static String firstLine(String text) {
    return text.lines().findFirst().orElse("");
  }

  /** Names of the ISAs that it has images of. */
  public SortedSet<String> isas() {
    return entries.stream().map(Entry::isa).collect(Collectors.toCollection(TreeSet::new));
  }

  /** The entry of an image file. */
  Optional<Entry> entry(String file) {
    return entries.stream().filter(entry -> entry.file().equals(file)).findFirst();
  }
}
