package dev.retstack.cli.verb;

import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.service.PipelineConfig;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** What a member of a pipeline keeps, for how long, and how often it writes a checkpoint. */
final class MemberOptions {
  @Option(
      names = "--checkpoint-seconds",
      defaultValue = "5",
      paramLabel = "N",
      description =
          "Longest time from a chunk to the checkpoint that holds it (default: ${DEFAULT-VALUE}).")
  private long checkpointSeconds;

  @Option(
      names = "--checkpoint-chunks",
      defaultValue = "4096",
      paramLabel = "N",
      description = "Chunks after which a checkpoint is taken earlier (default: ${DEFAULT-VALUE}).")
  private int checkpointChunks;

  @Option(
      names = "--totals-seconds",
      defaultValue = "30",
      paramLabel = "N",
      description =
          "How often totals that changed are published to the profiles topic while cores run"
              + " (default: ${DEFAULT-VALUE}; 0: with each checkpoint). They are also published"
              + " after a core ended. At most 50,000 rows are published at once.")
  private long totalsSeconds;

  @Option(
      names = "--cores-per-partition",
      defaultValue = "100000",
      paramLabel = "N",
      description =
          "Cores that a partition may hold, including those that ended (default:"
              + " ${DEFAULT-VALUE}). Chunks of further cores go to dead-letters.")
  private int cores;

  @Option(
      names = "--tree-calls",
      defaultValue = "" + PipelineConfig.TREE_CALLS_PER_CORE,
      paramLabel = "N",
      description =
          "Calls of each core kept for its call tree (default: ${DEFAULT-VALUE}). They are"
              + " most of what a core takes in memory and in checkpoints. Totals count all calls.")
  private int treeCalls;

  @Option(
      names = "--keep-ended",
      defaultValue = "7d",
      paramLabel = "TIME",
      converter = TimeSpanConverter.class,
      description =
          "Forget a session that sent nothing for this time, by the clock of the events"
              + " topic: 30m, 12h, 7d; 0 keeps all (default: ${DEFAULT-VALUE}). What was published"
              + " of it stays. Chunks of it that come later go to dead-letters.")
  private Duration keepEnded;

  @Option(
      names = "--state-mib",
      paramLabel = "N",
      description =
          "MiB of memory for the states of all partitions of this member (default: half of the heap"
              + " beyond 96 MiB, at least 16). Beyond it, chunks of new cores go to dead-letters, and"
              + " what makes a core larger than its share is left out and counted (STATE_FULL).")
  private Integer stateMebibytes;

  @Option(
      names = "--waiting-mib",
      defaultValue = "" + PipelineConfig.WAITING_MIB,
      paramLabel = "N",
      description =
          "MiB of a partition for the names and offsets of chunks that wait for their image, and as"
              + " much again for their records (default: ${DEFAULT-VALUE}). Beyond it, those that"
              + " waited longest go to dead-letters.")
  private int waitingMebibytes;

  @Option(
      names = "--images-mib",
      defaultValue = "" + PipelineConfig.IMAGES_MIB,
      paramLabel = "N",
      description =
          "MiB of images that this member holds in memory (default: ${DEFAULT-VALUE}), at"
              + " most an eighth of the heap. The least recently used are dropped first. They are"
              + " read from Kafka again when a chunk names them.")
  private int imagesMebibytes;

  @Option(
      names = "--image-places-mib",
      defaultValue = "" + PipelineConfig.IMAGE_PLACES_MIB,
      paramLabel = "N",
      description =
          "MiB of memory for the places in Kafka of images that are not held, about 280 bytes"
              + " each (default: ${DEFAULT-VALUE}), at most a sixteenth of the heap. For other"
              + " images, the whole topic is searched when a chunk names them.")
  private int placesMebibytes;

  /**
   * A configuration with these limits.
   *
   * @throws IllegalArgumentException with a sentence, where one makes no sense
   */
  void into(PipelineConfig.Builder config) {
    config
        .checkpoints(Duration.ofSeconds(checkpointSeconds), checkpointChunks)
        .totalsInterval(Duration.ofSeconds(totalsSeconds))
        .limits(GraphLimits.DEFAULT.but().treeCallsPerCore(treeCalls).cores(cores).build())
        .keepEnded(keepEnded)
        .waitingBytes((long) waitingMebibytes << 20)
        .imageBytes((long) imagesMebibytes << 20)
        .imagePlaceBytes((long) placesMebibytes << 20);
    if (stateMebibytes != null) {
      config.stateBytes((long) stateMebibytes << 20); // the range of the option begins at 1
    }
  }

  /** A time as people write it: {@code 90s}, {@code 30m}, {@code 12h}, {@code 7d}, or 0. */
  static final class TimeSpanConverter implements ITypeConverter<Duration> {
    private static final Pattern FORM = Pattern.compile("(\\d{1,9})([smhd])");
    private static final Map<String, Integer> SECONDS =
        Map.of("s", 1, "m", 60, "h", 3_600, "d", 86_400);

    @Override
    public Duration convert(String text) {
      if (text.equals("0")) {
        return Duration.ZERO;
      }
      Matcher found = FORM.matcher(text);
      if (!found.matches()) {
        throw new TypeConversionException(
            "'%s' is not a time: give a number and s, m, h or d, such as 7d, or 0".formatted(text));
      }
      return Duration.ofSeconds(Long.parseLong(found.group(1)) * SECONDS.get(found.group(2)));
    }
  }
}
