package dev.retstack.answers.view;

import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import dev.retstack.answers.table.Units;
import dev.retstack.graph.check.Count;
import dev.retstack.graph.input.SessionNames;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.StatRow;
import dev.retstack.graph.top.CoreSum;
import dev.retstack.graph.top.Top;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** The first functions and cores of a job, its sums, and its stats that are not zero. */
public final class TopView {
  private record PartitionSum(int partition, long cores, long records, long lost) {}

  private static final Table<PartitionSum> PARTITIONS =
      new Table<PartitionSum>()
          .number("partition", PartitionSum::partition)
          .number("cores", PartitionSum::cores)
          .number("records", PartitionSum::records)
          .number("lost", PartitionSum::lost);

  private static final Table<StatRow> STATS =
      ReportView.STATS.unheaded().headed("STAT=name", "SEVERITY", "COUNT");

  private TopView() {}

  /**
   * The view of a job.
   *
   * @param states how a core ended, RUNNING or DEAD where it did not
   * @param coresMost rows of cores at most
   */
  public static Document of(
      Top top, Function<CoreSum, String> states, int coresMost, Coverage coverage) {
    List<CoreSum> first = top.cores().subList(0, Math.min(coresMost, top.cores().size()));
    SessionNames names = SessionNames.of(top.cores().stream().map(core -> core.key().session()));
    Table<CoreSum> cores = cores(states, names);
    Map<String, Integer> byState = byState(top, states);
    Document document = new Document();
    coverage.addTo(document);
    double complete = top.completeness(!coverage.complete());
    document.line(
        "%s, %s; cores %s; %s"
            .formatted(
                Count.of(top.records(), "record"),
                Units.complete(top.lost(), top.untraced(), complete),
                byState,
                Count.of(top.functionCount(), "function")));
    Units.others(top.units()).forEach(document::line);
    return Units.fields(top.units(), document.gap())
        .field("records", top.records())
        .field("lost", top.lost())
        .field("untraced", top.untraced())
        .field("completeness", complete)
        .field("cores", byState)
        .rows("byPartition", PARTITIONS, byPartition(top))
        .rows("topCores", cores, first)
        .text(cores, first)
        .gap()
        .field("functionCount", top.functionCount())
        .field("self", top.self())
        .table("functions", functions(top), top.functions())
        .rows("stats", ReportView.STATS, top.stats())
        .textIfAny(STATS, top.stats());
  }

  private static Table<CoreSum> cores(Function<CoreSum, String> states, SessionNames names) {
    return new Table<CoreSum>()
        .text("core", core -> core.key().core())
        .text("session", core -> core.key().session())
        .text("isa", CoreSum::isa)
        .number("partition", CoreSum::partition)
        .number("records", CoreSum::records)
        .number("lost", CoreSum::lost)
        .number("untraced", CoreSum::untraced)
        .text("end", states)
        .onlyText("coreName", core -> names.name(core.key()))
        .headed("CORE=coreName", "ISA", "PARTITION", "RECORDS", "LOST", "UNTRACED", "END");
  }

  private static Table<FunctionRow> functions(Top top) {
    Table<FunctionRow> table = ReportView.FUNCTIONS.unheaded();
    boolean apart = top.functions().stream().anyMatch(row -> !row.session().isEmpty());
    return (apart ? table.text("session", FunctionRow::session) : table)
        .onlyTextNumber(
            "share", row -> "%.1f".formatted(top.self() == 0 ? 0 : 100.0 * row.self() / top.self()))
        .headed("FUNCTION=name", "ISA=ofIsa", "CALLS", "TOTAL", "SELF", "SELF-%=share")
        .headed(apart ? new String[] {"SESSION"} : new String[0]);
  }

  private static List<PartitionSum> byPartition(Top top) {
    Map<Integer, PartitionSum> sums = new TreeMap<>();
    for (CoreSum core : top.cores()) {
      sums.merge(
          core.partition(),
          new PartitionSum(core.partition(), 1, core.records(), core.lost()),
          (a, b) ->
              new PartitionSum(
                  a.partition(),
                  a.cores() + b.cores(),
                  a.records() + b.records(),
                  a.lost() + b.lost()));
    }
    return List.copyOf(sums.values());
  }

  /** Counts of cores by state, running ones first, as the cores are ordered. */
  private static Map<String, Integer> byState(Top top, Function<CoreSum, String> states) {
    Map<String, Integer> counts = new LinkedHashMap<>();
    top.cores().stream()
        .sorted(Comparator.comparing(CoreSum::end))
        .forEach(core -> counts.merge(states.apply(core), 1, Integer::sum));
    return counts;
  }
}
