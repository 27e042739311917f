package dev.retstack.cli.bench;

import dev.retstack.answers.table.Format;
import dev.retstack.cli.command.FormatOption;
import dev.retstack.cli.fleet.GuestImages;
import dev.retstack.cli.fleet.ProbeOption;
import dev.retstack.cli.kafka.KafkaOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What {@code retstack bench} measures, and on which images. */
public final class BenchOptions {
  @Option(
      names = "--rounds",
      defaultValue = "5",
      paramLabel = "N",
      description = "Rounds per figure (default: ${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--calls",
      defaultValue = "500000",
      paramLabel = "N",
      description = "Calls per run of a program, approximately (default: ${DEFAULT-VALUE}).")
  private long calls;

  @Option(
      names = "--image",
      paramLabel = "ELF",
      description =
          "An image with the programs of the zoo; may be repeated (default: all of them).")
  private final List<String> images = new ArrayList<>();

  /** What can be measured. */
  public enum Stage {
    CAPTURE,
    PATH,
    REPLAY,
    PYRAMID,
    LIVE,
    STATE,
    ACCURACY,
    PEERS
  }

  @Option(
      names = "--stage",
      split = ",",
      paramLabel = "STAGE",
      description = "${COMPLETION-CANDIDATES}; may be repeated (default: capture, path, replay).")
  private final Set<Stage> stages = EnumSet.noneOf(Stage.class);

  @Option(
      names = "--cores",
      split = ",",
      paramLabel = "N",
      description =
          "live, state: number of cores. The images are taken in turn, and all cores"
              + " together make about --calls calls. Several numbers are measured one after the"
              + " other (default: a core per image with --calls each).")
  private final List<Integer> cores = new ArrayList<>();

  @Option(
      names = "--questions",
      defaultValue = "10000",
      paramLabel = "N",
      description = "pyramid: windows of a seed that are asked for (default: ${DEFAULT-VALUE}).")
  private int questions;

  @Option(
      names = "--state-functions",
      defaultValue = "1000000",
      paramLabel = "N",
      description = "state: function rows over all partitions (default: ${DEFAULT-VALUE}).")
  private int stateFunctions;

  @Option(
      names = "--state-heap",
      defaultValue = "4g",
      paramLabel = "SIZE",
      description = "state: -Xmx of the members, which are separate JVMs (default: 4g).")
  private String stateHeap;

  @Mixin private ProbeOption probe;

  @Mixin private KafkaOptions kafka;
  @Mixin private FormatOption format;

  /** Rounds per figure. */
  public int rounds() {
    return rounds;
  }

  /** Calls per run of a program, about. */
  public long calls() {
    return calls;
  }

  /** Images with the programs of the zoo. */
  public List<Path> images() {
    return images.isEmpty()
        ? GuestImages.zoo()
        : images.stream().map(GuestImages::resolve).toList();
  }

  /** Stages that are wanted. */
  public Set<Stage> stages() {
    return stages.isEmpty() ? EnumSet.of(Stage.CAPTURE, Stage.PATH, Stage.REPLAY) : stages;
  }

  /** Numbers of cores, one after the other; empty for what a stage has by itself. */
  public List<Integer> cores() {
    return cores;
  }

  /** Windows of a trace that are asked for. */
  public int questions() {
    return questions;
  }

  /** Rows of functions over all partitions. */
  public int stateFunctions() {
    return stateFunctions;
  }

  /** Heap of members that run in separate JVMs. */
  public String stateHeap() {
    return stateHeap;
  }

  /** Which probe traces. */
  public ProbeOption probe() {
    return probe;
  }

  /** The broker, where one is named. */
  public KafkaOptions kafka() {
    return kafka;
  }

  /** How figures are printed. */
  public Format format() {
    return format.format();
  }
}
