package dev.retstack.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.tree.Ending;
import dev.retstack.service.export.PerfettoExport;
import dev.retstack.simulation.model.ModelCore;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A strict reader accepts the Perfetto trace of any program, whole or damaged. */
class PerfettoPropertyTest {
  @Test
  void tracksOfTasksAndInterruptsAreBalanced() {
    Seeds.each(
        seed -> {
          SplittableRandom random = new SplittableRandom(seed);
          List<ModelCore> cores = Cores.any(random, 3, 20);
          Faults faults = random.nextBoolean() ? Faults.any(random) : Faults.none(seed);
          Subject subject = Subject.product();
          cores.forEach(core -> faults.deliver(core, 40).chunks().forEach(subject::apply));
          StrictPerfetto read = read(subject.state());

          List<CallTree> trees = ReportBuilder.of(subject.state()).trees();
          long processes = read.tracks.values().stream().filter(t -> t.parent.isEmpty()).count();
          assertThat(processes).isEqualTo(trees.stream().map(CallTree::core).distinct().count());
          long tasks =
              read.tracks.values().stream()
                  .filter(t -> !t.parent.isEmpty() && !t.name.startsWith("interrupts of "))
                  .count();
          assertThat(tasks).isEqualTo(trees.size());
          long open = read.tracks.values().stream().mapToLong(t -> t.open.size()).sum();
          assertThat(open).isEqualTo(open(trees));
          for (StrictPerfetto.Track track : read.tracks.values()) {
            boolean any =
                Stream.concat(track.slices.stream(), track.open.stream())
                    .anyMatch(slice -> slice.startsWith("interrupt "));
            assertThat(any).as(track.name).isEqualTo(track.name.startsWith("interrupts of "));
          }
        });
  }

  /** Nodes whose end is not known, and which are not cut off. */
  private static long open(List<CallTree> trees) {
    long open = 0;
    Deque<CallNode> left = new ArrayDeque<>();
    trees.forEach(tree -> left.addAll(tree.roots()));
    while (!left.isEmpty()) {
      CallNode node = left.pop();
      open +=
          switch (node.kind()) {
            case CALL, SYSTEM_CALL, INTERRUPT, SWITCH -> node.ending() == Ending.OPEN ? 1 : 0;
            case LOSS -> node.ending() == Ending.OPEN && node.exit() > node.enter() ? 1 : 0;
            case FUNCTION, MARK -> 0;
          };
      left.addAll(node.children());
    }
    return open;
  }

  private static StrictPerfetto read(GraphState state) {
    try {
      ByteArrayOutputStream trace = new ByteArrayOutputStream();
      PerfettoExport.write(
          ReportBuilder.of(state).trees(), ReportBuilder.of(state).anomalies(), false, trace);
      return StrictPerfetto.read(trace.toByteArray());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
