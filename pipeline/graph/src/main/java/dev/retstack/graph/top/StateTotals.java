package dev.retstack.graph.top;

import dev.retstack.graph.calls.CoreSummary;
import dev.retstack.graph.check.StatCounts;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.report.StatRow;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.totals.CallTotals;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The totals of a state by function, core and stat, without its trees, edges, stacks and losses. It
 * costs a pass over cores and call edges; then any thread may write it while the state continues.
 * {@link TopBuilder} merges several; the result equals the {@link Report} of the states.
 */
public final class StateTotals {
  /**
   * Functions of one image in one session.
   *
   * @param selfPcs by the ids of the totals
   */
  private record OfImage(ImageInfo image, ClockUnit unit, LongList selfPcs, CallTotals totals) {}

  private final StatCounts general = new StatCounts();
  private final Map<ClockUnit, StatCounts> stats = new EnumMap<>(ClockUnit.class);
  private final List<CoreSum> cores = new ArrayList<>();
  private final List<OfImage> images = new ArrayList<>();

  private StateTotals() {}

  /** The totals of this state, which is read and not changed. */
  public static StateTotals of(GraphState state) {
    StateTotals totals = new StateTotals();
    totals.general.add(state.stats());
    for (CoreSummary core : state.summaries()) {
      totals.cores.add(CoreSum.of(core));
      ReportBuilder.addStats(
          core, totals.stats.computeIfAbsent(core.unit(), _ -> new StatCounts()));
    }
    state.profiles(
        (key, profile) -> {
          LongArrayList selfPcs = new LongArrayList(profile.functionCount());
          for (int i = 0; i < profile.functionCount(); i++) {
            selfPcs.add(profile.selfPc(i));
          }
          totals.images.add(
              new OfImage(
                  state.images().get(key.imageId()), key.unit(), selfPcs, profile.functions()));
        });
    return totals;
  }

  /**
   * Writes them, big-endian: stats of no core; by unit those of cores; cores; functions by image.
   * Counts are ints, names texts ({@link Fields#writeText}), numbers varints, addresses longs.
   */
  public void writeTo(DataOutput out) throws IOException {
    write(out, general);
    out.writeInt(stats.size());
    for (Map.Entry<ClockUnit, StatCounts> one : stats.entrySet()) {
      Fields.writeText(out, one.getKey().name());
      write(out, one.getValue());
    }
    out.writeInt(cores.size());
    for (CoreSum core : cores) {
      core.writeTo(out);
    }
    out.writeInt(images.size());
    for (OfImage of : images) {
      write(out, of);
    }
  }

  private static void write(DataOutput out, StatCounts counts) throws IOException {
    List<StatRow> rows = ReportBuilder.rows(counts);
    out.writeInt(rows.size());
    for (StatRow row : rows) {
      Fields.writeText(out, row.name());
      Fields.writeVarint(out, row.count());
    }
  }

  private static void write(DataOutput out, OfImage of) throws IOException {
    Fields.writeText(out, of.image().id());
    Fields.writeText(out, of.image().name());
    Fields.writeText(out, of.image().isa());
    Fields.writeText(out, of.unit().name());
    CallTotals t = of.totals();
    out.writeInt(of.selfPcs().size());
    for (int i = 0; i < of.selfPcs().size(); i++) {
      long selfPc = of.selfPcs().getLong(i);
      out.writeLong(selfPc);
      Fields.writeText(out, of.image().symbols().name(selfPc));
      Fields.writeVarint(out, selfPc - of.image().symbols().start(selfPc));
      Fields.writeVarint(out, t.calls(i));
      Fields.writeVarint(out, t.finished(i));
      Fields.writeVarint(out, t.total(i));
      Fields.writeVarint(out, t.sum(i));
      Fields.writeVarint(out, t.self(i));
      Fields.writeVarint(out, t.min(i));
      Fields.writeVarint(out, t.max(i));
    }
  }
}
