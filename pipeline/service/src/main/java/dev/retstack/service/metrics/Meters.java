package dev.retstack.service.metrics;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** All that one member counts while it runs. Safe for use by several threads. */
public final class Meters {
  private record Request(String path, int status) {}

  private final Map<Integer, PartitionMeter> partitions = new ConcurrentHashMap<>();
  private final Map<Request, LongAdder> requests = new ConcurrentHashMap<>();
  private final AtomicInteger queries = new AtomicInteger();
  private final ImageMeter images = new ImageMeter();

  /** The counts of a partition, kept while it is elsewhere. */
  public PartitionMeter partition(int partition) {
    return partitions.computeIfAbsent(partition, _ -> new PartitionMeter());
  }

  /** What is known of images. */
  public ImageMeter images() {
    return images;
  }

  /**
   * An HTTP request was answered.
   *
   * @param path one of a few: never a text that a client may choose
   */
  public void answered(String path, int status) {
    requests.computeIfAbsent(new Request(path, status), _ -> new LongAdder()).increment();
  }

  /** Queries being answered now; whoever answers them counts. */
  public AtomicInteger queries() {
    return queries;
  }

  /** Adds everything counted here. */
  public void addTo(Samples samples) {
    new TreeMap<>(partitions)
        .forEach((partition, meter) -> meter.addTo(samples, String.valueOf(partition)));
    requests.forEach(
        (request, count) ->
            samples.add(
                Metric.HTTP_REQUESTS,
                count.sum(),
                "path",
                request.path(),
                "status",
                String.valueOf(request.status())));
    samples.add(Metric.HTTP_QUERIES, queries.get());
    images.addTo(samples);
  }
}
