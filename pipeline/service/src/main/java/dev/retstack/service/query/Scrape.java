package dev.retstack.service.query;

import dev.retstack.answers.state.CoreProgress;
import dev.retstack.answers.state.Deaths;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.service.kafka.EndOffsets;
import dev.retstack.service.metrics.Meters;
import dev.retstack.service.metrics.Metric;
import dev.retstack.service.metrics.Samples;
import dev.retstack.service.nodes.FleetFeed;
import dev.retstack.service.partition.PartitionMeasure;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * Answers {@code /metrics}: the counters, and what partitions and Kafka report now. It always
 * answers: a partition or broker that does not is shown as a number.
 */
public final class Scrape {
  private final Queries queries;
  private final Meters meters;
  private final FleetFeed fleets;
  private final EndOffsets ends;
  private final PeerWatch watch;
  private final String group;
  private final String topic;
  private final StateBudget state;

  /**
   * A scrape of one member.
   *
   * @param watch which of the others it reaches
   * @param topic the events topic
   * @param state bytes that the states of its partitions may hold
   */
  public Scrape(
      Queries queries,
      Meters meters,
      FleetFeed fleets,
      EndOffsets ends,
      PeerWatch watch,
      String group,
      String topic,
      StateBudget state) {
    this.state = state;
    this.queries = queries;
    this.meters = meters;
    this.fleets = fleets;
    this.ends = ends;
    this.watch = watch;
    this.group = group;
    this.topic = topic;
  }

  /** What this member counts. */
  Meters meters() {
    return meters;
  }

  /** Everything, in Prometheus' text format. */
  CompletionStage<String> text() {
    return queries
        .measures()
        .thenCombine(
            ends.ask(), (measures, found) -> samples(measures, found).text(meters.samples()));
  }

  private Samples samples(
      Map<Integer, Optional<PartitionMeasure>> measures, Optional<Map<Integer, Long>> found) {
    Samples samples = new Samples();
    samples.set(Metric.MEMBER_INFO, 1, "group", group, "topic", topic);
    samples.set(Metric.STATE_HELD_BYTES, state.held());
    samples.set(Metric.STATE_RESERVED_BYTES, state.reserved());
    samples.set(Metric.STATE_MAX_BYTES, state.limit());
    samples.set(Metric.TOPIC_PARTITIONS, queries.partitionCount());
    samples.set(
        Metric.PARTITIONS_UNANSWERED, measures.values().stream().filter(Optional::isEmpty).count());
    samples.set(Metric.LAG_UNKNOWN, found.isPresent() ? 0 : 1);
    watch.counts().forEach((state, count) -> samples.set(Metric.MEMBERS, count, "state", state));
    measures.forEach(
        (_, measure) ->
            measure.ifPresent(m -> add(samples, m, found.map(all -> all.get(m.partition())))));
    return samples;
  }

  private void add(Samples samples, PartitionMeasure m, Optional<Long> topicEnd) {
    Deaths deaths = fleets.deaths();
    String p = String.valueOf(m.partition());
    samples.set(Metric.PARTITION_OPEN, m.open() ? 1 : 0, "partition", p);
    samples.set(Metric.INFLIGHT_CHUNKS, m.waiting(), "partition", p);
    samples.set(Metric.WAITING_FOR_IMAGE, m.images().chunks(), "partition", p);
    if (!m.open()) {
      return;
    }
    samples.set(Metric.PARTITION_EPOCH, m.epoch(), "partition", p);
    samples.set(Metric.NEXT_OFFSET, m.nextOffset(), "partition", p);
    topicEnd.ifPresent(
        offset ->
            samples.set(
                Metric.LAG_CHUNKS,
                Math.max(0, offset - m.nextOffset()) + m.images().chunks(),
                "partition",
                p));
    samples.set(Metric.SKIPPED_OFFSETS, m.skippedOffsets(), "partition", p);
    samples.set(Metric.CHECKPOINT_AGE_SECONDS, m.checkpointAge().toNanos() / 1e9, "partition", p);
    samples.set(
        Metric.CHECKPOINT_PENDING_SECONDS, m.checkpointPending().toNanos() / 1e9, "partition", p);
    samples.set(
        Metric.CHECKPOINT_BEHIND_CHUNKS, m.nextOffset() - m.checkpointedOffset(), "partition", p);
    samples.set(Metric.FORGOTTEN_SESSIONS, m.forgotten().sessions(), "partition", p);
    samples.set(Metric.FORGOTTEN_CORES, m.forgotten().cores(), "partition", p);
    samples.set(Metric.FORGOTTEN_RECORDS, m.forgotten().records(), "partition", p);
    samples.set(Metric.STATE_RECORDS, m.records(), "partition", p);
    samples.set(Metric.STATE_LOST_RECORDS, m.lost(), "partition", p);
    samples.set(Metric.STATE_UNTRACED_CALLS, m.untraced(), "partition", p);
    samples.set(Metric.CORES_RESTING, m.resting(), "partition", p);
    samples.set(Metric.CORES_MAX, m.coresMax(), "partition", p);
    long dead =
        m.running().entrySet().stream()
            .filter(e -> deaths.since(e.getKey(), m.partition(), m.nextOffset()).isPresent())
            .mapToLong(Map.Entry::getValue)
            .sum();
    samples.set(Metric.CORES, dead, "partition", p, "state", CoreProgress.DEAD);
    for (CoreEnd end : CoreEnd.values()) {
      long count = m.cores().getOrDefault(end, 0) - (end == CoreEnd.RUNNING ? dead : 0);
      samples.set(Metric.CORES, count, "partition", p, "state", end.name());
    }
    for (Stat stat : Stat.values()) {
      samples.set(
          Metric.STAT,
          m.stats().getOrDefault(stat, 0L),
          "partition",
          p,
          "stat",
          stat.name(),
          "severity",
          stat.severity().name(),
          "source",
          stat.source().name());
    }
  }
}
