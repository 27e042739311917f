package dev.retstack.graph.report;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.AnomalyLog;
import dev.retstack.graph.check.AnomalyMessage;
import dev.retstack.graph.check.Severity;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.Grouping;
import dev.retstack.graph.limits.AnswerTooLargeException;
import dev.retstack.graph.limits.Saturating;
import dev.retstack.graph.symbol.FunctionNames;
import dev.retstack.schema.record.FunctionName;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * How many anomalies there were of one kind, function and place; the counts of all sums of a kind
 * add up to its stat. In a group of a program, function and place are known by their names: the
 * offsets differ from image to image.
 *
 * @param sample the first of them that was kept
 * @param sampled false where the sample is none of them: its message says why none is shown
 * @param function concerned: symbol+offset, or its name where several places are summed up here;
 *     empty = none
 * @param names all names of the function, without an offset
 * @param place what distinguishes it in its function, as function; empty = none
 * @param count frames, calls or records concerned, of all of them
 * @param times how many anomalies
 * @param kept how many of them have a row with time and stack
 * @param last time of the last; that of the first is the sample's
 * @param cores on which they were found
 * @param images of these cores
 * @param tasks in which they were found
 * @param groups of function and place that are summed up here: more than 1 where they are not shown
 *     one by one; those beyond the limit of a core count as one
 */
