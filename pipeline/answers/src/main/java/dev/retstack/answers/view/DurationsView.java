package dev.retstack.answers.view;

import dev.retstack.answers.http.BadRequestException;
import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import dev.retstack.answers.table.Units;
import dev.retstack.graph.check.Count;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.report.UnitGroups;
import dev.retstack.schema.record.FunctionName;
import dev.retstack.schema.wire.NearNames;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * How long single calls took, as the totals count it: a histogram, and percentiles of it. A stretch
 * of durations is at most a sixteenth of its shortest one long, so the answer stays small, and a
 * percentile is at most that much too long; below 32 all is exact. Calls whose end is unknown are
 * left out.
 */
public final class DurationsView {
  /** Stretches of a power of two, as a power of two. */
  private static final int STEPS = 4;

  /** Names offered where there is no such function. */
  private static final int NEAR_MAX = 5;

  private static final int[] PERCENT = {50, 90, 95, 99};

  private static final Table<Stretch> TABLE =
      new Table<Stretch>()
          .number("from", Stretch::from)
          .number("to", Stretch::to)
          .number("calls", Stretch::calls)
          .headed("FROM", "TO", "CALLS");

  private final long[] counts = new long[(Long.SIZE - STEPS) << STEPS];
  private long calls;
  private long open;
  private long notKept;
  private long least = Long.MAX_VALUE;
  private long most;
  private double sum;

  /** Names of the called functions, where one was asked for: few objects, of many calls each. */
  private final Set<FunctionName> functions = Collections.newSetFromMap(new IdentityHashMap<>());

  /** Durations from the first to the last, both included. */
  private record Stretch(long from, long to, long calls) {}

  private DurationsView() {}

  /**
   * Durations of calls.
   *
   * @param asked the cores that count in this unit; where it is empty, in the one of most calls
   * @param function one of the names of the functions that are meant; empty for all
   * @param summed whether calls of several sessions are taken together
   * @param coverage of a job; empty for a trace
   * @throws BadRequestException where their cores are of several sessions that are not to be
   *     summed, or where that function was not called
   */
  public static Document of(
      List<CallTree> trees,
      Optional<ClockUnit> asked,
      String function,
      boolean summed,
      Optional<Coverage> coverage) {
    Set<String> sessions = new TreeSet<>();
    ReportBuilder.Trees.heads(trees).forEach(tree -> sessions.add(tree.session()));
    if (!summed && sessions.size() > 1) {
      throw new BadRequestException(
          409,
          "these calls are of %s, such as %s"
              .formatted(Count.of(sessions.size(), "session"), sessions.iterator().next()),
          "ask for one session, or for the sum of all");
    }
    Map<ClockUnit, DurationsView> views = new EnumMap<>(ClockUnit.class);
    Map<CoreKey, Long> counted = new HashMap<>();
    Map<CoreKey, ClockUnit> cores = new LinkedHashMap<>();
    for (CallTree tree : trees) {
      DurationsView of = views.computeIfAbsent(tree.unit(), _ -> new DurationsView());
      long before = of.all();
      of.add(tree, function);
      CoreKey core = new CoreKey(tree.session(), tree.core());
      cores.put(core, tree.unit());
      counted.merge(core, of.all() - before, Long::sum);
    }
    if (counted.values().stream().allMatch(calls -> calls == 0) && !function.isEmpty()) {
      throw unknown(trees, function);
    }
    UnitGroups groups = new UnitGroups();
    cores.forEach((core, unit) -> groups.add(unit, counted.get(core)));
    UnitGroups.Choice units = groups.choose(asked);
    DurationsView view = views.getOrDefault(units.unit(), new DurationsView());
    Document document = new Document();
    coverage.ifPresent(of -> of.addTo(document));
    return view.describe(units, function, document);
  }

  private static BadRequestException unknown(List<CallTree> trees, String function) {
    Set<String> shown = new TreeSet<>();
    Set<String> names = new TreeSet<>();
    for (CallTree tree : trees) {
      Deque<CallNode> todo = new ArrayDeque<>(tree.roots());
      while (!todo.isEmpty()) {
        CallNode call = todo.remove();
        if (call.isCall() && shown.add(call.function())) {
          names.add(call.function());
          names.addAll(call.names().others());
        }
        todo.addAll(call.children());
      }
    }
    List<String> near = NearNames.of(function, names, NEAR_MAX);
    return new BadRequestException(
        404,
        "no call of function %s".formatted(function),
        near.isEmpty()
            ? "there are calls of %s".formatted(Count.of(shown.size(), "function") + such(shown))
            : "did you mean %s?".formatted(String.join(", ", near)));
  }

