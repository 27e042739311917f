package dev.retstack.service.metrics;

import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What happened to one partition since this process began, even if it left and came back. Counted
 * at most a few times for each chunk, never for each record.
 */
public final class PartitionMeter {
  private static final double NANOS = 1e9;
  private final Samples samples;
  private final String partition;
  private final CounterDataPoint received;
  private final CounterDataPoint receivedBytes;
  private final CounterDataPoint applied;
  private final CounterDataPoint appliedRecords;
  private final CounterDataPoint stale;
  private final CounterDataPoint refused;
  private final CounterDataPoint failures;
  private final CounterDataPoint checkpoints;
  private final CounterDataPoint checkpointSeconds;
  private final CounterDataPoint stallSeconds;
  private final CounterDataPoint cpuSeconds;
  private final CounterDataPoint sentBytes;
  private final Map<String, CounterDataPoint> published = new ConcurrentHashMap<>();

  PartitionMeter(Samples samples, int partition) {
    this.samples = samples;
    this.partition = String.valueOf(partition);
    this.received = counter(Metric.RECEIVED_CHUNKS);
    this.receivedBytes = counter(Metric.RECEIVED_BYTES);
    this.applied = finished("applied");
    this.appliedRecords = counter(Metric.APPLIED_RECORDS);
    this.stale = finished("stale");
    this.refused = finished("refused");
    this.failures = counter(Metric.PARTITION_FAILURES);
    this.checkpoints = counter(Metric.CHECKPOINTS);
    this.checkpointSeconds = counter(Metric.CHECKPOINT_SECONDS);
    this.stallSeconds = counter(Metric.CHECKPOINT_STALL_SECONDS);
    this.cpuSeconds = counter(Metric.CHECKPOINT_CPU_SECONDS);
    this.sentBytes = counter(Metric.CHECKPOINT_SENT_BYTES);
    checkpointMade(0);
    samples.set(Metric.CHECKPOINT_LAST_SECONDS, 0, "partition", this.partition);
  }

  private CounterDataPoint counter(Metric metric) {
    return samples.counter(metric, "partition", partition);
  }

  private CounterDataPoint finished(String outcome) {
    return samples.counter(Metric.CHUNKS, "partition", partition, "outcome", outcome);
  }

  /** A Kafka record came. */
  public void received(long bytes) {
    received.inc();
    receivedBytes.inc(Math.max(0, bytes));
  }

  /** A chunk is in the state. */
  public void applied(long records) {
    applied.inc();
    appliedRecords.inc(records);
  }

  /** A chunk was in the state already. */
  public void stale() {
    stale.inc();
  }

  /** A chunk goes to dead letters. */
  public void refused() {
    refused.inc();
  }

  /** The partition gave up. */
  public void failed() {
    failures.inc();
  }

  /** Records go to a published topic, named by its noun. */
  public void published(String noun, long records) {
    published
        .computeIfAbsent(
            noun,
            n -> samples.counter(Metric.PUBLISHED_RECORDS, "partition", partition, "topic", n))
        .inc(records);
  }

  /** An anomaly of this kind goes to its topic. */
  public void anomaly(String kind) {
    samples.counter(Metric.ANOMALIES, "partition", partition, "kind", kind).inc();
  }

  /** Notes a checkpoint of this many bytes of state. */
  public void checkpointMade(long bytes) {
    samples.set(Metric.CHECKPOINT_BYTES, bytes, "partition", partition);
  }

  /**
   * The partition stood still to write its state down, and continues now.
   *
   * @param start when that began, by {@link System#nanoTime}
   */
  public void stalledSince(long start) {
    stallSeconds.inc((System.nanoTime() - start) / NANOS);
  }

  /** Adds the CPU time of a checkpoint and the bytes that it sent to Kafka. */
  public void checkpointCost(long nanos, long sent) {
    cpuSeconds.inc(nanos / NANOS);
    sentBytes.inc(sent);
  }

  /** What was counted of these, since the process began. */
  Meters.Sums sums() {
    return new Meters.Sums((long) appliedRecords.get(), (long) sentBytes.get(), cpuSeconds.get());
  }

  /** A checkpoint is committed. */
  public void checkpointWritten(long nanos) {
    checkpoints.inc();
    checkpointSeconds.inc(nanos / NANOS);
    samples.set(Metric.CHECKPOINT_LAST_SECONDS, nanos / NANOS, "partition", partition);
  }
}
