package dev.retstack.service.metrics;

import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.instrumentation.jvm.JvmGarbageCollectorMetrics;
import io.prometheus.metrics.instrumentation.jvm.JvmMemoryMetrics;
import io.prometheus.metrics.instrumentation.jvm.JvmThreadsMetrics;
import io.prometheus.metrics.instrumentation.jvm.ProcessMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

/**
 * Numbers under the names of {@link Metric}: what a member counts, or what one scrape finds. A
 * metric without a number is left out. Safe for use by several threads.
 */
public final class Samples {
  /** Content type of {@link #text}. */
  public static final String CONTENT_TYPE = PrometheusTextFormatWriter.CONTENT_TYPE;

  private static final PrometheusRegistry JVM = jvm();

  private final PrometheusRegistry registry = new PrometheusRegistry();
  private final Map<Metric, Counter> counters = new ConcurrentHashMap<>();
  private final Map<Metric, Gauge> gauges = new ConcurrentHashMap<>();

  /**
   * A counter, which is shown from now on.
   *
   * @param labels name, value, name, value, ...
   */
  public CounterDataPoint counter(Metric metric, String... labels) {
    return counters
        .computeIfAbsent(
            metric,
            m ->
                Counter.builder()
                    .name(m.given())
                    .help(m.sentence())
                    .labelNames(every2nd(labels, 0))
                    .register(registry))
        .labelValues(every2nd(labels, 1));
  }

  /** Sets a gauge to a whole number; exact up to 2^53, as all numbers of Prometheus are. */
  public void set(Metric metric, long value, String... labels) {
    set(metric, (double) value, labels);
  }

  /**
   * Sets a gauge.
   *
   * @param labels name, value, name, value, ...
   */
  public void set(Metric metric, double value, String... labels) {
    gauges
        .computeIfAbsent(
            metric,
            m ->
                Gauge.builder()
                    .name(m.given())
                    .help(m.sentence())
                    .labelNames(every2nd(labels, 0))
                    .register(registry))
        .labelValues(every2nd(labels, 1))
        .set(value);
  }

  private static String[] every2nd(String[] all, int from) {
    return IntStream.range(0, all.length / 2)
        .mapToObj(i -> all[2 * i + from])
        .toArray(String[]::new);
  }

  /** These and more numbers, and those of the JVM, in Prometheus' text format 0.0.4. */
  public String text(Samples... more) {
    List<MetricSnapshot> all = new ArrayList<>();
    registry.scrape().forEach(all::add);
    for (Samples one : more) {
      one.registry.scrape().forEach(all::add);
    }
    JVM.scrape().forEach(all::add);
    ByteArrayOutputStream out = new ByteArrayOutputStream(1 << 14);
    try {
      PrometheusTextFormatWriter.create().write(out, new MetricSnapshots(all));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot happen in memory", e);
    }
    return out.toString(StandardCharsets.UTF_8);
  }

  private static PrometheusRegistry jvm() {
    PrometheusRegistry registry = new PrometheusRegistry();
    JvmMemoryMetrics.builder().register(registry);
    JvmThreadsMetrics.builder().register(registry);
    JvmGarbageCollectorMetrics.builder().register(registry);
    ProcessMetrics.builder().register(registry);
    return registry;
  }
}
