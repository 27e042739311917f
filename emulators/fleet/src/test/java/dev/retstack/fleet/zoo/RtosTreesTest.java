package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.core.interrupt.InterruptTimer;
import dev.retstack.fleet.settings.FunctionPattern;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.fleet.settings.Tracer;
import dev.retstack.machine.loader.LoadedImage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each task's tree is that of a run in which nothing is preempted (guest/rtos/rtos.trees), switch
 * after switch, and those of interrupts are apart.
 */
class RtosTreesTest {
  static Stream<String> images() throws IOException {
    return RtosTest.images();
  }

  static Stream<String> someImages() throws IOException {
    return RtosTest.someImages();
  }

  @ParameterizedTest
  @MethodSource("images")
  void stacksTellTasksApart(String file) throws IOException {
    LoadedImage image = RtosTest.image(file);
    Run java = run(image, RtosTest.options().withProbe(ProbeKind.JAVA), 1_000_000);
    Run inC = run(image, RtosTest.options().withProbe(ProbeKind.NATIVE), 1_000_000);
    Records.assertSame(java, inC);
    TaskTrees trees = TaskTrees.of(java);
    assertSame(trees, "inferred");
    assertThat(trees.interrupts())
        .hasSizeGreaterThan(150)
        .allMatch(tree -> tree.lines().getFirst().equals("rtos_interrupt"))
        .noneMatch(tree -> tree.lines().getLast().contains("!unwound"));
  }

  private static Run run(LoadedImage image, CoreOptions options, long slice) {
    Run run = Run.of(image, options, slice, _ -> {}, "rtos");
    assertThat(run.ending().detail()).isEqualTo("exited with code 0");
    assertThat(run.overruns() + run.unhijackable()).isZero();
    return run;
  }

  @ParameterizedTest
  @MethodSource("someImages")
  void interruptsComeAtTheSameTimesWhateverIsTraced(String file) throws IOException {
    LoadedImage image = RtosTest.image(file);
    long time = run(image, RtosTest.options(), 1_000_000).instructions();
    TraceSettings all = TraceSettings.standard();
    for (TraceSettings settings :
        List.of(
            all.withOn(false),
            all.withTracer(Tracer.FUNCTION),
            all.withNotraces(
                List.of(FunctionPattern.parse("*fib*"), FunctionPattern.parse("rtos_*"))),
            all.withMaxDepth(2))) {
      for (ProbeKind probe : RtosTest.PROBES) {
        CoreOptions options = RtosTest.options().withProbe(probe).withTrace(settings);
        assertThat(run(image, options, 5_003).instructions())
            .as("%s, %s", probe, settings)
            .isEqualTo(time);
      }
    }
  }

  /**
   * Every outermost call is there with all that it called, those of one function in their order.
   * Which of them are of one task is not said where the stack alone tells: its memory is used
   * again.
   */
  private static void assertSame(TaskTrees received, String what) throws IOException {
    Map<String, List<String>> expected =
        byRoot(TaskTrees.read(RtosTest.RTOS.resolve("rtos.trees")));
    Map<String, List<String>> trees = byRoot(received);
    assertThat(trees.keySet()).as(what).isEqualTo(expected.keySet());
    for (String root : expected.keySet()) {
      List<String> is = trees.get(root);
      List<String> shall = expected.get(root);
      for (int i = 0; i < Math.max(is.size(), shall.size()); i++) {
        assertThat(i < is.size() ? is.get(i) : "the end")
            .as("%s, tree of %s, line %d of %d", what, root, i + 1, shall.size())
            .isEqualTo(i < shall.size() ? shall.get(i) : "the end");
      }
    }
  }

  private static Map<String, List<String>> byRoot(TaskTrees trees) {
    Map<String, List<String>> by = new TreeMap<>();
    for (TreeText tree : trees.tasks().values()) {
      String root = "";
      for (String line : tree.lines()) {
        root = line.startsWith(" ") ? root : line;
        by.computeIfAbsent(root, _ -> new ArrayList<>()).add(line);
      }
    }
    return by;
  }

  @ParameterizedTest
  @MethodSource("images")
  void theRecordsDoNotDependOnSlicesBatchesAndProbes(String file) throws IOException {
    LoadedImage image = RtosTest.image(file);
    Run whole = run(image, RtosTest.options(), 1_000_000);
    for (ProbeKind probe : RtosTest.PROBES) {
      for (long slice : EachIsa.ALL ? new long[] {1, 7, 100, 10_007} : new long[] {1, 10_007}) {
        CoreOptions options =
            RtosTest.options().withProbe(probe).withRecordsPerChunk(slice < 10 ? 4 : 1_000);
        Run cut = run(image, options, slice);
        Records.assertSame(
            "whole", whole.records(), "%s, slice %d".formatted(probe, slice), cut.records());
      }
    }
  }

  @ParameterizedTest
  @MethodSource("someImages")
  void anyPeriodGivesTheSameTrees(String file) throws IOException {
    LoadedImage image = RtosTest.image(file);
    for (long period = 200; period < 3_000; period = period * 7 / 4 + 1) {
      List<InterruptTimer> timers =
          List.of(
              new InterruptTimer(period, RtosTest.HANDLER),
              new InterruptTimer(11 * period, RtosTest.HANDLER));
      TaskTrees trees = TaskTrees.of(run(image, RtosTest.options().withTimers(timers), 1_000_000));
      assertSame(trees, "period " + period);
    }
  }
}
