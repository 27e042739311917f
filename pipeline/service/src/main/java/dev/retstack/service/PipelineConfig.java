package dev.retstack.service;

import dev.retstack.graph.aggregate.GraphLimits;
import dev.retstack.graph.aggregate.LateLimits;
import dev.retstack.graph.aggregate.TimeRules;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.ingest.KafkaSettings;
import dev.retstack.service.nodes.Role;
import dev.retstack.service.query.HttpSettings;
import dev.retstack.service.reconstruct.PartitionSettings;
import java.time.Duration;
import java.util.EnumSet;
import java.util.OptionalLong;
import java.util.Set;

/**
 * What one member of the pipeline has to know. Begin with {@link #of} and change what differs.
 *
 * @param kafka where Kafka is
 * @param topics names of the topics
 * @param groupId consumer group; members of one group share the partitions, and the group owns the
 *     checkpoints
 * @param partitions partitions of the events topic where this member has to create it
 * @param roles what this member does
 * @param http how the HTTP side serves; beyond loopback only with a token and TLS
 * @param checkpointInterval longest time between a chunk and the checkpoint that holds it
 * @param checkpointChunks chunks after which a checkpoint is taken earlier than that
 * @param totalsInterval how often totals that changed are published while cores run
 * @param imagePatience how long a chunk waits for its image before it goes to dead letters
 * @param imageBytes of records of images that this member holds in memory; it reads others again
 * @param imagePlaceBytes of memory for where other images stand; others yet are searched
 * @param spanThreshold shortest call published to spans, in the core's unit; empty = none
 * @param limits what a stream can make grow at most
 * @param stateBytes that the states of this member's partitions may hold together
 * @param keepEnded how long, by the log's time, sessions stay of which nothing comes; zero = for
 *     ever
 * @param rules which time is in totals; a group keeps to those that its checkpoints were made with
 */
