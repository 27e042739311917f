package dev.retstack.fleet;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.loader.LoadedImage;

/**
 * A core to run.
 *
 * @param name unique in the fleet; the key of its chunks
 * @param image what it runs
 * @param options how it runs it
 */
public record CoreSpec(String name, LoadedImage image, CoreOptions options) {
  public CoreSpec {
    if (name.isBlank()) {
      throw new IllegalArgumentException("a core needs a name");
    }
  }
}
