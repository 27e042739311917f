package dev.retstack.fleet.control;

import java.util.Map;
import java.util.regex.Pattern;

/**
 * What a {@link Selector} is held against.
 *
 * @param core name of the core
 * @param isa name of its ISA
 * @param image name of the program's file
 * @param labels that it was started with
 */
public record CoreIdentity(String core, String isa, String image, Map<String, String> labels) {
  /** Follows the name of a core that was started again, before the number of the restart. */
  public static final String RESTART = ".restart-";

  private static final Pattern LABEL = Pattern.compile("[\\p{L}\\p{N}._/-]{1,100}");

  public CoreIdentity {
    labels = Map.copyOf(labels);
  }

  /** The name that it was first started by: commands to that core hold for its restarts too. */
  public String firstName() {
    int restart = core.lastIndexOf(RESTART);
    return restart < 0 ? core : core.substring(0, restart);
  }

  /**
   * Refuses labels that no target could name.
   *
   * @throws IllegalArgumentException with fact, value and cure
   */
  public static void checkLabels(Map<String, String> labels) {
    labels.forEach(
        (key, value) -> {
          if (!LABEL.matcher(key).matches() || !LABEL.matcher(value).matches()) {
            throw new IllegalArgumentException(
                "no label: '%s=%s'; key and value are up to 100 letters, digits and ._/- each"
                    .formatted(key, value));
          }
        });
  }
}