  private static String such(Set<String> names) {
    return names.isEmpty()
        ? ""
        : ", such as " + names.stream().limit(NEAR_MAX).collect(Collectors.joining(", "));
  }

  private long all() {
    return calls + open + notKept;
  }

  private void add(CallTree tree, String function) {
    notKept += tree.notKept();
    Deque<CallNode> todo = new ArrayDeque<>(tree.roots());
    while (!todo.isEmpty()) {
      CallNode call = todo.remove();
      if (call.isCall() && (function.isEmpty() || call.names().is(function::equals))) {
        add(call);
        if (!function.isEmpty()) {
          functions.add(call.names());
        }
      }
      todo.addAll(call.children());
    }
  }

  private void add(CallNode call) {
    if (!call.ending().finished()) {
      open++;
      return;
    }
    long took = Math.max(0, call.took());
    counts[stretch(took)]++;
    calls++;
    sum += took;
    least = Math.min(least, took);
    most = Math.max(most, took);
  }

  static int stretch(long duration) {
    int shift = Math.max(0, Long.SIZE - 1 - Long.numberOfLeadingZeros(duration) - STEPS);
    return (shift << STEPS) + (int) (duration >>> shift);
  }

  static long first(int stretch) {
    int shift = Math.max(0, (stretch >> STEPS) - 1);
    return (long) (stretch - (shift << STEPS)) << shift;
  }

  /** What so much of the calls take at most; 0 where there is none. */
  private long percentile(int percent) {
    long rank = (long) Math.ceil(calls * percent / 100.0);
    long seen = 0;
    for (int i = 0; i < counts.length; i++) {
      seen += counts[i];
      if (seen >= rank) {
        return Math.min(most, first(i + 1) - 1);
      }
    }
    return most;
  }

  /** The function with the names that it has; as it was asked for if there are several. */
  private FunctionName function(String asked) {
    Map<String, FunctionName> byName = new HashMap<>();
    functions.forEach(one -> one.addTo(byName));
    return byName.size() == 1 ? byName.values().iterator().next() : new FunctionName(asked);
  }

  private void words(UnitGroups.Choice units, FunctionName function, Document document) {
    String of = function.shown().isEmpty() ? "" : " of " + function.text();
    document.line("# %s%s with a known end".formatted(Count.of(calls, "call"), of));
    if (calls > 0) {
      String percentiles =
          Arrays.stream(PERCENT)
              .mapToObj(percent -> "p%d %d".formatted(percent, percentile(percent)))
              .collect(Collectors.joining(", "));
      document.line(
          "# in %s: %d to %d, average %.1f, %s"
              .formatted(Units.name(units.unit()), least, most, sum / calls, percentiles));
    }
    Units.lines(units, document);
    if (open > 0) {
      document.line("# %s without one".formatted(Count.of(open, "call")));
    }
    if (notKept > 0) {
      document.line("# %s left out: the trees are full".formatted(Count.of(notKept, "later call")));
    }
  }

  private Document describe(UnitGroups.Choice units, String asked, Document document) {
    FunctionName function = function(asked);
    List<Stretch> stretches = new ArrayList<>();
    for (int i = 0; i < counts.length; i++) {
      if (counts[i] > 0) {
        stretches.add(new Stretch(first(i), first(i + 1) - 1, counts[i]));
      }
    }
    Units.fields(units, document.field("function", function.shown()))
        .field("calls", calls)
        .field("endUnknown", open)
        .field("notKept", notKept)
        .field("min", calls == 0 ? 0 : least)
        .field("max", most)
        .field("avg", calls == 0 ? 0 : sum / calls);
    for (int percent : PERCENT) {
      document.field("p" + percent, calls == 0 ? 0 : percentile(percent));
    }
    new OtherNames().add(function).addTo(document);
    words(units, function, document);
    return document.table("durations", TABLE, stretches);
  }
}
