package dev.retstack.service.metrics;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * What happened to one partition since this process began, however often the partition came and
 * went. Counted once per chunk or more rarely, never per record. Written by the partition's actor,
 * read by scrapes.
 */
public final class PartitionMeter {
  private static final double NANOS = 1e9;

  private final LongAdder received = new LongAdder();
  private final LongAdder receivedBytes = new LongAdder();
  private final LongAdder applied = new LongAdder();
  private final LongAdder appliedRecords = new LongAdder();
  private final LongAdder stale = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private final LongAdder failures = new LongAdder();
  private final LongAdder checkpoints = new LongAdder();
  private final LongAdder checkpointNanos = new LongAdder();
  private final LongAdder checkpointStallNanos = new LongAdder();
  private final LongAdder checkpointCpuNanos = new LongAdder();
  private final LongAdder checkpointSentBytes = new LongAdder();
  private final Map<String, LongAdder> published = new ConcurrentHashMap<>();
  private final Map<String, LongAdder> anomalies = new ConcurrentHashMap<>();
  private volatile long lastCheckpointNanos;
  private volatile long lastCheckpointBytes;

  /** A Kafka record came. */
  public void received(long bytes) {
    received.increment();
    receivedBytes.add(Math.max(0, bytes));
  }

  /** A chunk is in the state. */
  public void applied(long records) {
    applied.increment();
    appliedRecords.add(records);
  }

  /** A chunk was in the state already. */
  public void stale() {
    stale.increment();
  }

  /** A chunk goes to dead letters. */
  public void refused() {
    refused.increment();
  }

  /** The partition gave up. */
  public void failed() {
    failures.increment();
  }

  /** Records go to a published topic, named by its noun. */
  public void published(String noun, long records) {
    published.computeIfAbsent(noun, _ -> new LongAdder()).add(records);
  }

  /** An anomaly of this kind goes to its topic. */
  public void anomaly(String kind) {
    anomalies.computeIfAbsent(kind, _ -> new LongAdder()).increment();
  }

  /** A checkpoint was made, of so many bytes of state. */
  public void checkpointMade(long bytes) {
    lastCheckpointBytes = bytes;
  }

  /**
   * The partition stood still to write its state down, and goes on now.
   *
   * @param start when that began, by {@link System#nanoTime}
   * @return how long it took
   */
  public long stalledSince(long start) {
    long nanos = System.nanoTime() - start;
    checkpointStallNanos.add(nanos);
    return nanos;
  }

  /** A checkpoint took so many nanoseconds of a processor, and so many bytes of Kafka. */
  public void checkpointCost(long nanos, long sentBytes) {
    checkpointCpuNanos.add(nanos);
    checkpointSentBytes.add(sentBytes);
  }

  /** A checkpoint is committed. */
  public void checkpointWritten(long nanos) {
    checkpoints.increment();
    checkpointNanos.add(nanos);
    lastCheckpointNanos = nanos;
  }

  void addTo(Samples samples, String partition) {
    samples.add(Metric.RECEIVED_CHUNKS, received.sum(), "partition", partition);
    samples.add(Metric.RECEIVED_BYTES, receivedBytes.sum(), "partition", partition);
    samples.add(Metric.CHUNKS, applied.sum(), "partition", partition, "outcome", "applied");
    samples.add(Metric.CHUNKS, stale.sum(), "partition", partition, "outcome", "stale");
    samples.add(Metric.CHUNKS, refused.sum(), "partition", partition, "outcome", "refused");
    samples.add(Metric.APPLIED_RECORDS, appliedRecords.sum(), "partition", partition);
    new TreeMap<>(published)
        .forEach(
            (noun, count) ->
                samples.add(
                    Metric.PUBLISHED_RECORDS, count.sum(), "partition", partition, "topic", noun));
    new TreeMap<>(anomalies)
        .forEach(
            (kind, count) ->
                samples.add(Metric.ANOMALIES, count.sum(), "partition", partition, "kind", kind));
    samples.add(Metric.PARTITION_FAILURES, failures.sum(), "partition", partition);
    samples.add(Metric.CHECKPOINTS, checkpoints.sum(), "partition", partition);
    samples.add(Metric.CHECKPOINT_SECONDS, checkpointNanos.sum() / NANOS, "partition", partition);
    samples.add(
        Metric.CHECKPOINT_STALL_SECONDS,
        checkpointStallNanos.sum() / NANOS,
        "partition",
        partition);
    samples.add(
        Metric.CHECKPOINT_CPU_SECONDS, checkpointCpuNanos.sum() / NANOS, "partition", partition);
    samples.add(Metric.CHECKPOINT_SENT_BYTES, checkpointSentBytes.sum(), "partition", partition);
    samples.add(
        Metric.CHECKPOINT_LAST_SECONDS, lastCheckpointNanos / NANOS, "partition", partition);
    samples.add(Metric.CHECKPOINT_BYTES, lastCheckpointBytes, "partition", partition);
  }
}
