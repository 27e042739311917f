package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.settings.EventRequest;
import dev.retstack.fleet.settings.FunctionPattern;
import dev.retstack.fleet.settings.PatternSubject;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.fleet.settings.Trigger;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.record.Mark;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.ValuesDepth;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Records beside calls: system calls, and what triggers do. Both probes, and the full trace. */
class EventsTest {
  private static final int ROUNDS = 8;

  static Stream<LoadedImage> images() {
    return SettingsTest.images();
  }

  @ParameterizedTest
  @MethodSource("images")
  void systemCallsStandInTheFunctionThatMakesThem(LoadedImage image) {
    TraceSettings settings =
        TraceSettings.standard().withEvents(List.of(EventRequest.parse("syscalls")));
    Run full = Run.of(image, "hello");
    for (int batch : new int[] {1, 3, 4_096}) {
      Run run = both(image, settings, batch, "hello");
      RecordBatch calls = new RecordBatch(run.records().size());
      int depth = 0;
      int entered = 0;
      for (int i = 0; i < run.records().size(); i++) {
        RecordBatch all = run.records();
        switch (all.kind[i]) {
          case RecordBatch.ENTRY, RecordBatch.EXIT -> {
            depth += all.kind[i] == RecordBatch.ENTRY ? 1 : -1;
            calls.addAll(all, i, i + 1);
          }
          case RecordBatch.SYS_ENTER -> {
            entered++;
            assertThat(all.depth[i]).isEqualTo(depth);
            assertThat(all.kind[i + 1]).isEqualTo(RecordBatch.VALUES);
            assertThat(all.kind[i + 2]).isEqualTo(RecordBatch.VALUES);
            assertThat(all.depth[i + 2]).isEqualTo(ValuesDepth.of(4, 2, ValuesDepth.AUTO));
            if (i + 3 < all.size()) { // not exit
              assertThat(all.kind[i + 3]).isEqualTo(RecordBatch.SYS_EXIT);
              assertThat(all.selfPc[i + 3]).isEqualTo(all.selfPc[i]);
            }
          }
          default -> assertThat(all.kind[i]).isIn(RecordBatch.VALUES, RecordBatch.SYS_EXIT);
        }
      }
      Records.assertSame("full trace", full.records(), "calls with events", calls);
      assertThat(entered).isGreaterThanOrEqualTo(2); // write, exit
    }
    Run none =
        both(image, settings.withEvents(List.of(EventRequest.parse("syscalls:no*"))), 9, "hello");
    Records.assertSame("full trace", full.records(), "no event asked for", none.records());
  }

  @ParameterizedTest
  @MethodSource("images")
  void triggersSwitchRecordingWhereTheFullTraceSaysTheFunctionsAre(LoadedImage image) {
    Map<String, Run> fulls = new HashMap<>();
    SeededRounds.run(
        image,
        ROUNDS,
        (program, random) -> {
          Run full = fulls.computeIfAbsent(program, p -> Run.of(image, p));
          TraceSettings settings = settings(full, random);
          int batch = 1 + random.nextInt(1 << random.nextInt(1, 13));
          try {
            check(full, settings, batch, program);
          } catch (AssertionError e) {
            throw new AssertionError(settings + ", batches of " + batch, e);
          }
        });
  }

  /** The frame above the mark dies in a longjmp, and nothing is recorded until then. */
  @Test
  void aTriggerThatFillsTheBatchStopsEitherProbe() {
    TraceSettings settings =
        TraceSettings.standard()
            .withOn(false)
            .withNotraces(FunctionPattern.parseAll("leap_leaf"))
            .withTriggers(
                List.of(Trigger.parse("leap_loop:traceon"), Trigger.parse("leap_out:traceoff")));
    both(Zoo.images().getFirst(), settings, 2, "longjmp");
  }

  private static void check(Run full, TraceSettings settings, int batch, String program) {
    Run run = both(full.image(), settings, batch, program);
    assertThat(run.instructions()).as("virtual time").isEqualTo(full.instructions());
    assertThat(run.output()).isEqualTo(full.output());
    Oracle oracle = new Oracle(full.image(), full.records());
    if (oracle.isBalanced()) {
      RecordBatch expected = expected(oracle, full.image(), settings);
      Records.assertSame("oracle", expected, "C", run.records());
    }
  }

  private static TraceSettings settings(Run full, SplittableRandom random) {
    List<String> names = List.copyOf(full.counts().keySet());
    List<Trigger> triggers = new ArrayList<>();
    for (int i = 0; i < 1 + random.nextInt(4); i++) {
      String limit = random.nextBoolean() ? "" : ":" + (1 + random.nextInt(3));
      String action = List.of("traceon", "traceoff", "stacktrace").get(random.nextInt(3));
      triggers.add(Trigger.parse(names.get(random.nextInt(names.size())) + ":" + action + limit));
    }
    TraceSettings settings =
        TraceSettings.standard().withTriggers(triggers).withOn(random.nextInt(3) > 0);
    return random.nextBoolean()
        ? settings
        : settings.withNotraces(
            List.of(FunctionPattern.parse(names.get(random.nextInt(names.size())))));
  }

  /** Goes through all calls in order, as one who reads the program would. */
  private static RecordBatch expected(Oracle oracle, LoadedImage image, TraceSettings settings) {
    List<Trigger> triggers = settings.triggers();
    int[] left = triggers.stream().mapToInt(Trigger::limit).toArray();
    Map<Oracle.Call, List<Mark>> marks = new HashMap<>();
    Predicate<PatternSubject> selected = settings.selected();
    boolean on = settings.on();
    for (Oracle.Call call : oracle.calls()) {
      List<Mark> here = new ArrayList<>();
      for (int i = 0; i < left.length; i++) {
        boolean fires = triggers.get(i).pattern().matches(SettingsTest.subject(image, call));
        boolean toOn = triggers.get(i).action() == Trigger.Action.TRACEON;
        boolean switches = toOn || triggers.get(i).action() == Trigger.Action.TRACEOFF;
        if (fires && left[i] != 0 && !(switches && on == toOn)) {
          left[i]--;
          on = switches ? toOn : on;
          here.add(Mark.valueOf(triggers.get(i).action().name()));
        }
      }
      marks.put(call, here);
      call.kept = on && selected.test(SettingsTest.subject(image, call));
    }
    return oracle.graph(
        _ -> true,
        (call, to) ->
            marks
                .get(call)
                .forEach(m -> to.add(RecordBatch.MARK, call.time, 0, call.selfPc, m.code(), 0, 0)));
  }

  private static Run both(LoadedImage image, TraceSettings settings, int batch, String program) {
    List<Run> runs =
        Arrays.stream(new ProbeKind[] {ProbeKind.JAVA, ProbeKind.NATIVE})
            .map(
                probe ->
                    Run.of(
                        image,
                        Run.options()
                            .withProbe(probe)
                            .withTrace(settings)
                            .withRecordsPerChunk(batch),
                        997,
                        core -> {},
                        program))
            .toList();
    Run java = runs.getFirst();
    Run inC = runs.getLast();
    Records.assertSame(java, inC);
    return inC;
  }
}
