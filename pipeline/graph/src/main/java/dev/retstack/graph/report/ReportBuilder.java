package dev.retstack.graph.report;

import dev.retstack.graph.aggregate.CallProfile;
import dev.retstack.graph.aggregate.CoreGraph;
import dev.retstack.graph.aggregate.GraphState;
import dev.retstack.graph.aggregate.ImageInfo;
import dev.retstack.graph.aggregate.StatCounts;
import dev.retstack.graph.aggregate.TimeRules;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.reconstruct.ClockUnit;
import dev.retstack.graph.reconstruct.Saturating;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Makes one report of one or several states, such as those of all partitions. A core lives in one
 * state only. The states are read, not changed, and must not change before {@link #build}; they
 * have one set of rules of time.
 */
public final class ReportBuilder {
  private final List<GraphState> states = new ArrayList<>();
  private TaskChoice choice = TaskChoice.ALL;

  /** Takes this state into the report. */
  public ReportBuilder add(GraphState state) {
    states.add(state);
    return this;
  }

  /** Functions and edges are those of these tasks alone; the states must add up by task. */
  public ReportBuilder only(TaskChoice tasks) {
    choice = tasks;
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
    long untraced = 0;
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
        lost = Saturating.sum(lost, core.progress().lost());
        untraced = Saturating.sum(untraced, core.stats().untraced());
        StateTotals.addStats(core, stats);
      }
    }
    ProfileRows rows = new ProfileRows();
    Map<String, ImageInfo> images = images();
    merged(unit, TaskChoice.ALL)
        .forEach((imageId, profile) -> text.profile(images.get(imageId), profile));
    merged(unit, choice).forEach((imageId, profile) -> rows.add(images.get(imageId), profile));
    text.stats(stats);
    return new Report(
        unit,
        records,
        lost,
        untraced,
        text.hash(),
        rows.functions(),
        rows.edges(),
        rows(stats),
        Collections.unmodifiableList(coreRows),
        systemCalls.rows(),
        rules(),
        choice,
        byTask(unit));
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
    return core.anomalies().rows().stream().map(row -> AnomalyRow.of(core, row));
  }

  /** What was found wrong in all cores, all of it, as it was asked for. */
  public List<AnomalySum> anomalies(AnomalySum.Query query) {
    return AnomalySum.of(cores(), query);
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

  private Map<String, CallProfile> merged(ClockUnit unit, TaskChoice tasks) {
    Map<String, CallProfile> merged = new TreeMap<>();
    for (GraphState state : states) {
      state.profiles(
          (key, profile) -> {
            if (key.unit() == unit) {
              into(merged, key.imageId()).merge(profile);
            }
          });
      for (CoreGraph core : state.cores()) {
        core.profiles()
            .forEach(
                (context, profile) -> {
                  if (core.unit() == unit && tasks.has(context, context.name(core.image()))) {
                    into(merged, core.image().id()).merge(profile);
                  }
                });
      }
    }
    return merged;
  }

  private static CallProfile into(Map<String, CallProfile> merged, String imageId) {
    return merged.computeIfAbsent(imageId, _ -> CallProfile.unlimited());
  }

  private List<ContextRow> byTask(ClockUnit unit) {
    List<ContextRow> rows = new ArrayList<>();
    for (CoreGraph core : cores()) {
      core.profiles()
          .forEach(
              (context, profile) -> {
                String name = context.name(core.image());
                if (core.unit() == unit && choice.has(context, name)) {
                  ProfileRows of = new ProfileRows().add(core.image(), profile);
                  rows.add(new ContextRow(context, name, unit, of.functions(), of.edges()));
                }
              });
    }
    return List.copyOf(rows);
  }

  /** Those that are not zero. */
  static List<StatRow> rows(StatCounts counts) {
    List<StatRow> rows = new ArrayList<>();
    for (Stat stat : Stat.values()) {
      if (counts.get(stat) > 0) {
        rows.add(new StatRow(stat, counts.get(stat)));
      }
    }
    return Collections.unmodifiableList(rows);
  }
}
