package dev.retstack.graph.top;

import dev.retstack.graph.check.Stat;
import dev.retstack.graph.check.StatCounts;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.Grouping;
import dev.retstack.graph.input.SessionNames;
import dev.retstack.graph.limits.Saturating;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.report.UnitGroups;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.graph.symbol.SourceLine;
import dev.retstack.schema.record.FunctionName;
import java.io.DataInput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Merges the {@link StateTotals} of several states. All functions of all states are summed before
 * any is left out. So the first ones are exactly those of the whole job.
 */
public final class TopBuilder {
  private static final int MANY = 1 << 27;

  private static final Comparator<CoreSum> CORE_ORDER =
      Comparator.comparing(CoreSum::isRunning)
          .reversed()
          .thenComparing(Comparator.comparingLong(CoreSum::records).reversed())
          .thenComparing(CoreSum::key);

  private record FunctionKey(String session, String imageId, long selfPc) {
    static FunctionKey of(FunctionRow row) {
      return new FunctionKey(row.session(), row.imageId(), row.selfPc());
    }
  }

  private final StatCounts general = new StatCounts();
  private final Map<ClockUnit, StatCounts> stats = new EnumMap<>(ClockUnit.class);
  private final List<CoreSum> cores = new ArrayList<>();
  private final Map<ClockUnit, Map<FunctionKey, FunctionRow>> functions =
      new EnumMap<>(ClockUnit.class);
  private boolean sum;

  /** Whether several sessions are added up; where not, each of them has rows that name it. */
  public TopBuilder summed(boolean sessions) {
    sum = sessions;
    return this;
  }

  /**
   * Adds what {@link StateTotals#writeTo} wrote.
   *
   * @param partition that it is of
   * @throws IOException where it is cut off, or is something else
   */
  public TopBuilder read(DataInput in, int partition) throws IOException {
    readStats(in, general);
    int units = Fields.readCount(in, ClockUnit.values().length, "units");
    for (int i = 0; i < units; i++) {
      ClockUnit unit = Fields.readEnum(in, ClockUnit.class);
      readStats(in, stats.computeIfAbsent(unit, _ -> new StatCounts()));
    }
    int coreCount = Fields.readCount(in, MANY, "cores");
    for (int i = 0; i < coreCount; i++) {
      cores.add(CoreSum.readFrom(in, partition));
    }
    int images = Fields.readCount(in, MANY, "images");
    for (int i = 0; i < images; i++) {
      readFunctions(in);
    }
    return this;
  }

  private static void readStats(DataInput in, StatCounts into) throws IOException {
    int count = Fields.readCount(in, Stat.values().length, "stats");
    for (int i = 0; i < count; i++) {
      into.add(Fields.readEnum(in, Stat.class), Fields.readVarint(in));
    }
  }

  private void readFunctions(DataInput in) throws IOException {
    String session = Fields.readText(in);
    String imageId = Fields.readText(in);
    String image = Fields.readText(in);
    String isa = Fields.readText(in);
    String program = Fields.readText(in);
    Map<FunctionKey, FunctionRow> rows =
        functions.computeIfAbsent(Fields.readEnum(in, ClockUnit.class), _ -> new HashMap<>());
    int count = Fields.readCount(in, MANY, "functions");
    for (int i = 0; i < count; i++) {
      long selfPc = in.readLong();
      FunctionName function = new FunctionName(Fields.readText(in)); // a report has the other names
      boolean unique = in.readBoolean();
      FunctionRow row =
          new FunctionRow(
              session,
              function,
              selfPc - Fields.readVarint(in),
              selfPc,
              image,
              imageId,
              isa,
              unique ? program : "",
              1,
              1,
              SourceLine.NONE, // a report has the line
              Fields.readVarint(in),
              Fields.readVarint(in),
              Fields.readVarint(in),
              Fields.readVarint(in),
              Fields.readVarint(in),
              Fields.readVarint(in),
              Fields.readVarint(in),
              Fields.readVarint(in));
      rows.merge(FunctionKey.of(row), row, FunctionRow::plus);
    }
  }

  /**
   * The first functions by this order, and the sums.
   *
   * @param unit cores and functions are those that count in it; where it is empty, in the usual one
   * @param grouping whether functions are of programs or of images
   * @param most functions at most
   */
  public Top build(Optional<ClockUnit> unit, TopSort sort, Grouping grouping, int most) {
    UnitGroups groups = new UnitGroups();
    cores.forEach(core -> groups.add(core.unit(), core.records()));
    UnitGroups.Choice units = groups.choose(unit);
    ClockUnit of = units.unit();
    List<CoreSum> sums =
        cores.stream().filter(core -> core.unit() == of).sorted(CORE_ORDER).toList();
    Stream<String> sessions = sums.stream().map(core -> core.key().session());
    boolean apart = !sum && SessionNames.of(sessions).several();
    List<FunctionRow> called =
        rows(functions.getOrDefault(of, Map.of()), apart).stream()
            .filter(row -> row.calls() > 0) // as in a report
            .toList();
    List<FunctionRow> rows =
        grouping == Grouping.GROUPS ? FunctionRow.grouped(called).toList() : called;
    StatCounts counts = new StatCounts();
    counts.add(general);
    counts.add(stats.getOrDefault(of, new StatCounts()));
    return new Top(
        units,
        sums.stream().mapToLong(CoreSum::records).sum(),
        sums.stream().mapToLong(CoreSum::lost).reduce(0, Saturating::sum),
        sums.stream().mapToLong(CoreSum::untraced).reduce(0, Saturating::sum),
        rows.size(),
        rows.stream().mapToLong(FunctionRow::self).reduce(0, Saturating::sum),
        rows.stream().sorted(sort.order()).limit(most).toList(),
        sums,
        ReportBuilder.rows(counts));
  }

  private static Collection<FunctionRow> rows(
      Map<FunctionKey, FunctionRow> functions, boolean apart) {
    if (apart) {
      return functions.values();
    }
    Map<FunctionKey, FunctionRow> all = new HashMap<>();
    for (FunctionRow row : functions.values()) {
      FunctionRow ofAll = row.ofAllSessions();
      all.merge(FunctionKey.of(ofAll), ofAll, FunctionRow::plus);
    }
    return all.values();
  }
}
