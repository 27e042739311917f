package dev.retstack.fleet.isolate;

import static dev.retstack.fleet.isolate.Isolation.signal;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.RunningFleet;
import dev.retstack.fleet.isolate.Isolation.Told;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.machine.testing.Images;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.ControlStatus;
import dev.retstack.schema.record.RecordBatch;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Commands to cores in processes of their own, and what restarted ones make of them. */
@Timeout(180)
class IsolatedControlTest {
  private static final FleetOptions OPTIONS =
      FleetOptions.standard().withThreads(2).withSliceInstructions(50_000);

  private final Told told = new Told();

  private static CoreSpec core(String name, String isa, String convention, String rack)
      throws Exception {
    LoadedImage image = LoadedImage.load(Images.of(isa, convention));
    return new CoreSpec(name, image, RunningFleet.busy(), Map.of("rack", rack));
  }

  private static CoreSpec riscv(String name, String rack) throws Exception {
    return core(name, "riscv64", "mcount", rack);
  }

  private RunningFleet fleet(CoreSpec... cores) {
    return new RunningFleet(
        List.of(cores),
        OPTIONS,
        (specs, options, sink, channel) ->
            IsolatedFleet.run(specs, options, 3, sink, told, channel));
  }

  /** Functions that were entered from a record on. */
  private static Set<String> functions(CoreSpec core, RecordBatch records, int from) {
    Set<String> names = new TreeSet<>();
    for (int i = from; i < records.size(); i++) {
      if (records.kind[i] == RecordBatch.ENTRY) {
        names.add(core.image().elf().functionAt(records.selfPc[i]).map(Symbol::name).orElseThrow());
      }
    }
    return names;
  }

  private static int mark(RecordBatch records) {
    for (int i = 0; i < records.size(); i++) {
      if (records.kind[i] == RecordBatch.MARK) {
        return i;
      }
    }
    return -1;
  }

  @Test
  void aCommandReachesTheCoresThatItSelectsInTheirProcesses() throws Exception {
    CoreSpec a = riscv("a", "0");
    CoreSpec b = riscv("b", "1");
    CoreSpec c = core("c", "s390x", "mcount", "1");
    RunningFleet fleet = fleet(a, b, c).start();
    List<ControlResult> answers;
    List<ControlResult> none;
    List<ControlResult> misprint;
    try (fleet) {
      for (String core : List.of("a", "b", "c")) {
        fleet.awaitChunks(core, 1);
      }
      answers = fleet.command("label.rack=1", "set-filter", "w200_00?", "nothing");
      none = fleet.command("isa=mips", "off");
      misprint = fleet.command("core=c", "set-notrace", "w200_oo1");
      for (String core : List.of("a", "b", "c")) {
        fleet.awaitChunks(core, 2);
      }
    }
    assertThat(told.pids).hasSize(2);
    assertThat(told.deaths).isEmpty();
    assertThat(answers.getFirst().getStatus()).isEqualTo(ControlStatus.ACCEPTED);
    assertThat(answers.subList(1, answers.size()))
        .extracting(ControlResult::getCore)
        .containsExactlyInAnyOrder("b", "c");
    for (ControlResult answer : answers.subList(1, answers.size())) {
      assertThat(answer.getStatus()).isEqualTo(ControlStatus.APPLIED);
      assertThat(answer.getSession()).isEqualTo(OPTIONS.session());
      assertThat(answer.getSites()).isEqualTo(10);
      assertThat(answer.getSitesOff()).isEqualTo(answer.getSitesAll() - 10);
      assertThat(answer.getSettings()).containsExactly("set-filter w200_00? nothing");
      assertThat(answer.getReasons()).singleElement().asString().contains("is 'nothing'");
      CoreSpec core = answer.getCore().equals("b") ? b : c;
      RecordBatch records = fleet.stream(core.name());
      int mark = mark(records);
      assertThat(records.time[mark]).isEqualTo(answer.getTime());
      assertThat(functions(core, records, 0).size()).isGreaterThan(10);
      assertThat(functions(core, records, mark))
          .isNotEmpty()
          .allSatisfy(name -> assertThat(name).matches("w200_00."));
    }
    assertThat(mark(fleet.stream("a"))).isEqualTo(-1);
    assertThat(none)
        .singleElement()
        .satisfies(
            refused ->
                assertThat(refused.getReasons())
                    .containsExactly(
                        "target 'isa=mips' selects none of 3 cores: there are isa=riscv64, s390x"));
    assertThat(misprint.getLast().getStatus()).isEqualTo(ControlStatus.REFUSED);
    assertThat(misprint.getLast().getReasons())
        .singleElement()
        .asString()
        .contains("did you mean w200_001");
  }

