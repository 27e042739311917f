package dev.retstack.cli.top;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.retstack.cli.option.Tables;
import dev.retstack.service.table.Units;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * What goes on between two samples of a pipeline. A pure function of them: rates are differences
 * over the time between. A core or function that is not in the first began at 0 where that one has
 * all; else nothing is known of its rate, and 0 is shown.
 */
final class TopView {
  private record CoreRow(TopSample.CoreOf core, double rate) {}

  private record FunctionRow(TopSample.FunctionOf function, double rate, double share) {}

  private record NodeRow(String node, int partitions, double rate, long lag) {}

  private final TopSample now;
  private final List<NodeRow> nodes = new ArrayList<>();
  private final List<CoreRow> cores;
  private final List<FunctionRow> functions;
  private final double rate;
  private final long lag;

  /**
   * A view.
   *
   * @param sort {@code calls}: functions that are called most now are shown; {@code self} or {@code
   *     total}: those with most of that time so far
   * @param rows most rows of cores and of functions
   */
  TopView(TopSample before, TopSample now, String sort, int rows) {
    this.now = now;
    double seconds = Math.max(1e-3, (now.nanos() - before.nanos()) / 1e9);
    List<CoreRow> all = new ArrayList<>();
    now.cores()
        .forEach(
            (key, core) -> {
              TopSample.CoreOf former = before.cores().get(key);
              long then = former == null ? before.recordsOfOthers(core) : former.records();
              long since = core.records() - then;
              // a partition that moved is for a moment behind where it was
              all.add(new CoreRow(core, Math.max(0, since) / seconds));
            });
    Map<Integer, Double> rates = rates(before, seconds);
    this.rate = rates.values().stream().mapToDouble(Double::doubleValue).sum();
    this.lag = now.parts().stream().mapToLong(TopSample.PartOf::lag).sum();
    for (String node : now.nodes()) {
      nodes.add(row(node, rates));
    }
    this.cores = first(all, CoreRow::rate, Comparator.comparing(row -> row.core().core()), rows);
    this.functions = functions(before, seconds, sort, rows);
  }

  /** Records per second of each partition. */
  private Map<Integer, Double> rates(TopSample before, double seconds) {
    Map<Integer, Double> rates = new TreeMap<>();
    now.records()
        .forEach(
            (partition, records) ->
                rates.put(
                    partition,
                    Math.max(0, records - before.records().getOrDefault(partition, 0L)) / seconds));
    return rates;
  }

  private NodeRow row(String node, Map<Integer, Double> rates) {
    Map<Integer, TopSample.PartOf> own =
        now.parts().stream()
            .filter(part -> part.node().equals(node))
            .collect(Collectors.toMap(TopSample.PartOf::partition, part -> part));
    double sum =
        own.keySet().stream().mapToDouble(partition -> rates.getOrDefault(partition, 0.0)).sum();
    return new NodeRow(
        node, own.size(), sum, own.values().stream().mapToLong(TopSample.PartOf::lag).sum());
  }

  private List<FunctionRow> functions(TopSample before, double seconds, String sort, int rows) {
    long time = now.sums().self();
    List<FunctionRow> all = new ArrayList<>();
    now.functions()
        .forEach(
            (key, function) -> {
              TopSample.FunctionOf former = before.functions().get(key);
              long then = former == null ? before.callsOfOthers(function) : former.calls();
              long since = function.calls() - then;
              all.add(
                  new FunctionRow(
                      function,
                      Math.max(0, since) / seconds,
                      time == 0 ? 0 : 100.0 * function.self() / time));
            });
    Comparator<FunctionRow> quiet =
        Comparator.<FunctionRow>comparingDouble(row -> -row.share())
            .thenComparing(row -> row.function().name());
    ToDoubleFunction<FunctionRow> most =
        switch (sort) {
          case "total" -> row -> row.function().total();
          case "self" -> row -> row.function().self();
          default -> FunctionRow::rate;
        };
    return first(all, most, quiet, rows);
  }

  private static <T> List<T> first(
      List<T> all, ToDoubleFunction<T> most, Comparator<T> then, int rows) {
    return all.stream()
        .sorted(Comparator.comparingDouble(most).reversed().thenComparing(then))
        .limit(rows)
        .toList();
  }

  private List<TopSample.PartOf> missing() {
    return now.parts().stream().filter(part -> !part.missing().isEmpty()).toList();
  }

