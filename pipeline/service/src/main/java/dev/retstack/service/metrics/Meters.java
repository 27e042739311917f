package dev.retstack.service.metrics;

import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** All that one member counts while it runs. Safe for use by several threads. */
public final class Meters {
  private final Samples samples = new Samples();
  private final Map<Integer, PartitionMeter> partitions = new ConcurrentHashMap<>();
  private final AtomicInteger queries = new AtomicInteger();

  /** Nothing is counted yet. */
  public Meters() {
    var _ = samples.counter(Metric.IMAGES_READ_AGAIN);
    var _ = samples.counter(Metric.IMAGES_SEARCHES);
    var _ = samples.counter(Metric.IMAGES_REFUSED);
    var _ = samples.counter(Metric.WINDOWS);
    var _ = samples.counter(Metric.WINDOW_FETCHED_BYTES);
    imagesHeld(0, 0, 0);
  }

  /** The counts of a partition, kept while it is elsewhere. */
  public PartitionMeter partition(int partition) {
    return partitions.computeIfAbsent(partition, p -> new PartitionMeter(samples, p));
  }

  /**
   * Counts of all partitions together; they never go back.
   *
   * @param appliedRecords trace records in the chunks applied
   * @param checkpointSentBytes bytes of checkpoints that were sent to Kafka
   * @param checkpointCpuSeconds seconds of a processor for checkpoints
   */
  public record Sums(long appliedRecords, long checkpointSentBytes, double checkpointCpuSeconds) {
    private Sums plus(Sums other) {
      return new Sums(
          appliedRecords + other.appliedRecords,
          checkpointSentBytes + other.checkpointSentBytes,
          checkpointCpuSeconds + other.checkpointCpuSeconds);
    }
  }

  /** What all partitions that were ever here counted so far. */
  public Sums sums() {
    return partitions.values().stream()
        .map(PartitionMeter::sums)
        .reduce(new Sums(0, 0, 0), Sums::plus);
  }

  /** Increments a counter without labels. */
  public void count(Metric metric) {
    samples.counter(metric).inc();
  }

  /**
   * Sets what the registry of images holds; for one thread at a time.
   *
   * @param images whose place is known
   * @param bytes of them in memory
   * @param forgotten how often a place was forgotten so far
   */
  public void imagesHeld(long images, long bytes, long forgotten) {
    samples.set(Metric.IMAGES, images);
    samples.set(Metric.IMAGES_BYTES, bytes);
    CounterDataPoint before = samples.counter(Metric.IMAGES_FORGOTTEN);
    before.inc(forgotten - (long) before.get());
  }

  /** Counts a question about a time that was read from the log, and the bytes it fetched. */
  public void windowRead(long bytes) {
    samples.counter(Metric.WINDOWS).inc();
    samples.counter(Metric.WINDOW_FETCHED_BYTES).inc(bytes);
  }

  /**
   * An HTTP request was answered.
   *
   * @param path one of a few: never a text that a client may choose
   */
  public void answered(String path, int status) {
    samples.counter(Metric.HTTP_REQUESTS, "path", path, "status", String.valueOf(status)).inc();
  }

  /** Queries that are being answered now. */
  public AtomicInteger queries() {
    return queries;
  }

  /** Everything that was counted so far. */
  public Samples samples() {
    samples.set(Metric.HTTP_QUERIES, queries.get());
    return samples;
  }
}
