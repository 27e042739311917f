package dev.retstack.service;

import dev.retstack.answers.http.HttpSettings;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.checkpoint.StartAt;
import dev.retstack.service.control.CommandRules;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.nodes.Role;
import dev.retstack.service.partition.PartitionSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * What one member of the pipeline has to know. Begin with {@link #of}, change what differs, and
 * {@link Builder#build}, which reports all problems at once. A configuration that was built does
 * not change.
 */
public final class PipelineConfig implements Cloneable {
  /** Group of members that are given no other one. */
  public static final String DEFAULT_GROUP = "retstack-pipeline";

  /** Calls kept per core: they are held in memory and in every checkpoint. */
  public static final int TREE_CALLS_PER_CORE = 4_000;

  /** MiB of images that a member holds. */
  public static final int IMAGES_MIB = 256;

  /** Usual memory of a partition for chunks that wait for their image, in MiB. */
  public static final int WAITING_MIB = 16;

  /** MiB for the places of images that a member does not hold: some 170,000 of them. */
  public static final int IMAGE_PLACES_MIB = 64;

  /** What a member holds beside states, of which checkpoints and answers are copies. */
  private static final long HEAP_BYTES_BESIDE = 96L << 20;

  private static final long STATE_BYTES_MIN = 16L << 20;

  private final KafkaSettings kafka;
  private Topics topics = Topics.standard();
  private String groupId = DEFAULT_GROUP;
  private int partitions = 8;
  private Set<Role> roles = EnumSet.allOf(Role.class);
  private HttpSettings http = HttpSettings.LOCAL;
  private boolean repairs;
  private Duration checkpointInterval = Duration.ofSeconds(5);
  private int checkpointChunks = 4096;
  private Duration totalsInterval = Duration.ofSeconds(30);
  private Duration imagePatience = Duration.ofSeconds(60);
  private long waitingBytes = (long) WAITING_MIB << 20;
  private long imageBytes = (long) IMAGES_MIB << 20;
  private long imagePlaceBytes = (long) IMAGE_PLACES_MIB << 20;
  private OptionalLong spanThreshold = OptionalLong.empty();
  private GraphLimits limits = GraphLimits.DEFAULT.withTreeCallsPerCore(TREE_CALLS_PER_CORE);
  private long stateBytes = stateBytesOf(Runtime.getRuntime().maxMemory());
  private Duration keepEnded = Duration.ofDays(7);
  private TimeRules rules = TimeRules.DEFAULT;
  private LateSymbols names = LateSymbols.NONE;
  private StartAt start = new StartAt.Earliest();
  private Optional<CommandRules> commandRules = Optional.empty();
  private boolean takesCommands;

  private PipelineConfig(KafkaSettings kafka) {
    this.kafka = kafka;
  }

  /** The usual settings for this cluster. */
  public static PipelineConfig of(KafkaSettings kafka) {
    return new PipelineConfig(kafka);
  }

  /** Of a heap of that many bytes, what states may hold unless one says otherwise. */
  static long stateBytesOf(long heap) {
    return Math.max(STATE_BYTES_MIN, (heap - HEAP_BYTES_BESIDE) / 2);
  }

  /** Where Kafka is. */
  public KafkaSettings kafka() {
    return kafka;
  }

  /** Names of the topics. */
  public Topics topics() {
    return topics;
  }

  /** Consumer group: its members share the partitions, and it owns the checkpoints. */
  public String groupId() {
    return groupId;
  }

  /** Partitions of the events topic where this member has to create it. */
  int partitions() {
    return partitions;
  }

  /** What this member does. */
  Set<Role> roles() {
    return roles;
  }

  /** How the HTTP side serves; beyond loopback only with a token and TLS. */
  HttpSettings http() {
    return http;
  }

  /** Bytes of records of images that this member holds in memory; it reads others again. */
  long imageBytes() {
    return imageBytes;
  }

  /** Bytes of memory for the places of other images; for others yet the topic is searched. */
  long imagePlaceBytes() {
    return imagePlaceBytes;
  }

  /** Bytes that the states of this member's partitions may hold together. */
  long stateBytes() {
    return stateBytes;
  }

  /** Where a partition begins of which the group has no state. */
  StartAt start() {
    return start;
  }

  /** Whether a partition whose state cannot be used is rebuilt from its records. */
  boolean repairs() {
    return repairs;
  }

  /** What a stream can make grow at most. */
  GraphLimits limits() {
    return limits;
  }

  /** What commands to fleets may say; empty: HTTP serves nothing of commands. */
  Optional<CommandRules> commandRules() {
    return commandRules;
  }

  /** Whether HTTP takes commands to fleets; if not, it only reads. */
  boolean takesCommands() {
    return takesCommands;
  }

  /** What each partition has to know. */
  PartitionSettings partitionSettings() {
    return new PartitionSettings(
        topics,
        checkpointInterval,
        checkpointChunks,
        totalsInterval,
        imagePatience,
        waitingBytes,
        spanThreshold,
        limits,
        keepEnded,
        rules,
        names);
  }

  /** A builder that begins with this configuration. */
  public Builder but() {
    return new Builder(copy());
  }

  private PipelineConfig copy() {
    try {
      return (PipelineConfig) clone();
    } catch (CloneNotSupportedException e) {
      throw new AssertionError(e);
    }
  }

  private List<String> problems() {
    List<String> problems = new ArrayList<>();
    if (totalsInterval.isNegative()) {
      problems.add("totals published every " + totalsInterval);
    }
    if (keepEnded.isNegative()) {
      problems.add("ended sessions kept for " + keepEnded);
    }
    if (imageBytes < 0 || imagePlaceBytes < 0) {
      problems.add(
          "images of %d bytes held, %d bytes of places".formatted(imageBytes, imagePlaceBytes));
    }
    if (stateBytes < 1) {
      problems.add("states of %d bytes: give a number from 1 on".formatted(stateBytes));
    }
    if (groupId.isBlank()) {
      problems.add("empty group id: give the members of one job one name");
    }
    if (partitions < 1 || checkpointChunks < 1 || !checkpointInterval.isPositive()) {
      problems.add(
          "partitions %d, checkpoint after %d chunks or %s: each must be positive"
              .formatted(partitions, checkpointChunks, checkpointInterval));
    }
    if (roles.isEmpty()) {
      problems.add("no role: give ingest, query or both");
    }
    http.problem().ifPresent(problems::add);
    try {
      var _ = kafka.member(); // reports settings that do not go together before anything starts
    } catch (IllegalArgumentException e) {
      problems.add(e.getMessage());
    }
    return problems;
  }

  /** Changes single settings of a configuration. */
  public static final class Builder {
    private final PipelineConfig config;

    private Builder(PipelineConfig config) {
      this.config = config;
    }

    /** Other names of topics. */
    public Builder topics(Topics names) {
      config.topics = names;
      return this;
    }

    /** Another consumer group. */
    public Builder groupId(String group) {
      config.groupId = group;
      return this;
    }

    /** Another number of partitions to create. */
    public Builder partitions(int count) {
      config.partitions = count;
      return this;
    }

    /** Less than everything. */
    public Builder roles(Set<Role> some) {
      config.roles = Set.copyOf(some);
      return this;
    }

    /** The HTTP side elsewhere; port 0 = any free one. */
    public Builder http(String host, int port) {
      config.http = config.http.at(host, port);
      return this;
    }

    /** The HTTP side otherwise. */
    public Builder http(HttpSettings settings) {
      config.http = settings;
      return this;
    }

    /** Other moments of checkpoints, whichever comes first. */
    public Builder checkpoints(Duration interval, int chunks) {
      config.checkpointInterval = interval;
      config.checkpointChunks = chunks;
      return this;
    }

    /** Publishes totals of cores that run more or less often; zero = with each checkpoint. */
    public Builder totalsInterval(Duration interval) {
      config.totalsInterval = interval;
      return this;
    }

    /** Another wait for images. */
    public Builder imagePatience(Duration patience) {
      config.imagePatience = patience;
      return this;
    }

    /** More or less of the images in memory. */
    public Builder imageBytes(long bytes) {
      config.imageBytes = bytes;
      return this;
    }

    /** More or less memory for where images stand. */
    public Builder imagePlaceBytes(long bytes) {
      config.imagePlaceBytes = bytes;
      return this;
    }

    /** Publishes calls of this length and longer as spans. */
    public Builder spanThreshold(long threshold) {
      config.spanThreshold = OptionalLong.of(threshold);
      return this;
    }

    /** More or less memory of a partition for chunks that wait for their image. */
    public Builder waitingBytes(long bytes) {
      config.waitingBytes = bytes;
      return this;
    }

    /** Other bytes that the states of all partitions may hold together. */
    public Builder stateBytes(long other) {
      config.stateBytes = other;
      return this;
    }

    /** Other limits of the state. */
    public Builder limits(GraphLimits other) {
      config.limits = other;
      return this;
    }

    /** Forgets sessions that are silent for so long sooner or later, or never: zero. */
    public Builder keepEnded(Duration time) {
      config.keepEnded = time;
      return this;
    }

    /** Other rules of what counts in totals. */
    public Builder rules(TimeRules other) {
      config.rules = other;
      return this;
    }

    /** Begins elsewhere than at the first record, where the group has no state. */
    public Builder start(StartAt where) {
      config.start = where;
      return this;
    }

    /** Takes away the state of a partition that cannot be used, and rebuilds it from events. */
    public Builder repair(boolean wanted) {
      config.repairs = wanted;
      return this;
    }

    /**
     * Serves previews and the log of commands to fleets.
     *
     * @param rules of the fleets
     * @param taken whether commands are taken, too
     */
    public Builder commands(CommandRules rules, boolean taken) {
      config.commandRules = Optional.of(rules);
      config.takesCommands = taken;
      return this;
    }

    /** Names for images that are announced without. */
    public Builder names(LateSymbols late) {
      config.names = late;
      return this;
    }

    /**
     * The configuration as changed.
     *
     * @throws IllegalArgumentException with all that makes no sense, a line each
     */
    public PipelineConfig build() {
      List<String> problems = config.problems();
      if (!problems.isEmpty()) {
        throw new IllegalArgumentException(
            problems.size() == 1
                ? problems.getFirst()
                : problems.size() + " problems\n  " + String.join("\n  ", problems));
      }
      return config.copy();
    }
  }
}
