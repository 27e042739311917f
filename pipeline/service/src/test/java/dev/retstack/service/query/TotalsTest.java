package dev.retstack.service.query;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.answers.state.StateCopy;
import dev.retstack.answers.support.CoreScript;
import dev.retstack.answers.support.RandomFleet;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.Grouping;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.top.StateTotals;
import dev.retstack.graph.top.Top;
import dev.retstack.graph.top.TopBuilder;
import dev.retstack.graph.top.TopSort;
import dev.retstack.service.partition.PartitionTotals;
import dev.retstack.testing.Seeds;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The totals of several partitions, put together, are those of the report over all of them. */
class TotalsTest {
  private static final int PARTITIONS = 3;

  /** Random cores of two sessions in three partitions; some chunks are lost, some are held. */
  private static List<GraphState> states(long seed) throws Exception {
    Random random = new Random(seed);
    List<ChunkApplier> partitions = new ArrayList<>();
    for (int p = 0; p < PARTITIONS; p++) {
      partitions.add(new ChunkApplier(new GraphState()));
    }
    List<CoreScript> cores = new ArrayList<>(RandomFleet.of(seed, 4, 600));
    cores.addAll(RandomFleet.of(seed + 1, 3, 600));
    for (CoreScript core : cores) {
      ChunkApplier partition = partitions.get(random.nextInt(PARTITIONS));
      partition.image(core.image());
      int gap = 1 + random.nextInt(2 * core.chunks().size());
      for (int i = 0; i < core.chunks().size(); i++) {
        if (i != gap) {
          partition.apply(core.chunks().get(i));
        }
      }
    }
    return partitions.stream().map(ChunkApplier::state).toList();
  }

  private static Part part(int partition, GraphState state) {
    StateCopy position =
        new StateCopy(
            partition, 7, 11, 5, 0, StateCopy.Waiting.NONE, new byte[0], GraphLimits.DEFAULT);
    return Part.of(new PartitionTotals(position, StateTotals.of(state)));
  }

  @Test
  void theyAreThoseOfTheReport() throws Exception {
    long seed = Seeds.fresh();
    List<GraphState> states = states(seed);
    ReportBuilder whole = new ReportBuilder();
    TopBuilder totals = new TopBuilder();
    for (int p = 0; p < PARTITIONS; p++) {
      whole.add(states.get(p));
      part(p, states.get(p)).addTotals(totals);
    }
    String of = "-Dretstack.seed=" + seed;
    Top apart = totals.build(Optional.empty(), TopSort.TOTAL, Grouping.BY_IMAGE, Integer.MAX_VALUE);
    assertThat(apart.functions()).as(of).isEqualTo(whole.build().functions());
    Report report = whole.summed(true).build();
    totals.summed(true);
    Top top = totals.build(Optional.empty(), TopSort.TOTAL, Grouping.BY_IMAGE, Integer.MAX_VALUE);
    assertThat(top.functions()).as(of).isEqualTo(report.functions());
    Top grouped = totals.build(Optional.empty(), TopSort.TOTAL, Grouping.GROUPS, Integer.MAX_VALUE);
    assertThat(grouped.functions()).as(of).isEqualTo(report.by(Grouping.GROUPS).functions());
    assertThat(grouped.functionCount()).isEqualTo(grouped.functions().size());
    assertThat(grouped.self()).as(of).isEqualTo(top.self());
    assertThat(top.stats()).as(of).isEqualTo(report.stats());
    assertThat(top.unit()).isEqualTo(report.unit());
    assertThat(top.records()).as(of).isEqualTo(report.records()).isPositive();
    assertThat(top.lost()).as(of).isEqualTo(report.lost());
    assertThat(top.untraced()).as(of).isEqualTo(report.untraced()).isPositive();
    assertThat(top.completeness()).as(of).isEqualTo(report.completeness());
    assertThat(top.self())
        .as(of)
        .isEqualTo(report.functions().stream().mapToLong(FunctionRow::self).sum());
    assertThat(top.cores())
        .as(of)
        .extracting(core -> core.key().core() + core.records() + core.end())
        .containsExactlyInAnyOrderElementsOf(
            report.cores().stream().map(c -> c.core() + c.records() + c.end()).toList());
    for (TopSort sort : TopSort.values()) {
      Top first = totals.build(Optional.of(ClockUnit.INSTRUCTIONS), sort, Grouping.BY_IMAGE, 3);
      assertThat(first.functions())
          .as(of + " " + sort)
          .isEqualTo(
              report.functions().stream()
                  .sorted(
                      Comparator.comparingLong(
                              (FunctionRow row) ->
                                  switch (sort) {
                                    case TOTAL -> row.total();
                                    case SELF -> row.self();
                                    case CALLS -> row.calls();
                                  })
                          .reversed())
                  .limit(3)
                  .toList());
      assertThat(first.functionCount()).isEqualTo(report.functions().size());
    }
    assertThat(
            totals
                .build(Optional.of(ClockUnit.NANOSECONDS), TopSort.SELF, Grouping.GROUPS, 9)
                .functions())
        .as("nothing counts in nanoseconds")
        .isEmpty();
  }

  @Test
  void whatIsCutOffIsRefused() throws Exception {
    byte[] whole = part(0, states(5).getFirst()).body();
    for (int length = 0; length < whole.length; length += 97) {
      byte[] cut = Arrays.copyOf(whole, length);
      assertThatThrownBy(
              () -> new TopBuilder().read(new DataInputStream(new ByteArrayInputStream(cut)), 0))
          .isInstanceOf(IOException.class);
    }
  }
}
