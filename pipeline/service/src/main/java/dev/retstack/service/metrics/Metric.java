package dev.retstack.service.metrics;

/**
 * Every number of the pipeline at {@code /metrics}; those of the JVM are added. Counters begin at 0
 * with the process; gauges are values at the scrape.
 */
public enum Metric {
  RECEIVED_CHUNKS(true, "received_chunks", "Kafka records of the events topic that arrived"),
  RECEIVED_BYTES(true, "received_bytes", "bytes of their values"),
  CHUNKS(true, "chunks", "chunks finished, by outcome: applied, stale or refused"),
  APPLIED_RECORDS(true, "applied_records", "trace records in the chunks applied"),
  PUBLISHED_RECORDS(true, "published_records", "records handed to the published topics, by topic"),
  ANOMALIES(true, "anomalies", "anomalies published, by kind; at most 100 of a kind per core"),
  PARTITION_FAILURES(
      true, "partition_failures", "times that a partition failed and went back to its checkpoint"),
  CHECKPOINTS(true, "checkpoints", "checkpoints written"),
  CHECKPOINT_SECONDS(
      true, "checkpoint_seconds", "time from taking checkpoints to their commit, all together"),
  CHECKPOINT_STALL_SECONDS(
      true,
      "checkpoint_stall_seconds",
      "time that the partition stood still while changes were written down"),
  CHECKPOINT_CPU_SECONDS(
      true, "checkpoint_cpu_seconds", "CPU time to write down, pack and send changes"),
  CHECKPOINT_SENT_BYTES(
      true, "checkpoint_sent_bytes", "bytes of checkpoints that were sent to Kafka, packed"),
  HTTP_REQUESTS(true, "http_requests", "HTTP requests answered, by first part of the path"),
  HTTP_QUERIES(false, "http_queries", "queries being answered now"),
  WINDOWS(true, "windows", "questions about a time for which chunks were read from the log"),
  WINDOW_FETCHED_BYTES(
      true, "window_fetched_bytes", "bytes that came from the brokers for these questions"),
  IMAGES(false, "images", "images known, in memory or by their place in the topic"),
  IMAGES_BYTES(false, "images_bytes", "bytes of the images topic's records held in memory"),
  IMAGES_READ_AGAIN(
      true, "images_read_again", "images read from the topic again after they left memory"),
  IMAGES_FORGOTTEN(
      true, "images_forgotten", "times that the place of an image in the topic was dropped"),
  IMAGES_SEARCHES(true, "images_searches", "times that the whole images topic was searched"),
  IMAGES_REFUSED(true, "images_refused", "records of the images topic that are not usable images"),

  MEMBER_INFO(false, "member_info", "always 1; names the group and the events topic"),
  MEMBERS(
      false, "members", "members of the group that run, by state: up, or unreachable from here"),
  STATE_HELD_BYTES(
      false,
      "state_held_bytes",
      "bytes that the states of this member's partitions hold in memory"),
  STATE_RESERVED_BYTES(
      false,
      "state_reserved_bytes",
      "bytes that they hold, or that running cores were promised and may still take"),
  STATE_MAX_BYTES(
      false,
      "state_max_bytes",
      "bytes that they may reserve; beyond it new cores and images are refused"),
  TOPIC_PARTITIONS(false, "topic_partitions", "partitions of the events topic"),
  PARTITION_OPEN(
      false, "partition_open", "1 if this member owns the partition and has its state, else 0"),
  PARTITIONS_UNANSWERED(
      false, "partitions_unanswered", "owned partitions that did not answer this scrape in time"),
  PARTITION_EPOCH(false, "partition_epoch", "how often the partition was taken over"),
  NEXT_OFFSET(false, "next_offset", "first offset of events that is not in the state"),
  LAG_CHUNKS(false, "lag_chunks", "Kafka records of events that are not in the state yet"),
  LAG_UNKNOWN(false, "lag_unknown", "1 if Kafka did not answer with the ends of events, else 0"),
  SKIPPED_OFFSETS(
      false, "skipped_offsets", "records that the topic lost before the partition read them"),
  INFLIGHT_CHUNKS(false, "inflight_chunks", "chunks in the partition's mailbox, not applied yet"),
  WAITING_FOR_IMAGE(
      false,
      "waiting_for_image",
      "chunks that wait for their image, part of the lag; other cores continue"),
  CHECKPOINT_AGE_SECONDS(
      false, "checkpoint_age_seconds", "time since the last checkpoint, or since the opening"),
  CHECKPOINT_PENDING_SECONDS(
      false,
      "checkpoint_pending_seconds",
      "time that the current checkpoint has taken so far, else 0"),
  CHECKPOINT_BEHIND_CHUNKS(
      false, "checkpoint_behind_chunks", "offsets in the state that no checkpoint holds yet"),
  CHECKPOINT_LAST_SECONDS(
      false, "checkpoint_last_seconds", "time that the last checkpoint took until its commit"),
  CHECKPOINT_BYTES(false, "checkpoint_bytes", "bytes that the last checkpoint wrote, unpacked"),
  CORES(
      false,
      "cores",
      "cores in the state, by how they ended; RUNNING if they did not, DEAD if their fleet is gone"),
  CORES_RESTING(
      false, "cores_resting", "of these, cores that left memory until their next chunk comes"),
  CORES_MAX(false, "cores_max", "cores that a partition may have; chunks of others are refused"),
  FORGOTTEN_SESSIONS(
      false, "forgotten_sessions", "sessions dropped from the state, silent for too long"),
  FORGOTTEN_CORES(false, "forgotten_cores", "cores of sessions dropped from the state"),
  FORGOTTEN_RECORDS(false, "forgotten_records", "trace records of sessions dropped from the state"),
  STATE_RECORDS(false, "state_records", "trace records in the state, since the job began"),
  STATE_LOST_RECORDS(
      false, "state_lost_records", "trace records known to be lost, since the job began"),
  STATE_UNTRACED_CALLS(
      false, "state_untraced_calls", "calls known to have made no records, since the job began"),
  STAT(false, "stat", "losses and defects in the state, by stat; since the job began");

  private static final String PREFIX = "retstack_";

  private final boolean counter;
  private final String noun;
  private final String sentence;

  Metric(boolean counter, String noun, String sentence) {
    this.counter = counter;
    this.noun = noun;
    this.sentence = sentence;
  }

  /** Whether it only grows. */
  public boolean isCounter() {
    return counter;
  }

  /** Its name in the exposition and in queries. */
  public String exposed() {
    return counter ? given() + "_total" : given();
  }

  /** What one unit of it is. */
  public String sentence() {
    return sentence;
  }

  /** The name that the library is given: it adds what a counter's name ends with. */
  String given() {
    return PREFIX + noun;
  }
}