public record AnomalySum(
    AnomalyRow sample,
    boolean sampled,
    String function,
    FunctionName names,
    String place,
    long count,
    long times,
    long kept,
    long last,
    int cores,
    int images,
    int tasks,
    int groups) {
  /** A row and the sum of it take so much beside their names, about. */
  private static final int ROW_BYTES = 600;

  private static final int FRAME_BYTES = 60;

  /** What a sum takes for each core that it counts. */
  private static final int CORE_BYTES = 400;

  private static final Comparator<AnomalySum> GRAVEST_FIRST =
      Comparator.comparing(AnomalySum::severity)
          .reversed()
          .thenComparing(AnomalySum::kind)
          .thenComparing(Comparator.comparingLong(AnomalySum::count).reversed());

  /**
   * Which anomalies are asked for, and how they are shown.
   *
   * @param core of this core only; empty = of all
   * @param kind of this kind only; empty = of all
   * @param task of these tasks only
   * @param least what is less grave is summed up by its kind
   * @param rows what is shown by itself; of those that have no row, what is left is in one line
   */
  public record Query(String core, String kind, TaskChoice task, Severity least, Grouping rows) {
    /** Anomalies by groups of programs. */
    public static final Query DEFAULT = of(Grouping.GROUPS);

    /** A query for all cores, kinds and tasks. */
    public static Query of(Grouping rows) {
      return new Query("", "", TaskChoice.ALL, Severity.WARNING, rows);
    }

    private boolean each() {
      return rows == Grouping.EACH;
    }
  }

  public AnomalyKind kind() {
    return sample.kind();
  }

  public Severity severity() {
    return sample.severity();
  }

  /**
   * What was found in these cores: gravest first, then what there is most of.
   *
   * @param bytesMax of all of it, about
   * @throws AnswerTooLargeException where it takes more
   */
  static List<AnomalySum> of(Iterable<CoreGraph> cores, Query query, long bytesMax) {
    Adder sums = new Adder(query, bytesMax);
    List<AnomalySum> each = new ArrayList<>();
    for (CoreGraph core : cores) {
      sums.add(core, each);
    }
    List<AnomalySum> all = new ArrayList<>();
    sums.sums.values().forEach(sum -> all.add(sum.done()));
    all.sort(GRAVEST_FIRST);
    each.addAll(all);
    return List.copyOf(each);
  }

  private static FunctionName functionAt(long pc, FunctionNames names) {
    return pc == 0 ? FunctionName.NONE : names.function(pc);
  }

  /** Adds the anomaly of a cut trace, whatever core or task is asked for. */
  static List<AnomalySum> behindCut(List<AnomalySum> found, Query query) {
    AnomalyKind cut = AnomalyKind.CUT_TRACE;
    if (!query.kind().isEmpty() && !query.kind().equals(cut.name())) {
      return found;
    }
    AnomalyRow row =
        new AnomalyRow(
            cut,
            cut.severity(),
            "",
            "",
            0,
            1,
            "",
            "",
            "",
            0,
            "",
            0,
            0,
            0,
            1,
            List.of(),
            AnomalyMessage.CUT);
    List<AnomalySum> all = new ArrayList<>();
    all.add(new AnomalySum(row, false, "", FunctionName.NONE, "", 1, 1, 0, 0, 0, 0, 0, 1));
    all.addAll(found);
    return List.copyOf(all);
  }

  /** Adds up what the logs of cores count. */
  private static final class Adder {
    private final Query query;
    private final Map<List<Object>, Sum> sums = new LinkedHashMap<>();
    private final long bytesMax;
    private long bytes;

    private Adder(Query query, long bytesMax) {
      this.query = query;
      this.bytesMax = bytesMax;
    }

    /** Takes room for a row. */
    private AnomalyRow held(AnomalyRow row) {
      bytes += ROW_BYTES + row.message().length() + 2L * row.function().length();
      for (String frame : row.stack()) {
        bytes += FRAME_BYTES + frame.length();
      }
      requireRoom();
      return row;
    }

    /** Takes room for the other names of a function. */
    private FunctionName charge(FunctionName function) {
      for (String other : function.others()) {
        bytes += other.length();
      }
      requireRoom();
      return function;
    }

    private void requireRoom() {
      if (bytes > bytesMax) {
        throw new AnswerTooLargeException(
            "these anomalies take more than the %,d bytes that one answer holds"
                .formatted(bytesMax),
            "ask for one core or kind, or with rows=groups");
      }
    }

    /** Groups of one key. */
    private static final class Sum {
      private AnomalyRow sample;
      private boolean sampled;
      private FunctionNames names;
      private AnomalyLog.Where where;
      private boolean folded;
      private long count;
      private long times;
      private long kept;
      private long last;
      private final Set<CoreKey> cores = new HashSet<>();
      private final Set<String> images = new HashSet<>();
      private final Set<List<Object>> tasks = new HashSet<>();
      private final Set<List<Object>> places = new HashSet<>();

      AnomalySum done() {
        return new AnomalySum(
            sample,
            sampled,
            name(where.selfPc()),
            folded ? FunctionName.NONE : functionAt(where.selfPc(), names),
            name(where.place()),
            count,
            times,
            kept,
            last,
            cores.size(),
            images.size(),
            tasks.size(),
            places.size());
      }

      private String name(long pc) {
        return folded || pc == 0
            ? ""
            : places.size() == 1 ? names.symbolPlusOffset(pc) : names.name(pc);
      }
    }

    private void add(CoreGraph core, List<AnomalySum> each) {
      AnomalyLog log = core.anomalies();
      Map<AnomalyLog.Group, List<Anomaly>> rows = new HashMap<>();
      for (Anomaly row : log.rows()) {
        AnomalyLog.Group group = log.groupOf(row);
        rows.computeIfAbsent(group, _ -> new ArrayList<>()).add(row);
        if (query.each() && !isFolded(row.kind()) && isWanted(core, group)) {
          each.add(single(core, row));
        }
      }
      for (AnomalyLog.Group group : log.groups()) {
        List<Anomaly> own = rows.getOrDefault(group, List.of());
        if (isWanted(core, group)) {
          add(core, group, own);
        }
      }
    }

    private boolean isWanted(CoreGraph core, AnomalyLog.Group group) {
      AnomalyLog.Where where = group.where();
      boolean task =
          query.task().isAll()
              || (!where.isOthers()
                  && query.task().has(where.task(), core.taskName(where.task(), where.instance())));
      return task && (query.kind().isEmpty() || query.kind().equals(where.kind().name()));
    }

    private boolean isFolded(AnomalyKind kind) {
      return kind.severity().compareTo(query.least()) < 0;
    }

    private void add(CoreGraph core, AnomalyLog.Group group, List<Anomaly> rows) {
      AnomalyLog.Where where = group.where();
      boolean folded = isFolded(where.kind());
      boolean shown = query.each() && !folded; // its rows stand for themselves
      long times = group.times() - (shown ? rows.size() : 0);
      if (times == 0) {
        return;
      }
      Sum sum = sums.computeIfAbsent(key(core, where, folded), _ -> new Sum());
      boolean first = sum.sample == null;
      if (first || (!sum.sampled && !rows.isEmpty())) {
        boolean own = !shown && !folded && !rows.isEmpty();
        sum.sample =
            held(own ? AnomalyRow.of(core, rows.getFirst()) : unkept(core, group, folded, times));
        sum.sampled = own;
        sum.names = core.image().names();
        charge(folded ? FunctionName.NONE : functionAt(where.selfPc(), sum.names));
        sum.where = where;
        sum.folded = folded;
      }
      long count = group.count();
      for (int i = 0; shown && i < rows.size(); i++) {
        count -= rows.get(i).count();
      }
      sum.times = Saturating.sum(sum.times, times);
      sum.count = Saturating.sum(sum.count, Math.max(0, count));
      sum.kept += shown ? 0 : rows.size();
      sum.last = Math.max(sum.last, group.last());
      if (sum.cores.add(core.key())) {
        bytes += CORE_BYTES;
        requireRoom();
      }
      sum.images.add(core.image().id());
      sum.tasks.add(List.of(core.key(), where.task(), where.instance()));
      sum.places.add(List.of(core.image().id(), where.selfPc(), where.place(), where.isOthers()));
    }

    private List<Object> key(CoreGraph core, AnomalyLog.Where where, boolean folded) {
      if (folded) {
        return List.of(where.kind());
      }
      List<Object> key =
          new ArrayList<>(List.of(where.kind(), core.key().session(), where.isOthers()));
      key.addAll(function(core, where.selfPc()));
      key.addAll(function(core, where.place()));
      if (query.rows() == Grouping.BY_TASK || query.each()) {
        key.addAll(List.of(core.key(), where.task(), where.instance()));
      }
      return key;
    }

    /** Identity of a function: its name in a program, or else its place in an image. */
    private List<Object> function(CoreGraph core, long pc) {
      String program = pc == 0 ? core.image().program() : core.image().programOf(pc);
      return query.rows() == Grouping.GROUPS && !program.isEmpty()
          ? List.of(program, pc == 0 ? "" : core.image().names().name(pc))
          : List.of(core.image().id(), pc);
    }

    private AnomalySum single(CoreGraph core, Anomaly row) {
      AnomalyRow shown = held(AnomalyRow.of(core, row));
      String place = row.place() == 0 ? "" : core.image().names().symbolPlusOffset(row.place());
      FunctionName names = charge(functionAt(row.selfPc(), core.image().names()));
      return new AnomalySum(
          shown, true, shown.function(), names, place, row.count(), 1, 1, row.time(), 1, 1, 1, 1);
    }

    /** Stands for anomalies of which no row is shown. */
    private static AnomalyRow unkept(
        CoreGraph core, AnomalyLog.Group group, boolean folded, long times) {
      AnomalyLog.Where where = group.where();
      FunctionNames symbols = core.image().names();
      boolean none = folded || where.selfPc() == 0;
      String message =
          folded
              ? "not shown one by one: ask for a lower severity"
              : where.isOthers()
                  ? "in functions or places beyond the first: only counted"
                  : "without a separate row: only counted";
      return new AnomalyRow(
          where.kind(),
          where.kind().severity(),
          core.key().session(),
          core.key().core(),
          where.task(),
          where.instance(),
          where.isOthers() ? "" : core.taskName(where.task(), where.instance()),
          core.image().id(),
          core.image().isa(),
          none ? 0 : where.selfPc(),
          none ? "" : symbols.symbolPlusOffset(where.selfPc()),
          0,
          0,
          group.first(),
          times,
          List.of(),
          message);
    }
  }
}
