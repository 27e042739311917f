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
          "MiB of images that this member holds in memory (default: ${DEFAULT-VALUE}); those that"
              + " were not used for longest go first, and are read from Kafka again when a chunk"
              + " names them.")
  private int mebibytes;

  @Option(
      names = "--image-places-mib",
      defaultValue = "" + PipelineConfig.IMAGE_PLACES_MIB,
      paramLabel = "N",
      description =
          "MiB of memory for where images stand in Kafka that are not held, some 280 bytes each"
              + " (default: ${DEFAULT-VALUE}); for others the whole topic is searched when a chunk"
              + " names them.")
  private int placesMebibytes;

  /**
   * Bytes of them.
   *
   * @throws IllegalArgumentException where the number is negative
   */
  public long bytes() {
    return bytes("--images-mib", mebibytes);
  }

  /**
   * Bytes for where others stand.
   *
   * @throws IllegalArgumentException where the number is negative
   */
  public long placeBytes() {
    return bytes("--image-places-mib", placesMebibytes);
  }

  private static long bytes(String option, int mebibytes) {
    if (mebibytes < 0) {
      throw new IllegalArgumentException(
          "%s %d: give a number from 0 on".formatted(option, mebibytes));
    }
    return (long) mebibytes << 20;
  }
}
