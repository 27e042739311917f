package dev.retstack.cli.option;

import dev.retstack.service.PipelineConfig;
import picocli.CommandLine.Option;

/** How much of the images a member holds: what goes from memory is read again when it is named. */
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

  /**
   * Bytes of them.
   *
   * @throws IllegalArgumentException where the number is negative
   */
  public long bytes() {
    if (mebibytes < 0) {
      throw new IllegalArgumentException(
          "--images-mib %d: give a number from 0 on".formatted(mebibytes));
    }
    return (long) mebibytes << 20;
  }
}