  /** For people. */
  void text(PrintStream out) {
    int all = now.parts().size();
    out.printf(
        Locale.ROOT,
        "%d nodes, %d of %d partitions, %d of %d cores run, %s records/s, lag %d chunks, %s%n",
        now.nodes().size(),
        all - missing().size(),
        all,
        now.sums().running(),
        now.sums().cores(),
        si(rate),
        lag,
        Units.complete(now.sums().lost(), now.sums().untraced(), now.sums().completeness()));
    missing()
        .forEach(
            part -> out.printf("partition %d is missing: %s%n", part.partition(), part.missing()));
    out.println();
    Tables.text(
        out,
        List.of("NODE", "PARTITIONS", "RECORDS/S", "LAG"),
        nodes.stream()
            .map(row -> List.of(row.node(), "" + row.partitions(), si(row.rate()), "" + row.lag()))
            .toList());
    out.println();
    Tables.text(
        out,
        List.of("CORE", "ISA", "RECORDS/S", "RECORDS", "LOST", "UNTRACED", "END"),
        cores.stream()
            .map(
                row ->
                    List.of(
                        row.core().core(),
                        row.core().isa(),
                        si(row.rate()),
                        si((double) row.core().records()),
                        "" + row.core().lost(),
                        "" + row.core().untraced(),
                        row.core().end()))
            .toList());
    out.println();
    Tables.text(
        out,
        List.of("FUNCTION", "ISA", "CALLS/S", "CALLS", "SELF-%"),
        functions.stream()
            .map(
                row ->
                    List.of(
                        row.function().name(),
                        row.function().isa(),
                        si(row.rate()),
                        si((double) row.function().calls()),
                        "%.1f".formatted(row.share())))
            .toList());
    if (!now.stats().isEmpty()) {
      out.println();
      Tables.text(
          out,
          List.of("LOSS OR DEFECT", "COUNT"),
          now.stats().entrySet().stream()
              .map(stat -> List.of(stat.getKey(), "" + stat.getValue()))
              .toList());
    }
  }

  /** For programs: one object. */
  ObjectNode json() {
    ObjectNode top = Tables.JSON.createObjectNode();
    top.put("partitions", now.parts().size());
    ArrayNode gone = top.putArray("missing");
    missing()
        .forEach(
            part ->
                gone.addObject().put("partition", part.partition()).put("missing", part.missing()));
    TopSample.Sums sums = now.sums();
    top.put("coresRunning", sums.running()).put("cores", sums.cores());
    top.put("records", sums.records()).put("recordsPerSecond", rate);
    top.put("lost", sums.lost()).put("untraced", sums.untraced());
    top.put("lag", lag).put("completeness", sums.completeness());
    ArrayNode nodeRows = top.putArray("nodes");
    nodes.forEach(
        row ->
            nodeRows
                .addObject()
                .put("node", row.node())
                .put("partitions", row.partitions())
                .put("recordsPerSecond", row.rate())
                .put("lag", row.lag()));
    ArrayNode coreRows = top.putArray("topCores");
    cores.forEach(
        row ->
            coreRows
                .addObject()
                .put("core", row.core().core())
                .put("session", row.core().session())
                .put("isa", row.core().isa())
                .put("partition", row.core().partition())
                .put("records", row.core().records())
                .put("recordsPerSecond", row.rate())
                .put("lost", row.core().lost())
                .put("untraced", row.core().untraced())
                .put("end", row.core().end()));
    ArrayNode functionRows = top.putArray("topFunctions");
    functions.forEach(
        row ->
            functionRows
                .addObject()
                .put("name", row.function().name())
                .put("isa", row.function().isa())
                .put("calls", row.function().calls())
                .put("callsPerSecond", row.rate())
                .put("selfPercent", row.share()));
    ObjectNode stats = top.putObject("stats");
    now.stats().forEach(stats::put);
    return top;
  }

  /** Three figures and a letter. */
  private static String si(double number) {
    String letters = " kMGT";
    int power = 0;
    double left = number;
    while (left >= 999.5 && power < letters.length() - 1) {
      left /= 1000;
      power++;
    }
    String digits =
        power == 0 || left >= 99.95
            ? "%.0f".formatted(left)
            : left >= 9.995 ? "%.1f".formatted(left) : "%.2f".formatted(left);
    return power == 0 ? digits : digits + " " + letters.charAt(power);
  }
}
