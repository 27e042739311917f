package dev.retstack.graph.report;

import dev.retstack.graph.aggregate.AnomalyLog;
import dev.retstack.graph.aggregate.CallProfile;
import dev.retstack.graph.aggregate.CallTotals;
import dev.retstack.graph.aggregate.CoreGraph;
import dev.retstack.graph.aggregate.GraphState;
import dev.retstack.graph.aggregate.ImageInfo;
import dev.retstack.graph.aggregate.StatCounts;
import dev.retstack.graph.aggregate.TimeRules;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.reconstruct.ClockUnit;
import dev.retstack.graph.reconstruct.Ending;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Makes one report of one or several states, such as those of all partitions. A core lives in one
 * state only. The states are read, not changed, and must not change before {@link #build}; they
 * have one set of rules of time.
 */
public final class ReportBuilder {
  private final List<GraphState> states = new ArrayList<>();

  /** Takes this state into the report. */
  public ReportBuilder add(GraphState state) {
    states.add(state);
    return this;
  }

  /** Units in which the cores count. */
  public Set<ClockUnit> units() {
    Set<ClockUnit> units = EnumSet.noneOf(ClockUnit.class);
    for (CoreGraph core : cores()) {
      units.add(core.unit());
    }
    return units;
  }

  /**
   * The report over all cores; in instructions where there are none.
   *
   * @throws MixedUnitsException where they count in different units
   */
  public Report build() {
    Set<ClockUnit> units = units();
    if (units.size() > 1) {
      throw new MixedUnitsException(units);
    }
    return build(units.isEmpty() ? ClockUnit.INSTRUCTIONS : units.iterator().next());
  }

  /** The report over the cores that count in this unit. */
  public Report build(ClockUnit unit) {
    ResultText text = new ResultText(unit);
    StatCounts stats = new StatCounts();
    List<CoreRow> coreRows = new ArrayList<>();
    SystemCallRows systemCalls = new SystemCallRows();
    long records = 0;
    long lost = 0;
    for (GraphState state : states) {
      stats.add(state.stats());
    }
    for (CoreGraph core : cores()) {
      if (core.unit() == unit) {
        coreRows.add(CoreRow.of(core));
        systemCalls.add(core);
        text.core(core);
        text.contexts(coreRows.get(coreRows.size() - 1));
        records += core.progress().records();
        lost = lost + core.progress().lost() < 0 ? Long.MAX_VALUE : lost + core.progress().lost();
        stats.add(core.stats());
        stats.add(Stat.OPEN_CALLS, core.progress().open());
        long cut = core.progress().ended(Ending.TRUNCATED);
        stats.add(Stat.TRUNCATED_CALLS, cut - core.stats().get(Stat.TRUNCATED_CALLS));
      }
    }
    List<FunctionRow> functions = new ArrayList<>();
    List<EdgeRow> edges = new ArrayList<>();
    Map<String, ImageInfo> images = images();
    merged(unit)
        .forEach(
            (imageId, profile) -> {
              ImageInfo image = images.get(imageId);
              addFunctions(functions, image, profile);
              addEdges(edges, image, profile);
              text.profile(image, profile);
            });
    functions.sort(FUNCTION_ORDER);
    edges.sort(EDGE_ORDER);
    text.stats(stats);
    return new Report(
        unit,
        records,
        lost,
        text.hash(),
        Collections.unmodifiableList(functions),
        Collections.unmodifiableList(edges),
        rows(stats),
        Collections.unmodifiableList(coreRows),
        systemCalls.rows(),
        rules());
  }

  /** Call trees of all tasks of all cores, by core. */
  public List<CallTree> trees() {
    return cores().stream().flatMap(core -> CallTree.of(core).stream()).toList();
  }

  /** Anomalies of all cores, by core, in the order in which they were found. */
  public List<AnomalyRow> anomalies() {
    return cores().stream().flatMap(ReportBuilder::anomalies).toList();
  }

  private static Stream<AnomalyRow> anomalies(CoreGraph core) {
    AnomalyLog log = core.anomalies();
    return IntStream.range(0, log.rows().size())
        .mapToObj(
            i -> AnomalyRow.of(core.key(), core.image(), log.rows().get(i), log.leftOutAfter(i)));
  }

  private TimeRules rules() {
    return states.isEmpty() ? TimeRules.DEFAULT : states.getFirst().rules();
  }

  private List<CoreGraph> cores() {
    return states.stream()
        .flatMap(state -> state.cores().stream())
        .sorted(Comparator.comparing(CoreGraph::key))
        .toList();
  }

  private Map<String, ImageInfo> images() {
    Map<String, ImageInfo> images = new HashMap<>();
    states.forEach(state -> state.images().forEach(images::putIfAbsent));
    return images;
  }

  private Map<String, CallProfile> merged(ClockUnit unit) {
    Map<String, CallProfile> merged = new TreeMap<>();
    for (GraphState state : states) {
      state
          .profiles()
          .forEach(
              (key, profile) -> {
                if (key.unit() == unit) {
                  merged
                      .computeIfAbsent(key.imageId(), _ -> CallProfile.unlimited())
                      .merge(profile);
                }
              });
    }
    return merged;
  }

  private static final Comparator<FunctionRow> FUNCTION_ORDER =
      Comparator.comparingLong(FunctionRow::total)
          .reversed()
          .thenComparing(FunctionRow::name)
          .thenComparing(FunctionRow::imageId)
          .thenComparing(FunctionRow::selfPc, Long::compareUnsigned);

  private static final Comparator<EdgeRow> EDGE_ORDER =
      Comparator.comparingLong(EdgeRow::total)
          .reversed()
          .thenComparing(EdgeRow::caller)
          .thenComparing(EdgeRow::callee)
          .thenComparing(EdgeRow::imageId)
          .thenComparing(EdgeRow::callerPc, Long::compareUnsigned)
          .thenComparing(EdgeRow::calleePc, Long::compareUnsigned);

  private static void addFunctions(List<FunctionRow> rows, ImageInfo image, CallProfile profile) {
    CallTotals t = profile.functions();
    for (int i = 0; i < profile.functionCount(); i++) {
      if (t.calls(i) == 0) {
        continue; // a caller that has no call site of its own
      }
      long selfPc = profile.selfPc(i);
      rows.add(
          new FunctionRow(
              image.symbols().name(selfPc),
              image.symbols().start(selfPc),
              selfPc,
              image.name(),
              image.id(),
              image.isa(),
              t.calls(i),
              t.finished(i),
              t.total(i),
              t.sum(i),
              t.self(i),
              t.min(i),
              t.max(i)));
    }
  }

  private static void addEdges(List<EdgeRow> rows, ImageInfo image, CallProfile profile) {
    CallTotals t = profile.edges();
    for (int i = 0; i < profile.edgeCount(); i++) {
      long caller = profile.selfPc(profile.caller(i));
      long callee = profile.selfPc(profile.callee(i));
      rows.add(
          new EdgeRow(
              image.symbols().name(caller),
              image.symbols().name(callee),
              caller,
              callee,
              image.name(),
              image.id(),
              image.isa(),
              t.calls(i),
              t.finished(i),
              t.total(i),
              t.self(i),
              t.min(i),
              t.max(i)));
    }
  }

  private static List<StatRow> rows(StatCounts counts) {
    List<StatRow> rows = new ArrayList<>();
    for (Stat stat : Stat.values()) {
      if (counts.get(stat) > 0) {
        rows.add(new StatRow(stat, counts.get(stat)));
      }
    }
    return Collections.unmodifiableList(rows);
  }
}
