package dev.retstack.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.export.PerfettoExport;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.simulation.model.ModelCore;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.SplittableRandom;
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
          for (StrictPerfetto.Track track : read.tracks.values()) {
            assertThat(track.open).as(track.name).isEmpty();
            boolean any = track.slices.stream().anyMatch(slice -> slice.startsWith("interrupt "));
            assertThat(any).as(track.name).isEqualTo(track.name.startsWith("interrupts of "));
          }
        });
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
