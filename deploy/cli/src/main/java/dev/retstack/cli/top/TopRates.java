package dev.retstack.cli.top;

import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Format;
import dev.retstack.answers.table.Table;
import dev.retstack.answers.table.Units;
import dev.retstack.graph.check.Count;
import dev.retstack.graph.input.SessionNames;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * What happened between two samples of a pipeline. It is a pure function of them: a rate is a
 * difference over the time between. A core or function that is missing in the first sample began at
 * 0 if that sample has all of them. Otherwise its rate is unknown, and 0 is shown.
 */
final class TopRates {
  /** Gaps and headings of the tables of members, cores and functions. */
  private static final int HEADINGS = 6;

  private record CoreRow(TopSample.CoreOf core, String name, double rate) {}

  private record FunctionRow(TopSample.FunctionOf function, double rate, double share) {}

  private record NodeRow(String node, int partitions, double rate, OptionalLong lag) {}

  private static final Table<TopSample.PartOf> MISSING =
      new Table<TopSample.PartOf>()
          .onlyJson("partition", TopSample.PartOf::partition)
          .onlyJson("missing", TopSample.PartOf::missing);

  private static final Table<NodeRow> NODES =
      new Table<NodeRow>()
          .text("node", NodeRow::node)
          .text("partitions", NodeRow::partitions)
          .text("recordsPerSecond", row -> shortened(row.rate()))
          .text("lag", NodeRow::lag)
          .onlyText("lagIfKnown", row -> row.lag().isPresent() ? row.lag() : "unknown")
          .headed("NODE", "PARTITIONS", "RECORDS/S=recordsPerSecond", "LAG=lagIfKnown");

  private static final Table<CoreRow> CORES =
      new Table<CoreRow>()
          .text("core", row -> row.core().core())
          .text("session", row -> row.core().session())
          .text("isa", row -> row.core().isa())
          .text("partition", row -> row.core().partition())
          .text(
              "records",
              row -> new Table.Shown(row.core().records(), si((double) row.core().records())))
          .text("recordsPerSecond", row -> shortened(row.rate()))
          .text("lost", row -> row.core().lost())
          .text("untraced", row -> row.core().untraced())
          .text("end", row -> row.core().end())
          .onlyText("coreName", CoreRow::name)
          .headed(
              "CORE=coreName",
              "ISA",
              "RECORDS/S=recordsPerSecond",
              "RECORDS",
              "LOST",
              "UNTRACED",
              "END");

  private static final Table<FunctionRow> FUNCTIONS =
      new Table<FunctionRow>()
          .text("name", row -> row.function().name())
          .text("isa", row -> row.function().isa().isEmpty() ? null : row.function().isa())
          .text("isas", row -> row.function().isas())
          .text("images", row -> row.function().images())
          .text(
              "calls",
              row -> new Table.Shown(row.function().calls(), si((double) row.function().calls())))
          .text("callsPerSecond", row -> shortened(row.rate()))
          .text("selfPercent", row -> new Table.Shown(row.share(), Units.rounded(row.share(), 1)))
          .onlyText("ofIsa", TopRates::isa)
          .headed(
              "FUNCTION=name",
              "ISA=ofIsa",
              "IMAGES",
              "CALLS/S=callsPerSecond",
              "CALLS",
              "SELF-%=selfPercent");

  private static final Table<Map.Entry<String, Long>> STATS =
      new Table<Map.Entry<String, Long>>()
          .text("LOSS OR DEFECT", Map.Entry::getKey)
          .text("count", Map.Entry::getValue);

  private final TopSample now;
  private final List<NodeRow> nodes = new ArrayList<>();
  private final List<CoreRow> cores;
  private final List<FunctionRow> functions;
  private final double rate;
  private final OptionalLong lag;

  /**
   * A view.
   *
   * @param sort {@code calls}: functions that are called most now come first; {@code self} or
   *     {@code total}: those with most of that time so far
   */
  TopRates(TopSample before, TopSample now, String sort) {
    this.now = now;
    double seconds = Math.max(1e-3, (now.nanos() - before.nanos()) / 1e9);
    SessionNames names =
        SessionNames.of(now.cores().values().stream().map(TopSample.CoreOf::session));
    List<CoreRow> all = new ArrayList<>();
    now.cores()
        .forEach(
            (key, core) -> {
              TopSample.CoreOf former = before.cores().get(key);
              long then = former == null ? before.recordsOfOthers(core) : former.records();
              long since = core.records() - then;
              // a partition that moved is for a moment behind where it was
              String name = names.name(core.core(), core.session());
              all.add(new CoreRow(core, name, Math.max(0, since) / seconds));
            });
    Map<Integer, Double> rates = rates(before, seconds);
    this.rate = rates.values().stream().mapToDouble(Double::doubleValue).sum();
    this.lag = lag(now.parts());
    for (String node : now.nodes()) {
      nodes.add(row(node, rates));
    }
    this.cores = first(all, CoreRow::rate, Comparator.comparing(row -> row.core().core()));
    this.functions = functions(before, seconds, sort);
  }