public record PipelineConfig(
    KafkaSettings kafka,
    Topics topics,
    String groupId,
    int partitions,
    Set<Role> roles,
    HttpSettings http,
    Duration checkpointInterval,
    int checkpointChunks,
    Duration totalsInterval,
    Duration imagePatience,
    long imageBytes,
    long imagePlaceBytes,
    OptionalLong spanThreshold,
    GraphLimits limits,
    long stateBytes,
    Duration keepEnded,
    TimeRules rules) {

  /** Group of members that are given no other one. */
  public static final String DEFAULT_GROUP = "retstack-pipeline";

  /** Calls kept per core: they are held in memory and in every checkpoint. */
  public static final int TREE_CALLS_PER_CORE = 4_000;

  /** What a member holds beside states, of which checkpoints and answers are copies. */
  private static final long HEAP_BYTES_BESIDE = 96L << 20;

  private static final long STATE_BYTES_MIN = 16L << 20;

  /** MiB of images that a member holds. */
  public static final int IMAGES_MIB = 256;

  /** MiB for where images stand that a member does not hold: some 240,000 of them. */
  public static final int IMAGE_PLACES_MIB = 64;

  /** Totals of cores that run are published so often, unless one says otherwise. */
  public static final Duration TOTALS_INTERVAL = Duration.ofSeconds(30);

  /** Sessions of which nothing came for so long are forgotten, unless one says otherwise. */
  public static final Duration KEEP_ENDED = Duration.ofDays(7);

  public PipelineConfig {
    if (totalsInterval.isNegative()) {
      throw new IllegalArgumentException("totals published every " + totalsInterval);
    }
    if (keepEnded.isNegative()) {
      throw new IllegalArgumentException("ended sessions kept for " + keepEnded);
    }
    if (imageBytes < 0 || imagePlaceBytes < 0) {
      throw new IllegalArgumentException(
          "images of %d bytes held, %d bytes of places".formatted(imageBytes, imagePlaceBytes));
    }
    if (stateBytes < 1) {
      throw new IllegalArgumentException(
          "states of %d bytes: give a number from 1 on".formatted(stateBytes));
    }
    if (groupId.isBlank()) {
      throw new IllegalArgumentException("empty group id: give the members of one job one name");
    }
    if (partitions < 1 || checkpointChunks < 1 || !checkpointInterval.isPositive()) {
      throw new IllegalArgumentException(
          "partitions %d, checkpoint after %d chunks or %s: each must be positive"
              .formatted(partitions, checkpointChunks, checkpointInterval));
    }
    roles = Set.copyOf(roles);
    if (roles.isEmpty()) {
      throw new IllegalArgumentException("no role: give ingest, query or both");
    }
    http.requireSafe();
    var _ = kafka.member(); // settings that do not go together are told before anything starts
  }

  /** Of a heap of so many bytes, what states may hold unless one says otherwise. */
  static long stateBytesOf(long heap) {
    return Math.max(STATE_BYTES_MIN, (heap - HEAP_BYTES_BESIDE) / 2);
  }

  /** The usual settings for this cluster. */
  public static PipelineConfig of(KafkaSettings kafka) {
    return new PipelineConfig(
        kafka,
        Topics.standard(),
        DEFAULT_GROUP,
        8,
        EnumSet.allOf(Role.class),
        HttpSettings.LOCAL,
        Duration.ofSeconds(5),
        4096,
        TOTALS_INTERVAL,
        Duration.ofSeconds(60),
        (long) IMAGES_MIB << 20,
        (long) IMAGE_PLACES_MIB << 20,
        OptionalLong.empty(),
        GraphLimits.DEFAULT.withTreeCallsPerCore(TREE_CALLS_PER_CORE),
        stateBytesOf(Runtime.getRuntime().maxMemory()),
        KEEP_ENDED,
        TimeRules.DEFAULT);
  }

  /** The same, to be changed. */
  public Builder but() {
    return new Builder(this);
  }

  /** Changes single settings of a configuration. */
  public static final class Builder {
    private final KafkaSettings kafka;
    private Topics topics;
    private String groupId;
    private int partitions;
    private Set<Role> roles;
    private HttpSettings http;
    private Duration checkpointInterval;
    private int checkpointChunks;
    private Duration totalsInterval;
    private Duration imagePatience;
    private long imageBytes;
    private long imagePlaceBytes;
    private OptionalLong spanThreshold;
    private GraphLimits limits;
    private long stateBytes;
    private Duration keepEnded;
    private TimeRules rules;

    private Builder(PipelineConfig from) {
      kafka = from.kafka;
      topics = from.topics;
      groupId = from.groupId;
      partitions = from.partitions;
      roles = from.roles;
      http = from.http;
      checkpointInterval = from.checkpointInterval;
      checkpointChunks = from.checkpointChunks;
      totalsInterval = from.totalsInterval;
      imagePatience = from.imagePatience;
      imageBytes = from.imageBytes;
      imagePlaceBytes = from.imagePlaceBytes;
      spanThreshold = from.spanThreshold;
      limits = from.limits;
      stateBytes = from.stateBytes;
      keepEnded = from.keepEnded;
      rules = from.rules;
    }

    /** Other names of topics. */
    public Builder topics(Topics names) {
      topics = names;
      return this;
    }

    /** Another consumer group. */
    public Builder groupId(String group) {
      groupId = group;
      return this;
    }

    /** Another number of partitions to create. */
    public Builder partitions(int count) {
      partitions = count;
      return this;
    }

    /** Less than everything. */
    public Builder roles(Set<Role> some) {
      roles = some;
      return this;
    }

    /** The HTTP side elsewhere; port 0 = any free one. */
    public Builder http(String host, int port) {
      http = http.at(host, port);
      return this;
    }

    /** The HTTP side otherwise. */
    public Builder http(HttpSettings settings) {
      http = settings;
      return this;
    }

    /** Other moments of checkpoints, whichever comes first. */
    public Builder checkpoints(Duration interval, int chunks) {
      checkpointInterval = interval;
      checkpointChunks = chunks;
      return this;
    }

    /** Publishes totals of cores that run more or less often; zero = with each checkpoint. */
    public Builder totalsInterval(Duration interval) {
      totalsInterval = interval;
      return this;
    }

    /** Another wait for images. */
    public Builder imagePatience(Duration patience) {
      imagePatience = patience;
      return this;
    }

    /** More or less of the images in memory. */
    public Builder imageBytes(long bytes) {
      imageBytes = bytes;
      return this;
    }

    /** More or less memory for where images stand. */
    public Builder imagePlaceBytes(long bytes) {
      imagePlaceBytes = bytes;
      return this;
    }

    /** Publishes calls of this length and longer as spans. */
    public Builder spanThreshold(long threshold) {
      spanThreshold = OptionalLong.of(threshold);
      return this;
    }

    /** Other limits of what is held behind gaps. */
    public Builder late(LateLimits held) {
      limits = limits.withLate(held);
      return this;
    }

    /** Other bytes that the states of all partitions may hold together. */
    public Builder stateBytes(long other) {
      stateBytes = other;
      return this;
    }

    /** Other limits of the state. */
    public Builder limits(GraphLimits other) {
      limits = other;
      return this;
    }

    /** Forgets sessions that are silent for so long sooner or later, or never: zero. */
    public Builder keepEnded(Duration time) {
      keepEnded = time;
      return this;
    }

    /** Other rules of what counts in totals. */
    public Builder rules(TimeRules other) {
      rules = other;
      return this;
    }

    /** The configuration as changed. */
    public PipelineConfig build() {
      return new PipelineConfig(
          kafka,
          topics,
          groupId,
          partitions,
          roles,
          http,
          checkpointInterval,
          checkpointChunks,
          totalsInterval,
          imagePatience,
          imageBytes,
          imagePlaceBytes,
          spanThreshold,
          limits,
          stateBytes,
          keepEnded,
          rules);
    }
  }

  PartitionSettings partitionSettings() {
    return new PartitionSettings(
        topics,
        checkpointInterval,
        checkpointChunks,
        totalsInterval,
        imagePatience,
        spanThreshold,
        limits,
        keepEnded,
        rules);
  }
}
