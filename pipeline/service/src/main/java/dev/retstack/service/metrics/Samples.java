package dev.retstack.service.metrics;

import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.instrumentation.jvm.JvmGarbageCollectorMetrics;
import io.prometheus.metrics.instrumentation.jvm.JvmMemoryMetrics;
import io.prometheus.metrics.instrumentation.jvm.JvmThreadsMetrics;
import io.prometheus.metrics.instrumentation.jvm.ProcessMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The numbers of one scrape. Metrics without a sample are left out. */
public final class Samples {
  /** Content type of {@link #text}. */
  public static final String CONTENT_TYPE = PrometheusTextFormatWriter.CONTENT_TYPE;

  private static final PrometheusRegistry JVM = jvm();

  private record Sample(Labels labels, double value) {}

  private final Map<Metric, List<Sample>> samples = new EnumMap<>(Metric.class);

  /**
   * Adds a number.
   *
   * @param labels name, value, name, value, ...
   */
  public void add(Metric metric, double value, String... labels) {
    samples
        .computeIfAbsent(metric, _ -> new ArrayList<>())
        .add(new Sample(Labels.of(labels), value));
  }

  /** Adds a whole number; exact up to 2^53, as all numbers of Prometheus are. */
  public void add(Metric metric, long value, String... labels) {
    add(metric, (double) value, labels);
  }

  /** All numbers, and those of the JVM, in Prometheus' text format 0.0.4. */
  public String text() {
    List<MetricSnapshot> all = new ArrayList<>();
    samples.forEach((metric, points) -> all.add(snapshot(metric, points)));
    JVM.scrape().forEach(all::add);
    ByteArrayOutputStream out = new ByteArrayOutputStream(1 << 14);
    try {
      PrometheusTextFormatWriter.create().write(out, new MetricSnapshots(all));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot happen in memory", e);
    }
    return out.toString(StandardCharsets.UTF_8);
  }

  private static MetricSnapshot snapshot(Metric metric, List<Sample> points) {
    if (metric.isCounter()) {
      CounterSnapshot.Builder counter =
          CounterSnapshot.builder().name(metric.given()).help(metric.sentence());
      points.forEach(
          point ->
              counter.dataPoint(
                  CounterSnapshot.CounterDataPointSnapshot.builder()
                      .labels(point.labels())
                      .value(point.value())
                      .build()));
      return counter.build();
    }
    GaugeSnapshot.Builder gauge =
        GaugeSnapshot.builder().name(metric.given()).help(metric.sentence());
    points.forEach(
        point ->
            gauge.dataPoint(
                GaugeSnapshot.GaugeDataPointSnapshot.builder()
                    .labels(point.labels())
                    .value(point.value())
                    .build()));
    return gauge.build();
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
