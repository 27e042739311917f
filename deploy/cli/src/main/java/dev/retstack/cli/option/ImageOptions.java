package dev.retstack.cli.option;

import dev.retstack.service.PipelineConfig;
import picocli.CommandLine.Option;

/** How much of the images a member holds: what goes from memory is found again when it is named. */
public final class ImageOptions {
  @Option(
      names = "--images-mib",
      defaultValue = "" + PipelineConfig.IMAGES_MIB,
      paramLabel = "N",
      description =
          "MiB of images that this member holds in memory (default: ${DEFAULT-VALUE}), an eighth of"
              + " the heap at most; those that"
              + " were not used for longest go first, and are read from Kafka again when a chunk"
              + " names them.")
  private int mebibytes;

  @Option(
      names = "--image-places-mib",
      defaultValue = "" + PipelineConfig.IMAGE_PLACES_MIB,
      paramLabel = "N",
      description =
          "MiB of memory for where images stand in Kafka that are not held, some 280 bytes each"
              + " (default: ${DEFAULT-VALUE}), a sixteenth of the heap at most; for others the whole topic is searched when a chunk"
              + " names them.")
  private int placesMebibytes;

  /** Bytes of them. */
  public long bytes() {
    return (long) mebibytes << 20;
  }

  /** Bytes for where others stand. */
  public long placeBytes() {
    return (long) placesMebibytes << 20;
  }
}
