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
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
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
   * @param session its name
   * @param own the image of the cores that called them
   * @param pcs their addresses behind the reader
   * @param ids where they stand in the totals
   */
  private record OfImage(
      String session,
      ImageInfo image,
      ImageInfo own,
      ClockUnit unit,
      LongList pcs,
      IntList ids,
      CallTotals totals) {}

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
          ImageInfo own = state.images().get(key.imageId());
          Map<String, OfImage> images = new LinkedHashMap<>();
          for (int i = 0; i < profile.functionCount(); i++) {
            long pc = profile.selfPc(i);
            OfImage of =
                images.computeIfAbsent(
                    own.of(pc).id(),
                    _ ->
                        new OfImage(
                            key.session(),
                            own.of(pc),
                            own,
                            key.unit(),
                            new LongArrayList(),
                            new IntArrayList(),
                            profile.functions()));
            of.pcs.add(pc);
            of.ids.add(i);
          }
          totals.images.addAll(images.values());
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
    Fields.writeText(out, of.session());
    Fields.writeText(out, of.image().id());
    Fields.writeText(out, of.image().name());
    Fields.writeText(out, of.image().isa());
    Fields.writeText(out, of.image().program());
    Fields.writeText(out, of.unit().name());
    CallTotals t = of.totals();
    out.writeInt(of.pcs().size());
    for (int at = 0; at < of.pcs().size(); at++) {
      int i = of.ids().getInt(at);
      long pc = of.pcs().getLong(at);
      out.writeLong(of.own().in(pc));
      Fields.writeText(out, of.own().names().name(pc));
      out.writeBoolean(!of.own().programOf(pc).isEmpty());
      Fields.writeVarint(out, pc - of.own().names().start(pc));
      Fields.writeVarint(out, t.calls(i));
      Fields.writeVarint(out, t.finished(i));
      Fields.writeVarint(out, t.total(i));
      Fields.writeVarint(out, t.sum(i));
      Fields.writeVarint(out, t.self(i));
      Fields.writeVarint(out, t.min(i));
      Fields.writeVarint(out, t.max(i));
      Fields.writeVarint(out, t.wall(i));
    }
  }
}