  /** Lag of these partitions; empty where it is unknown for one of them. */
  private static OptionalLong lag(Collection<TopSample.PartOf> parts) {
    return parts.stream().allMatch(part -> part.lag().isPresent())
        ? OptionalLong.of(parts.stream().mapToLong(part -> part.lag().getAsLong()).sum())
        : OptionalLong.empty();
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
    return new NodeRow(node, own.size(), sum, lag(own.values()));
  }

  private List<FunctionRow> functions(TopSample before, double seconds, String sort) {
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
    return first(all, most, quiet);
  }

  private static <T> List<T> first(List<T> all, ToDoubleFunction<T> most, Comparator<T> then) {
    return all.stream()
        .sorted(Comparator.comparingDouble(most).reversed().thenComparing(then))
        .toList();
  }

  private static <T> List<T> first(List<T> rows, int most) {
    return rows.subList(0, Math.min(rows.size(), Math.max(1, most)));
  }

  private List<TopSample.PartOf> missing() {
    return now.parts().stream().filter(part -> !part.missing().isEmpty()).toList();
  }

  /**
   * As much of the text as a window has room for: first there are fewer members, then fewer cores
   * and functions.
   *
   * @param most rows of cores and of functions
   */
  List<String> lines(int most, Screen.Size size) {
    int room = Math.max(1, size.rows() - 1);
    int shownNodes = Math.max(1, Math.min(nodes.size(), room / 4));
    List<String> head = Screen.wrap(head(), size.columns());
    int stats = now.stats().isEmpty() ? 0 : now.stats().size() + 2;
    int others = head.size() + missing().size() + shownNodes + (shownNodes < nodes.size() ? 1 : 0);
    int left = room - others - stats - HEADINGS;
    int shownFunctions = Math.min(functions.size(), most);
    int shownCores = Math.min(cores.size(), most);
    shownFunctions = Math.min(shownFunctions, Math.max(left / 2, left - shownCores));
    shownCores = Math.min(shownCores, left - shownFunctions);
    Document document = new Document();
    head.forEach(document::line);
    tables(first(nodes, shownNodes), shownCores, shownFunctions, document);
    return document.as(Format.TEXT).lines().toList();
  }

  /**
   * What is shown: an object for programs, tables for people.
   *
   * @param most rows of cores and of functions
   */
  Document document(int most) {
    TopSample.Sums sums = now.sums();
    Document document = new Document().indented();
    Units.fields(now.units(), document)
        .field("partitions", now.parts().size())
        .rows("missing", MISSING, missing())
        .field("coresRunning", sums.running())
        .field("cores", sums.cores())
        .field("records", sums.records())
        .field("recordsPerSecond", rate)
        .field("lost", sums.lost())
        .field("untraced", sums.untraced())
        .field("lag", lag.isPresent() ? lag.getAsLong() : null) // not known
        .field("completeness", sums.completeness())
        .rows("nodes", NODES, nodes)
        .rows("topCores", CORES, first(cores, most))
        .rows("topFunctions", functionTable(), first(functions, most))
        .field("stats", now.stats())
        .line(String.join(", ", head()));
    tables(nodes, most, most, document);
    return document;
  }

  private void tables(List<NodeRow> members, int coresMost, int functionsMost, Document document) {
    for (TopSample.PartOf part : missing()) {
      document.line("partition %d is missing: %s".formatted(part.partition(), part.missing()));
    }
    document.gap().text(NODES, members);
    if (members.size() < nodes.size()) {
      document.line("and %d more".formatted(nodes.size() - members.size()));
    }
    document
        .gap()
        .text(CORES, first(cores, coresMost))
        .gap()
        .text(functionTable(), first(functions, functionsMost))
        .textIfAny(STATS, List.copyOf(now.stats().entrySet()));
  }

  private Table<FunctionRow> functionTable() {
    return functions.stream().anyMatch(row -> !row.function().session().isEmpty())
        ? FUNCTIONS.last("session", row -> row.function().session())
        : FUNCTIONS;
  }

  private List<String> head() {
    int all = now.parts().size();
    List<String> head = new ArrayList<>();
    Collections.addAll(
        head,
        Count.of(now.nodes().size(), "node"),
        "%d of %s".formatted(all - missing().size(), Count.of(all, "partition")),
        "%d of %s run".formatted(now.sums().running(), Count.of(now.sums().cores(), "core")),
        si(rate) + " records/s",
        "lag " + (lag.isPresent() ? Count.of(lag.getAsLong(), "chunk") : "unknown"),
        Units.complete(now.sums().lost(), now.sums().untraced(), now.sums().completeness()));
    head.addAll(Units.others(now.units()));
    return head;
  }

  private static String isa(FunctionRow row) {
    TopSample.FunctionOf function = row.function();
    return function.isa().isEmpty() ? Count.of(function.isas(), "ISA") : function.isa();
  }

  private static Table.Shown shortened(double number) {
    return new Table.Shown(number, si(number));
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
