package dev.retstack.benchmarks.measure;

import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A page in Prometheus' text format, as one member gives it at {@code /metrics}. */
public final class MetricsPage {
  private static final Pattern SAMPLE =
      Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)(\\{.*\\})? (\\S+)( \\d+)?");

  private final Map<String, Double> bySample = new HashMap<>();
  private final Map<String, Double> sums = new HashMap<>();

  private MetricsPage() {}

  /** Reads a page; comments are passed over. */
  public static MetricsPage parse(String text) {
    MetricsPage page = new MetricsPage();
    for (String line : text.split("\n", -1)) {
      Matcher sample = SAMPLE.matcher(line);
      if (!line.startsWith("#") && sample.matches()) {
        double value = Double.parseDouble(sample.group(3));
        String labels = sample.group(2) == null ? "" : sample.group(2);
        page.bySample.put(sample.group(1) + labels, value);
        page.sums.merge(sample.group(1), value, Double::sum);
      }
    }
    return page;
  }

  /** Sum of all samples of this name; 0 where there is none. */
  public double sum(String name) {
    return sums.getOrDefault(name, 0.0);
  }

  /**
   * Value of a sample; 0 where the page does not have it.
   *
   * @param labels as they stand on the page, such as {@code area="heap"}
   */
  public double get(String name, String labels) {
    return bySample.getOrDefault(name + "{" + labels + "}", 0.0);
  }
}
