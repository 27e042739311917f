package dev.retstack.fleet.zoo;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A check that cannot pass, known and explained: a line of {@code emulators/guest/programs/limits}.
 *
 * @param program name
 * @param check that fails
 * @param isa name
 * @param conventions that it concerns, as their images are named
 * @param levels of optimisation
 * @param framePointers of the images that it concerns: kept or not
 * @param reason a sentence
 */
record Limit(
    String program,
    Check check,
    String isa,
    List<String> conventions,
    List<String> levels,
    boolean framePointers,
    String reason) {
  private static final int FIELDS = 7;

  /** Reads the lines of the file. */
  static List<Limit> parse(List<String> lines) {
    return lines.stream().filter(line -> !line.startsWith("#")).map(Limit::of).toList();
  }

  private static Limit of(String line) {
    String[] fields = line.split(" ", FIELDS);
    if (fields.length < FIELDS) {
      throw new IllegalArgumentException("line of limits: " + line);
    }
    return new Limit(
        fields[0],
        Check.valueOf(fields[1].toUpperCase(Locale.ROOT)),
        fields[2],
        List.of(fields[3].split(",")),
        List.of(fields[4].split(",")),
        kept(fields[5]),
        fields[6]);
  }

  private static boolean kept(String framePointers) {
    return switch (framePointers) {
      case "kept" -> true;
      case "omitted" -> false;
      default -> throw new IllegalArgumentException("frame pointers: " + framePointers);
    };
  }

  /** The limit of a check of a program in an image, if there is one. */
  static Optional<Limit> find(
      List<Limit> limits, Manifest.Entry image, String program, Check check) {
    return limits.stream()
        .filter(
            limit ->
                limit.program.equals(program)
                    && limit.check == check
                    && limit.isa.equals(image.isa())
                    && limit.conventions.contains(image.convention())
                    && limit.levels.contains(image.level())
                    && limit.framePointers == image.framePointers())
        .findFirst();
  }
}
