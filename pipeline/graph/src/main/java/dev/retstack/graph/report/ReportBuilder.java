package dev.retstack.graph.report;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.calls.CoreSummary;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.check.StatCounts;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.input.OtherImages;
import dev.retstack.graph.input.SessionNames;
import dev.retstack.graph.limits.AnswerTooLargeException;
import dev.retstack.graph.limits.Saturating;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.totals.CallProfile;
import dev.retstack.graph.totals.TimeRules;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * Makes one report of one or several states, such as those of all partitions. A core lives in one
 * state only. The states are read, not changed, and must not change before {@link #build}. They
 * have one set of rules of time.
 */
public final class ReportBuilder {
  private final List<GraphState> states = new ArrayList<>();
  private TaskChoice choice = TaskChoice.ALL;
  private boolean sum;
  private Optional<ClockUnit> asked = Optional.empty();

  /** A builder with one state. */
  public static ReportBuilder of(GraphState state) {
    return new ReportBuilder().add(state);
  }

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

  /**
   * Whether the calls of several sessions are added up; where not, each session has rows that name
   * it. The hash of the result is that of all in both cases.
   */
  public ReportBuilder summed(boolean sessions) {
    sum = sessions;
    return this;
  }

  /** The report is of the cores that count in this unit; where it is empty, of the usual one. */
  public ReportBuilder in(Optional<ClockUnit> unit) {
    asked = unit;
    return this;
  }

  /** These cores by the unit in which they count, with their records. */
  public UnitGroups units(Predicate<CoreSummary> wanted) {
    UnitGroups groups = new UnitGroups();
    for (GraphState state : states) {
      state.summaries().stream()
          .filter(wanted)
          .forEach(core -> groups.add(core.unit(), core.records()));
    }
    return groups;
  }

  /** The report over the cores of one unit; others are counted, and in nothing else. */
  public Report build() {
    UnitGroups.Choice units = units(_ -> true).choose(asked);
    ClockUnit unit = units.unit();
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
    boolean apart = !sum && isOfSeveral(core -> core.unit() == unit);
    for (CoreGraph core : cores(known -> known.unit() == unit)) {
      coreRows.add(CoreRow.of(core, isCut()));
      systemCalls.add(apart ? core.key().session() : "", core);
      text.core(core);
      text.contexts(coreRows.get(coreRows.size() - 1));
      records += core.progress().records();
      lost = Saturating.sum(lost, core.progress().lost());
      untraced = Saturating.sum(untraced, core.stats().untraced());
      addStats(core.summary(), stats);
    }
    ProfileRows rows = new ProfileRows();
    Map<String, ImageInfo> images = images();
    merged(unit, TaskChoice.ALL, false)
        .forEach((part, profile) -> text.profile(images.get(part.imageId()), profile));
    merged(unit, choice, apart)
        .forEach((part, profile) -> rows.add(part.session(), images.get(part.imageId()), profile));
    text.stats(stats);
    return new Report(
        units,
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
        byTask(unit, apart),
        false);
  }

  /** Call trees of all tasks of all cores, by core. */
  public List<CallTree> trees() {
    List<CallTree> trees = new ArrayList<>();
    cores(_ -> true).forEach(core -> trees.addAll(CallTree.of(core)));
    return Collections.unmodifiableList(trees);
  }

  /**
   * Call trees of some tasks of some cores, by core, each made when it is its turn.
   *
   * @param wanted of the trees of these cores, by what stands over them
   * @param shown what is shown of a tree
   */
  public Trees trees(
      Predicate<CoreSummary> cores, Predicate<CallTree> wanted, UnaryOperator<CallTree> shown) {
    return new Trees(places(cores), wanted, shown);
  }

  /** Anomalies of one core, in the order in which they were found. */
  public List<AnomalyRow> anomalies(CoreKey key) {
    for (GraphState state : states) {
      Optional<CoreGraph> core = state.core(key);
      if (core.isPresent()) {
        return rows(core.get());
      }
    }
    return List.of();
  }

  /** Anomalies of all cores, by core, in the order in which they were found. */
  public List<AnomalyRow> anomalies() {
    List<AnomalyRow> rows = new ArrayList<>();
    for (CoreGraph core : cores(_ -> true)) {
      rows.addAll(rows(core));
    }
    return Collections.unmodifiableList(rows);
  }

  private static List<AnomalyRow> rows(CoreGraph core) {
    return core.anomalies().rows().stream().map(row -> AnomalyRow.of(core, row)).toList();
  }

  /** What was found wrong in all cores, all of it, as it was asked for. */
  public List<AnomalySum> anomalies(AnomalySum.Query query) {
    return anomalies(query, Long.MAX_VALUE);
  }

  /**
   * All that was found wrong in all cores, as the query asks; refused beyond about this many bytes.
   *
   * @throws AnswerTooLargeException where it takes more
   */
  public List<AnomalySum> anomalies(AnomalySum.Query query, long bytesMax) {
    List<AnomalySum> found =
        AnomalySum.of(
            cores(core -> query.core().isEmpty() || query.core().equals(core.key().core())),
            query,
            bytesMax);
    return isCut() ? AnomalySum.behindCut(found, query) : found;
  }

  private boolean isCut() {
    return states.stream().anyMatch(GraphState::isCut);
  }

  private TimeRules rules() {
    return states.isEmpty() ? TimeRules.DEFAULT : states.getFirst().rules();
  }

  /** A core, which is read when it is its turn. */
  record Place(CoreSummary core, GraphState state) {
    CoreGraph read() {
      return state.core(core.key()).orElseThrow();
    }
  }

  /**
   * Call trees of some cores, by core. Their calls may be larger than the memory: a tree is made
   * when it is its turn, and the calls of one core are in memory at a time. What stands over a tree
   * is known without its calls. For one thread.
   */
  public static final class Trees extends AbstractList<CallTree> {
    private final List<CallTree> heads = new ArrayList<>();
    private final List<Place> places = new ArrayList<>();
    private final UnaryOperator<CallTree> shown;
    private CoreKey last;
    private List<CallTree> ofLast = List.of();

    /**
     * Trees of cores.
     *
     * @param cores those that are looked at
     * @param wanted of their trees, by what stands over them
     * @param shown what is shown of a tree
     */
    Trees(List<Place> cores, Predicate<CallTree> wanted, UnaryOperator<CallTree> shown) {
      this.shown = shown;
      for (Place place : cores) {
        for (CallTree head : CallTree.only(CallTree.heads(place.read()), wanted)) {
          heads.add(head);
          places.add(place);
        }
      }
    }

    /** What stands over each of these trees; calls that would have to be made are left out. */
    public static List<CallTree> heads(List<CallTree> trees) {
      return trees instanceof Trees made ? Collections.unmodifiableList(made.heads) : trees;
    }

    @Override
    public CallTree get(int index) {
      CallTree head = heads.get(index);
      Place place = places.get(index);
      if (!place.core().key().equals(last)) {
        ofLast = List.of(); // garbage before the next ones are made
        ofLast = CallTree.of(place.read());
        last = place.core().key();
      }
      CallTree tree = ofLast.stream().filter(head::isOf).findFirst().orElseThrow();
      return shown.apply(tree.notKept(head.notKept()));
    }

    @Override
    public int size() {
      return heads.size();
    }
  }

  /** These cores by their keys, each of which is read when it is its turn. */
  public Iterable<CoreGraph> cores(Predicate<CoreSummary> wanted) {
    List<Place> places = places(wanted);
    return () -> places.stream().map(Place::read).iterator();
  }

  private List<Place> places(Predicate<CoreSummary> wanted) {
    List<Place> places = new ArrayList<>();
    for (GraphState state : states) {
      state.summaries().stream().filter(wanted).forEach(core -> places.add(new Place(core, state)));
    }
    places.sort(Comparator.comparing(place -> place.core().key()));
    return places;
  }

  private Map<String, ImageInfo> images() {
    Map<String, ImageInfo> images = new HashMap<>();
    OtherImages others = new OtherImages(images::get);
    states.forEach(state -> others.enterAll(state.others()));
    states.forEach(state -> state.images().forEach(images::putIfAbsent));
    images.replaceAll((_, image) -> image.among(others));
    return images;
  }

  /** Whether these cores are of several sessions. */
  public boolean isOfSeveral(Predicate<CoreSummary> wanted) {
    return SessionNames.of(
            states.stream()
                .flatMap(state -> state.summaries().stream())
                .filter(wanted)
                .map(core -> core.key().session()))
        .several();
  }

  /** Calls of an image; of all sessions where that is empty. */
  private record Part(String imageId, String session) {}

  private Map<Part, CallProfile> merged(ClockUnit unit, TaskChoice tasks, boolean apart) {
    Map<Part, CallProfile> merged =
        new TreeMap<>(Comparator.comparing(Part::imageId).thenComparing(Part::session));
    for (GraphState state : states) {
      state.profiles(
          (key, profile) -> {
            if (key.unit() == unit) {
              into(merged, new Part(key.imageId(), apart ? key.session() : "")).merge(profile);
            }
          });
      for (CoreGraph core : state.isByTask() ? state.cores() : List.<CoreGraph>of()) {
        core.profiles()
            .forEach(
                (context, profile) -> {
                  if (core.unit() == unit && tasks.has(context, context.name(core::taskName))) {
                    String session = apart ? core.key().session() : "";
                    into(merged, new Part(core.image().id(), session)).merge(profile);
                  }
                });
      }
    }
    return merged;
  }

  private static CallProfile into(Map<Part, CallProfile> merged, Part part) {
    return merged.computeIfAbsent(part, _ -> CallProfile.unlimited());
  }

  private List<ContextRow> byTask(ClockUnit unit, boolean apart) {
    List<ContextRow> rows = new ArrayList<>();
    if (states.stream().noneMatch(GraphState::isByTask)) {
      return List.of();
    }
    for (CoreGraph core : cores(known -> known.unit() == unit)) {
      core.profiles()
          .forEach(
              (context, profile) -> {
                String name = context.name(core::taskName);
                if (choice.has(context, name)) {
                  String session = apart ? core.key().session() : "";
                  ProfileRows of = new ProfileRows().add(session, core.image(), profile);
                  rows.add(new ContextRow(context, name, unit, of.functions(), of.edges()));
                }
              });
    }
    return List.copyOf(rows);
  }

  /** Adds the stats of a core. */
  public static void addStats(CoreSummary core, StatCounts stats) {
    stats.add(core.stats());
    stats.add(Stat.OPEN_CALLS, core.open());
    stats.add(Stat.TRUNCATED_CALLS, core.truncated() - core.stats().get(Stat.TRUNCATED_CALLS));
  }

  /** Rows of the counts that are not zero. */
  public static List<StatRow> rows(StatCounts counts) {
    List<StatRow> rows = new ArrayList<>();
    for (Stat stat : Stat.values()) {
      if (counts.get(stat) > 0) {
        rows.add(new StatRow(stat, counts.get(stat)));
      }
    }
    return Collections.unmodifiableList(rows);
  }
}
