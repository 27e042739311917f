package dev.retstack.fleet.plan;

import dev.retstack.fleet.control.CoreIdentity;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.ImageLayout;
import dev.retstack.fleet.settings.SiteCatalog;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.Image;
import java.util.List;
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

  /** What readers of the trace must know of an image that some of these cores run. */
  public static Image describe(LoadedImage image, List<CoreSpec> cores) {
    String buildId = image.elf().buildId();
    List<CoreOptions> options =
        cores.stream()
            .filter(core -> core.image().elf().buildId().equals(buildId))
            .map(CoreSpec::options)
            .toList();
    Image described =
        ImageLayout.describe(image, options.stream().anyMatch(o -> o.tasks().givesIds()));
    if (options.stream().anyMatch(CoreOptions::libraryCalls)) {
      ImageLayout.nameLibraryCalls(image, described);
    }
    return described;
  }

  /** What can be traced by name on such a core. */
  public SiteCatalog catalog() {
    return options.libraryCalls() ? SiteCatalog.withLibraryCalls(image) : SiteCatalog.of(image);
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
