package dev.retstack.fleet;

import dev.retstack.fleet.control.CoreIdentity;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.loader.LoadedImage;
import java.util.Map;

/**
 * A core to run.
 *
 * @param name unique in the fleet; the key of its chunks
 * @param image what it runs
 * @param options how it runs it
 * @param labels by which commands may select it: rack, board, revision
 */
public record CoreSpec(
    String name, LoadedImage image, CoreOptions options, Map<String, String> labels) {
  public CoreSpec {
    labels = Map.copyOf(labels);
    if (name.isBlank()) {
      throw new IllegalArgumentException("a core needs a name");
    }
  }

  /** Whom commands select. */
  public CoreIdentity identity() {
    return new CoreIdentity(name, image.isa().name(), image.elf().name(), labels);
  }

  /** A core without labels. */
  public CoreSpec(String name, LoadedImage image, CoreOptions options) {
    this(name, image, options, Map.of());
  }
}
