package dev.retstack.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.settings.FunctionPattern;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.fleet.settings.Trigger;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.machine.testing.Images;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.ControlStatus;
import dev.retstack.schema.record.Mark;
import dev.retstack.schema.record.RecordBatch;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A function whose entry makes a core send what its flight recorder holds. */
class SnapshotTriggerTest {
  private static final int KEEP = 40;

  static Stream<Arguments> cores() {
    return Stream.of("x86_64-fentry", "riscv64-mcount", "s390x-patchable", "mips-mcount")
        .flatMap(
            image ->
                Stream.of(ProbeKind.JAVA, ProbeKind.NATIVE)
                    .map(probe -> Arguments.of(image, probe)));
  }

  private static LoadedImage image(String name) throws Exception {
    int dash = name.indexOf('-');
    return LoadedImage.load(Images.of(name.substring(0, dash), name.substring(dash + 1)));
  }

  private static FleetOptions options() {
    return FleetOptions.standard().withThreads(1).withSliceInstructions(5_000);
  }

  /** The records are those of the whole run: the last ones before each of the first three calls. */
  @ParameterizedTest
  @MethodSource("cores")
  void sendsTheLastRecordsBeforeEachOfTheFirstCallsAndTheEnd(String name, ProbeKind probe)
      throws Exception {
    LoadedImage image = image(name);
    TraceSettings settings =
        TraceSettings.standard()
            .withFlightRecorder(KEEP)
            .withTriggers(List.of(Trigger.parse("dispatch_twice:snapshot:3")));
    CoreOptions core =
        CoreOptions.of(LinuxOptions.of("zoo").withArguments(List.of("zoo", "dispatch", "60")))
            .withProbe(probe);
    RecordBatch whole = stream(new CoreSpec("whole", image, core));
    RecordBatch sent = stream(new CoreSpec("sent", image, core.withTrace(settings)));
    assertThat(sent).isEqualTo(expected(image, whole));
  }

  private static RecordBatch stream(CoreSpec core) throws Exception {
    RunningFleet fleet = new RunningFleet(List.of(core), options()).start();
    assertThat(fleet.join()).allMatch(CoreResult::ok);
    return fleet.stream(core.name());
  }

  /** By hand: a list of all that could be sent, from which the last ones are taken. */
  private static RecordBatch expected(LoadedImage image, RecordBatch whole) {
    RecordBatch expected = new RecordBatch(whole.size() + 16);
    RecordBatch all = new RecordBatch(whole.size() + 3);
    int sent = 0;
    int marks = 0;
    for (int i = 0; i < whole.size(); i++) {
      String name = image.elf().functionAt(whole.selfPc[i]).map(Symbol::name).orElseThrow();
      if (whole.kind[i] == RecordBatch.ENTRY && name.equals("dispatch_twice") && marks < 3) {
        marks++;
        int snapshot = Mark.SNAPSHOT.code();
        all.add(RecordBatch.MARK, whole.time[i], 0, whole.selfPc[i], snapshot, 0, 0);
        send(all, sent, expected);
        sent = all.size();
      }
      all.addAll(whole, i, i + 1);
    }
    assertThat(marks).isEqualTo(3);
    send(all, sent, expected);
    return expected;
  }

  private static void send(RecordBatch all, int sent, RecordBatch to) {
    int from = Math.max(sent, all.size() - KEEP);
    if (from > sent) {
      to.add(RecordBatch.LOST, all.time[from - 1], 0, from - sent, 0, 0, 0);
    }
    to.addAll(all, from, all.size());
  }

  /** It does not wait for a batch to be full, nor for a clock, nor for the end. */
  @ParameterizedTest
  @MethodSource("cores")
  void sendsWhileTheCoreRunsOn(String name, ProbeKind probe) throws Exception {
    LoadedImage image = image(name);
    TraceSettings settings =
        TraceSettings.standard()
            .withFilters(FunctionPattern.parseAll("run_w200"))
            .withFlightRecorder(KEEP)
            .withTriggers(List.of(Trigger.parse("run_w200:snapshot")));
    CoreSpec core =
        new CoreSpec("one", image, RunningFleet.busy().withProbe(probe).withTrace(settings));
    // the first slice, which ends with a chunk of its own, ends before the function is entered
    FleetOptions options = options().withSliceInstructions(10);
    RunningFleet fleet = new RunningFleet(List.of(core), options).start();
    try (fleet) {
      fleet.awaitChunksInAll("one", 1);
      fleet.awaitProgress("one");
      assertThat(fleet.chunks("one")).isEqualTo(1);
    }
    RecordBatch records = fleet.stream("one");
    assertThat(records.kind[0]).isEqualTo(RecordBatch.MARK);
    assertThat(records.fromPc[0]).isEqualTo(Mark.SNAPSHOT.code());
    assertThat(records.kind[1]).isEqualTo(RecordBatch.ENTRY);
    assertThat(records.size()).isEqualTo(2);
  }

  /** Two commands in any order; before the second one the core says what it lacks. */
  @Test
  void aTriggerWithoutAFlightRecorderSaysSo() throws Exception {
    CoreSpec core = new CoreSpec("one", image("riscv64-mcount"), RunningFleet.busy());
    RunningFleet fleet = new RunningFleet(List.of(core), options()).start();
    try (fleet) {
      fleet.awaitChunks("one", 1);
      ControlResult lacks = fleet.command("all", "set-trigger", "w200_*:snapshot:1").getLast();
      assertThat(lacks.getStatus()).isEqualTo(ControlStatus.APPLIED);
      assertThat(lacks.getReasons())
          .containsExactly(
              "trigger w200_*:snapshot:1 sends nothing while core one keeps no records:"
                  + " set-flight-recorder");
      ControlResult has = fleet.command("all", "set-flight-recorder", "100").getLast();
      assertThat(has.getReasons()).isEmpty();
    }
  }
}
