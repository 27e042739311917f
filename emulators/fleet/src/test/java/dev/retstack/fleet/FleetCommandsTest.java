package dev.retstack.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.settings.FunctionPattern;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.machine.testing.Images;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.ControlStatus;
import dev.retstack.schema.record.RecordBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Cores of several ISAs follow commands while they run. */
class FleetCommandsTest {
  private static final String[][] IMAGES = {
    {"x86_64", "fentry"}, {"riscv64", "mcount"}, {"s390x", "mcount"}
  };

  private static List<CoreSpec> cores(int count) throws Exception {
    List<LoadedImage> images = new ArrayList<>();
    for (String[] image : IMAGES) {
      images.add(LoadedImage.load(Images.of(image[0], image[1])));
    }
    List<CoreSpec> cores = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      LoadedImage image = images.get(i % images.size());
      cores.add(
          new CoreSpec(
              image.isa().name() + "-" + i,
              image,
              // many cores take long to fill a big chunk
              RunningFleet.busy().withRecordsPerChunk(count > IMAGES.length * 2 ? 300 : 2_000),
              Map.of("rack", Integer.toString(i % 2))));
    }
    return cores;
  }

  private static FleetOptions options() {
    return FleetOptions.standard().withThreads(2).withSliceInstructions(50_000);
  }

  private static RunningFleet start(int cores) throws Exception {
    return new RunningFleet(cores(cores), options()).start();
  }

  /** Names of functions entered from one record to another. */
  private static Set<String> functions(LoadedImage image, RecordBatch records, int from, int end) {
    Set<String> names = new TreeSet<>();
    for (int i = from; i < end; i++) {
      if (records.kind[i] == RecordBatch.ENTRY) {
        names.add(image.elf().functionAt(records.selfPc[i]).map(Symbol::name).orElseThrow());
      }
    }
    return names;
  }

  private static int indexOfMark(RecordBatch records) {
    for (int i = 0; i < records.size(); i++) {
      if (records.kind[i] == RecordBatch.MARK) {
        return i;
      }
    }
    return -1;
  }

  /** With a buffer for each core, and with buffers that cores share. */
  @ParameterizedTest
  @ValueSource(ints = {6, 131})
  void aFilterCountsFromTheMomentThatTheAnswerNames(int count) throws Exception {
    RunningFleet fleet = start(count);
    List<ControlResult> answers;
    try (fleet) {
      fleet.awaitChunks("riscv64-1", 1);
      fleet.awaitChunks("riscv64-4", 1);
      answers = fleet.command("isa=riscv64,label=rack:1", "set-filter", "w200_00?", "nothing");
      fleet.awaitChunks("riscv64-1", 4); // the first two may have little behind the command
      fleet.awaitChunks("riscv64-4", 2);
    }

    List<String> selected =
        cores(count).stream()
            .filter(c -> c.name().startsWith("riscv64") && c.labels().get("rack").equals("1"))
            .map(CoreSpec::name)
            .toList();
    assertThat(answers.getFirst().getStatus()).isEqualTo(ControlStatus.ACCEPTED);
    assertThat(answers.subList(1, answers.size()))
        .extracting(ControlResult::getCore)
        .containsExactlyInAnyOrderElementsOf(selected);
    for (ControlResult answer : answers.subList(1, answers.size())) {
      assertThat(answer.getStatus()).isEqualTo(ControlStatus.APPLIED);
      assertThat(answer.getSites()).isEqualTo(10);
      assertThat(answer.getSitesOff()).isEqualTo(answer.getSitesAll() - 10);
      assertThat(answer.getSettings()).containsExactly("set-filter w200_00? nothing");
      assertThat(answer.getReasons())
          .singleElement()
          .asString()
          .contains("no function of zoo-riscv64-mcount.elf is 'nothing'");
    }
    for (CoreSpec core : cores(count)) {
      RecordBatch records = fleet.stream(core.name());
      int mark = indexOfMark(records);
      if (!selected.contains(core.name())) {
        assertThat(mark).isEqualTo(-1);
        continue;
      }
      ControlResult answer =
          answers.stream().filter(a -> a.getCore().equals(core.name())).findFirst().orElseThrow();
      assertThat(records.time[mark]).isEqualTo(answer.getTime());
      assertThat(records.retP[mark]).isEqualTo(answer.getNumber());
      assertThat(functions(core.image(), records, mark, records.size()))
          .allMatch(name -> name.matches("w200_00."));
    }
    RecordBatch one = fleet.stream("riscv64-1");
    int mark = indexOfMark(one);
    LoadedImage image = cores(count).get(1).image();
    assertThat(functions(image, one, 0, mark)).hasSizeGreaterThan(100);
    assertThat(functions(image, one, mark, one.size())).hasSize(10);
  }

  /** What cannot be done is said, and leaves everything as it was. */
  @Test
  void refusals() throws Exception {
    try (RunningFleet fleet = start(3)) {
      fleet.awaitChunks("riscv64-1", 1);
      List<ControlResult> unknown = fleet.command("isa=riscv64", "set-filter", "run_w20");
      assertThat(unknown.getLast().getStatus()).isEqualTo(ControlStatus.REFUSED);
      assertThat(unknown.getLast().getReasons())
          .singleElement()
          .asString()
          .startsWith("no function of zoo-riscv64-mcount.elf is 'run_w20': did you mean run_w200");

      assertThat(fleet.command("isa=mips", "off"))
          .singleElement()
          .satisfies(
              answer -> {
                assertThat(answer.getStatus()).isEqualTo(ControlStatus.REFUSED);
                assertThat(answer.getReasons())
                    .containsExactly(
                        "target 'isa=mips' selects none of 3 cores: there are isa=riscv64, s390x,"
                            + " x86_64");
              });
      assertThat(fleet.command("all", "set-fliter", "a").getFirst().getReasons())
          .singleElement()
          .asString()
          .startsWith("no such command: 'set-fliter'; there are set-filter");
      assertThat(fleet.command("every", "off").getFirst().getReasons())
          .singleElement()
          .asString()
          .startsWith("no target: 'every'; say all");
      assertThat(fleet.command("all", "snapshot").getLast().getReasons())
          .singleElement()
          .asString()
          .endsWith("keeps no records: set-flight-recorder first");

      fleet.send("late", "all", System.currentTimeMillis() - 5_000, "off");
      assertThat(fleet.answers("late").getLast().getReasons())
          .singleElement()
          .asString()
          .matches("the deadline passed [56]\\d{3} ms ago; give it longer");

      List<ControlResult> status = fleet.command("all", "status");
      assertThat(status).hasSize(4);
      assertThat(status.subList(1, 4))
          .allMatch(a -> a.getStatus() == ControlStatus.APPLIED && a.getSettings().isEmpty());
    }
  }

  @Test
  void offStopsRecordsAndResetBringsBackWhatTheCoreWasStartedWith() throws Exception {
    List<CoreSpec> cores = new ArrayList<>();
    TraceSettings start = TraceSettings.standard().withFilters(FunctionPattern.parseAll("w200_1*"));
    for (CoreSpec core : cores(3)) {
      cores.add(new CoreSpec(core.name(), core.image(), core.options().withTrace(start)));
    }
    RunningFleet fleet = new RunningFleet(cores, options()).start();
    try (fleet) {
      fleet.awaitChunks("s390x-2", 1);
      ControlResult off = fleet.command("core=s390x-2", "off").getLast();
      assertThat(off.getSites()).isZero();
      assertThat(off.getSettings()).containsExactly("set-filter w200_1*", "off");
      fleet.command("core=s390x-2", "set-filter", "w200_00?");
      ControlResult reset = fleet.command("all", "reset").getLast();
      assertThat(reset.getSettings()).containsExactly("set-filter w200_1*");
      fleet.awaitChunks("s390x-2", 2);
    }
    RecordBatch records = fleet.stream("s390x-2");
    assertThat(functions(cores.get(2).image(), records, 0, records.size()))
        .hasSizeGreaterThan(90)
        .allMatch(name -> name.startsWith("w200_1"));
  }

  /** What was commanded before a fleet starts counts for it. */
  @Test
  void aFleetThatStartsLaterTracesTheSame() throws Exception {
    RunningFleet fleet = new RunningFleet(cores(3), options());
    fleet.send("1", "all", 0, "set-filter", "w200_*");
    fleet.send("2", "isa=riscv64", 0, "set-filter", "w200_11?");
    fleet.send("3", "isa=riscv64", 0, "set-filter", "nobody");
    fleet.send("4", "label=rack:0", 0, "set-max-depth", "4");
    fleet.start();
    try (fleet) {
      fleet.awaitChunks("riscv64-1", 1);
      List<ControlResult> status = fleet.command("all", "status");
      assertThat(status.subList(1, 4))
          .extracting(ControlResult::getCore, ControlResult::getSettings)
          .containsExactlyInAnyOrder(
              tuple("x86_64-0", List.of("set-filter w200_*", "set-max-depth 4")),
              tuple("riscv64-1", List.of("set-filter w200_11?")),
              tuple("s390x-2", List.of("set-filter w200_*", "set-max-depth 4")));
      fleet.awaitChunks("riscv64-1", 2);
    }
    RecordBatch records = fleet.stream("riscv64-1");
    assertThat(functions(cores(2).getLast().image(), records, 0, records.size())).hasSize(10);
  }

  /** A core that keeps only its last records sends them at its end, and says what is missing. */
  @Test
  void aFlightRecorderSendsTheEndOfTheRun() throws Exception {
    LoadedImage image = LoadedImage.load(Images.of("riscv64", "mcount"));
    Run whole = Run.of(image, "sort");
    RecordBatch all = whole.records();
    int keep = 300;
    CoreSpec core =
        new CoreSpec(
            "fr",
            image,
            CoreOptions.of(LinuxOptions.of("zoo").withArguments(List.of("zoo", "sort")))
                .withRecordsPerChunk(100)
                .withTrace(TraceSettings.standard().withFlightRecorder(keep)));
    RunningFleet fleet = new RunningFleet(List.of(core), options().withSliceInstructions(777));
    fleet.start();
    assertThat(fleet.join()).allMatch(CoreResult::ok);
    RecordBatch records = fleet.stream("fr");

    RecordBatch expected = new RecordBatch(keep + 1);
    int lost = all.size() - keep;
    expected.add(RecordBatch.LOST, all.time[lost - 1], 0, lost, 0, 0, 0);
    expected.addAll(all, lost, all.size());
    assertThat(records).isEqualTo(expected);
  }

  @Test
  void snapshotsAddUpToTheWholeRun() throws Exception {
    RunningFleet fleet = start(3);
    List<ControlResult> snapshot;
    try (fleet) {
      fleet.awaitChunks("x86_64-0", 1);
      fleet.command("all", "set-flight-recorder", "1000");
      fleet.awaitProgress("x86_64-0");
      int before = fleet.chunks("x86_64-0");
      snapshot = fleet.command("all", "snapshot");
      fleet.awaitChunksInAll("x86_64-0", before + 1);
      fleet.awaitProgress("x86_64-0");
      before = fleet.chunks("x86_64-0");
      fleet.command("all", "set-flight-recorder");
      fleet.awaitChunksInAll("x86_64-0", before + 2);
    }
    assertThat(snapshot.subList(1, 4)).allMatch(a -> a.getStatus() == ControlStatus.APPLIED);
    for (CoreSpec core : cores(3)) {
      RecordBatch records = fleet.stream(core.name());
      CoreSpec alone =
          new CoreSpec(
              core.name(),
              core.image(),
              core.options().withInstructionLimit(records.time[records.size() - 1] + 1));
      RunningFleet undisturbed = new RunningFleet(List.of(alone), options()).start();
      undisturbed.join();
      compare(records, undisturbed.stream(core.name()));
    }
  }

  /** Every record is that of the whole run, where it stands once the lost ones are counted. */
  private static void compare(RecordBatch records, RecordBatch whole) {
    int at = 0;
    long lost = 0;
    for (int i = 0; i < records.size(); i++) {
      switch (records.kind[i]) {
        case RecordBatch.MARK -> {}
        case RecordBatch.LOST -> {
          at += (int) records.selfPc[i];
          lost += records.selfPc[i];
        }
        default -> {
          boolean same =
              records.kind[i] == whole.kind[at]
                  && records.time[i] == whole.time[at]
                  && records.selfPc[i] == whole.selfPc[at];
          if (!same) {
            throw new AssertionError("record %d is not record %d".formatted(i, at));
          }
          at++;
        }
      }
    }
    assertThat(lost).isPositive();
    assertThat(at).isBetween(whole.size() - 1, whole.size());
  }
}
