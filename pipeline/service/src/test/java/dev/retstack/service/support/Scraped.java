package dev.retstack.service.support;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A page in Prometheus' text format, read by a reader of its own. */
public final class Scraped {
  private static final Pattern LINE =
      Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\\{(.*)\\})? (\\S+)");
  private static final Pattern LABEL = Pattern.compile("([a-z_]+)=\"((?:[^\"\\\\]|\\\\.)*)\",?");

  private final Map<String, Map<Map<String, String>, Double>> samples = new LinkedHashMap<>();
  private final Map<String, String> types = new TreeMap<>();
  private final Set<String> helped = new TreeSet<>();

  /**
   * Reads a page.
   *
   * @throws IllegalArgumentException where a line is neither a comment nor a sample
   */
  public Scraped(String page) {
    for (String line : page.lines().toList()) {
      String[] words = line.split(" ", 4);
      if (line.startsWith("# HELP ")) {
        helped.add(words[2]);
      } else if (line.startsWith("# TYPE ")) {
        types.put(words[2], words[3]);
      } else if (!line.isBlank() && !line.startsWith("#")) {
        sample(line);
      }
    }
  }

  private void sample(String line) {
    Matcher parts = LINE.matcher(line);
    if (!parts.matches()) {
      throw new IllegalArgumentException("no sample: " + line);
    }
    Map<String, String> labels = new TreeMap<>();
    Matcher label = LABEL.matcher(parts.group(2) == null ? "" : parts.group(2));
    while (label.find()) {
      labels.put(label.group(1), label.group(2));
    }
    samples
        .computeIfAbsent(parts.group(1), _ -> new LinkedHashMap<>())
        .put(labels, Double.parseDouble(parts.group(3)));
  }

  /** Names of all samples. */
  public Set<String> names() {
    return samples.keySet();
  }

  /** Types by name. */
  public Map<String, String> types() {
    return types;
  }

  /** Names that have a sentence. */
  public Set<String> helped() {
    return helped;
  }

  /** Sum over the samples that have all of these labels: name, value, name, value, ... */
  public double sum(String name, String... labels) {
    Map<String, String> wanted = new TreeMap<>();
    for (int i = 0; i < labels.length; i += 2) {
      wanted.put(labels[i], labels[i + 1]);
    }
    return samples.getOrDefault(name, Map.of()).entrySet().stream()
        .filter(sample -> sample.getKey().entrySet().containsAll(wanted.entrySet()))
        .mapToDouble(Map.Entry::getValue)
        .sum();
  }
}