  /**
   * What was commanded before it started holds for a core, and for the core that takes its place.
   */
  @Test
  void aRestartedCoreTracesWhatItsForerunnerDid() throws Exception {
    CoreSpec a = riscv("a", "0");
    RunningFleet fleet = fleet(a);
    fleet.send("before", "core=a", 0, "set-filter", "w200_00?");
    List<ControlResult> status;
    List<ControlResult> last;
    try (fleet) {
      fleet.start();
      fleet.awaitChunks("a", 1);
      fleet.command("label.rack=0", "set-notrace", "w200_001");
      signal("KILL", told.pids.get(a.image().elf().name()));
      fleet.awaitChunks("a.restart-1", 1);
      status = fleet.command("core=a", "status");
      last = fleet.command("core=a.restart-1", "set-notrace", "w200_001", "w200_002");
    }
    assertThat(last).extracting(ControlResult::getCore).containsExactly("", "a.restart-1");
    assertThat(last.getLast().getStatus()).as("%s", last).isEqualTo(ControlStatus.APPLIED);
    assertThat(status).extracting(ControlResult::getCore).containsExactly("", "a.restart-1");
    assertThat(status.getLast().getSettings())
        .containsExactly("set-filter w200_00?", "set-notrace w200_001");
    assertThat(functions(a, fleet.stream("a"), 0)).contains("w200_001").hasSizeLessThan(11);
    RecordBatch restarted = fleet.stream("a.restart-1");
    assertThat(functions(a, restarted, 0))
        .contains("w200_002")
        .doesNotContain("w200_001")
        .hasSizeLessThan(10);
    assertThat(functions(a, restarted, mark(restarted))).doesNotContain("w200_002");
  }

  @Test
  void aProcessThatDiesOverACommandAnswersThroughItsParent() throws Exception {
    CoreSpec a = riscv("a", "0");
    CoreSpec b = riscv("b", "0");
    RunningFleet fleet = fleet(a, b);
    List<ControlResult> answers;
    try (fleet) {
      fleet.start();
      fleet.awaitChunks("a", 1);
      fleet.awaitChunks("b", 1);
      long pid = told.pids.get(a.image().elf().name());
      signal("STOP", pid);
      fleet.send("lost", "all", 0, "set-filter", "w200_00?");
      signal("KILL", pid);
      answers = fleet.answers("lost");
      fleet.awaitChunks("a.restart-1", 1);
      assertThat(fleet.command("all", "status"))
          .filteredOn(answer -> !answer.getCore().isEmpty())
          .extracting(answer -> answer.getCore() + " " + answer.getSettings())
          .as("it is followed all the same, by those that start again")
          .containsExactlyInAnyOrder(
              "a.restart-1 [set-filter w200_00?]", "b.restart-1 [set-filter w200_00?]");
    }
    assertThat(answers.getFirst().getCores()).isEqualTo(2);
    assertThat(answers.subList(1, 3))
        .allSatisfy(
            answer -> {
              assertThat(answer.getStatus()).isEqualTo(ControlStatus.REFUSED);
              assertThat(answer.getReasons())
                  .containsExactly("the core's process is gone: signal 9");
            });
  }
}
