package dev.retstack.cli.anomalies;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.interrupt.InterruptTimer;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.report.StatRow;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.tree.Ending;
import dev.retstack.machine.loader.LoadedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The preemptive kernel (guest/rtos), from the emulated core to the findings: nothing is wrong in
 * it, and what ended without returning are the calls that its longjmps passed over, no others.
 */
class KernelAnomaliesTest {
  private static final String HANDLER = "rtos_interrupt";
  private static final String LONGJMPS_PASS_OVER = "jumper_climb";

  static List<Path> images() throws IOException {
    try (Stream<Path> files = Files.list(Zoo.GUEST.resolve("rtos").resolve("images"))) {
      return files.sorted().toList();
    }
  }

  /** Calls that longjmps pass over in a native run. */
  private static long passedOver() throws IOException {
    try (Stream<String> lines = Files.lines(Zoo.GUEST.resolve("rtos").resolve("rtos.trees"))) {
      return lines.filter(line -> line.endsWith("!unwound")).count();
    }
  }

  @ParameterizedTest
  @MethodSource("images")
  void nothingIsWrongInAKernelThatIsInterrupted(Path file) throws IOException {
    LoadedImage image = LoadedImage.load(file);
    CoreOptions options =
        Guest.checking()
            .withInstructionLimit(20_000_000)
            .withTimers(
                List.of(new InterruptTimer(900, HANDLER), new InterruptTimer(7_100, HANDLER)));
    Run run = Run.of(image, options, 1_000_000, core -> {}, "rtos");
    assertThat(run.ending().detail()).isEqualTo("exited with code 0");
    GraphState state = Guest.of(run, run.records(), run.records().size() + 1, -1);
    List<Stat> told = ReportBuilder.of(state).build().stats().stream().map(StatRow::stat).toList();
    assertThat(told)
        .isSubsetOf(Stat.TAIL_CALLS, Stat.UNWOUND_CALLS, Stat.STACK_SWITCHES, Stat.ENDED_CALLS);
    CoreGraph core = state.cores().iterator().next();
    List<String> unwound =
        IntStream.range(0, core.tree().size())
            .filter(row -> core.tree().ending(row) == Ending.UNWOUND)
            .mapToObj(row -> core.image().names().name(core.tree().selfPc(row)))
            .toList();
    assertThat(unwound).allMatch(name -> name.startsWith(LONGJMPS_PASS_OVER));
    assertThat((long) unwound.size()).isEqualTo(passedOver());
    assertThat(ReportBuilder.of(state).anomalies()).isEmpty();
  }
}
