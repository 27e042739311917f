package dev.retstack.cli.operator;

import dev.retstack.service.metrics.Metric;
import dev.retstack.service.metrics.Samples;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The names in a query, found by taking away everything else; and the names there are. */
final class PromQl {
  private static final Set<String> WORDS =
      Set.of(
          "by",
          "without",
          "and",
          "or",
          "unless",
          "on",
          "ignoring",
          "bool",
          "offset",
          "sum",
          "max",
          "min",
          "count",
          "avg",
          "topk",
          "rate",
          "increase",
          "delta",
          "deriv",
          "vector",
          "absent",
          "clamp_min");

  private static final Pattern TEXT = Pattern.compile("\"[^\"]*\"");
  private static final Pattern MATCHERS = Pattern.compile("\\{[^}]*}");
  private static final Pattern RANGE = Pattern.compile("\\[[^\\]]*]");
  private static final Pattern GROUPING =
      Pattern.compile("\\b(by|without|on|ignoring)\\s*\\([^)]*\\)");
  private static final Pattern NAME = Pattern.compile("\\b[a-zA-Z_:][a-zA-Z0-9_:]*\\b");

  private PromQl() {}

  /** Names of metrics in a query; a word that is neither one nor of the language is among them. */
  static Set<String> names(String query) {
    String bare = query;
    for (Pattern part : new Pattern[] {TEXT, MATCHERS, RANGE, GROUPING}) {
      bare = part.matcher(bare).replaceAll(" ");
    }
    Set<String> names = new TreeSet<>();
    Matcher name = NAME.matcher(bare);
    while (name.find()) {
      if (!WORDS.contains(name.group())) {
        names.add(name.group());
      }
    }
    return names;
  }

  /** Names that {@code /metrics} has, and the one that Prometheus makes of each target. */
  static Set<String> metrics() {
    Set<String> names =
        Arrays.stream(Metric.values())
            .map(Metric::exposed)
            .collect(Collectors.toCollection(TreeSet::new));
    new Samples()
        .text()
        .lines()
        .filter(line -> !line.startsWith("#"))
        .map(line -> line.split("[ {]", 2)[0])
        .forEach(names::add);
    names.add("up");
    return names;
  }
}
