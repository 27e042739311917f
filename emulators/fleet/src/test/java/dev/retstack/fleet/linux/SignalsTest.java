package dev.retstack.fleet.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.zoo.EachIsa;
import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.linux.thread.Schedule;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.SignalContext;
import dev.retstack.testing.Seeds;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Programs whose signal handlers run: they do what they do on a machine, and each handler is a
 * context of the trace. What is not installed is skipped. {@code -Dretstack.zoo=all} takes all
 * forms and more schedules.
 */
class SignalsTest {
  private static final long SLICE = 1_000_000;

  /** Slices of another length, which the other forms have only with the probe in Java. */
  private static final Set<SignalForm> SHORT_SLICES =
      EnumSet.of(SignalForm.X86_64_FENTRY, SignalForm.ARM, SignalForm.S390X_STATIC);

  @TempDir private Path folder;

  private static HostedRun run(Path program, ProbeKind probe, long seed, long slice)
      throws IOException, InterruptedException {
    CoreOptions core =
        CoreOptions.of(LinuxOptions.of("prog"))
            .withProbe(probe)
            .withSchedule(new Schedule(1000, seed))
            .withInstructionLimit(50_000_000);
    return HostedRun.of(program, core, "", slice);
  }

  private HostedRun likeElsewhere(SignalForm form, String source) throws Exception {
    Path program = form.build(folder, source);
    HostedRun first = likeInJava(form, program);
    String printed = first.stdout() + "code " + first.result().ending().exitCode();
    assertThat(printed).isEqualTo(form.elsewhere(program));
    return first;
  }

  private static HostedRun likeInJava(SignalForm form, Path program) throws Exception {
    HostedRun first = run(program, ProbeKind.AUTO, 0, SLICE);
    long seed = Seeds.fresh();
    long slice = new SplittableRandom(seed).nextLong(300, 8_300);
    HostedRun inJava = run(program, ProbeKind.JAVA, 0, slice);

    if (EachIsa.ALL || SHORT_SLICES.contains(form)) {
      assertThat(run(program, ProbeKind.AUTO, 0, 777).records()).isEqualTo(first.records());
    }
    assertThat(inJava.records()).as("seed %d, slice %d", seed, slice).isEqualTo(first.records());
    assertThat(first.result().unsupported()).isEmpty();
    return first;
  }

  /** How many handlers began, by the name of the signal. */
  private static Map<String, Integer> handlers(HostedRun run) {
    Map<String, Integer> begun = new TreeMap<>();
    for (String record : run.records()) {
      String[] f = record.split(" ", -1);
      if (Integer.parseInt(f[0]) == RecordBatch.INTERRUPT_ENTER) {
        begun.merge(SignalContext.name(Long.parseLong(f[3], 16)), 1, Integer::sum);
      }
    }
    return begun;
  }

  /**
   * Every handler is a traced function: it is the first one that is entered in its context, if no
   * other signal comes before its first instruction.
   */
  private static void everyContextBeginsWithItsHandler(HostedRun run) {
    List<String> records = run.records();
    for (int i = 0; i + 1 < records.size(); i++) {
      if (records.get(i).startsWith(RecordBatch.INTERRUPT_ENTER + " ")) {
        String[] next = records.get(i + 1).split(" ", -1);
        assertThat(Integer.parseInt(next[0]))
            .isIn((int) RecordBatch.ENTRY, (int) RecordBatch.INTERRUPT_ENTER);
        assertThat(next[2]).as(records.get(i + 1)).isEqualTo("0");
      }
    }
  }

  private static int of(HostedRun run, byte kind) {
    return (int) run.records().stream().filter(r -> r.startsWith(kind + " ")).count();
  }

  private static int printed(HostedRun run, String what) {
    Matcher number = Pattern.compile(what + " (\\d+)").matcher(run.stdout());
    assertThat(number.find()).isTrue();
    return Integer.parseInt(number.group(1));
  }

  @ParameterizedTest
  @MethodSource("dev.retstack.fleet.linux.SignalForm#some")
  void handlersAreCalledAsOftenAsTheProgramCounts(SignalForm form) throws Exception {
    HostedRun run = likeElsewhere(form, "signals/handlers.c");

    Map<String, Integer> calls = run.calls();
    assertThat(calls).containsEntry("work", printed(run, "worked"));
    assertThat(calls).containsEntry("jumps", 7 + 7 + 15).containsEntry("outer", 5);
    Map<String, Integer> handlers = handlers(run);
    assertThat(handlers)
        .containsEntry("SIGINT", 2 + 7 + 7)
        .containsEntry("SIGSEGV", 2 + 15 + 2)
        .containsEntry("SIGRT40", 2)
        .containsEntry("SIGHUP", 2 + 4);
    int called =
        calls.get("count")
            + calls.get("changes")
            + calls.get("outer")
            + calls.get("jumps")
            + calls.get("onStack")
            + calls.get("repairs")
            + calls.get("floating");
    assertThat(handlers.values().stream().mapToInt(n -> n).sum()).isEqualTo(called);
    assertThat(of(run, RecordBatch.INTERRUPT_EXIT)).isEqualTo(called);
    everyContextBeginsWithItsHandler(run);
  }

  @ParameterizedTest
  @MethodSource("dev.retstack.fleet.linux.SignalForm#some")
  void whatAHandlerChangesTakesEffect(SignalForm form) throws Exception {
    Assumptions.assumeTrue(
        form != SignalForm.PPC64, "skipped: swapcontext of ppc64 crashes under qemu-user too");
    HostedRun run = likeElsewhere(form, "signals/contexts.c");

    assertThat(run.calls()).containsEntry("work", printed(run, "entered") + 10);
    int traps = printed(run, "trap"); // none on s390x: a breakpoint is illegal without a tracer
    assertThat(handlers(run).getOrDefault("SIGTRAP", 0)).isEqualTo(traps);
    assertThat(handlers(run))
        .containsEntry("SIGILL", 5 + 5 - traps)
        .containsEntry("SIGSEGV", 3 + 10);
  }

  @ParameterizedTest
  @MethodSource("dev.retstack.fleet.linux.SignalForm#some")
  void whatAHandlerUsesIsKept(SignalForm form) throws Exception {
    HostedRun run = likeElsewhere(form, "signals/kept.c");

    assertThat(run.calls().get("onTick")).isGreaterThan(100);
  }

  /**
   * Backtraces, clean-ups and the ends of threads, from handlers with and without SA_SIGINFO, on
   * the same stack and on a separate one. qemu-user 7.2 is no oracle: on Power it has no shared
   * object of the kernel, and glibc's {@code backtrace} fails there.
   */
  @ParameterizedTest
  @MethodSource("dev.retstack.fleet.linux.SignalForm#some")
  void unwindersFindAndLeaveWhatAHandlerInterrupted(SignalForm form) throws Exception {
    boolean alone = SignalForm.threaded().noneMatch(form::equals);
    List<String> flags = new ArrayList<>(List.of("-fexceptions", "-fnon-call-exceptions"));
    flags.addAll(List.of("-fasynchronous-unwind-tables", alone ? "-DALONE" : "-UALONE"));
    Path program = form.build(folder, "signals/unwound.c", flags.toArray(String[]::new));

    StringBuilder expected = new StringBuilder();
    for (String flag :
        List.of("none", "SA_SIGINFO", "none, SA_ONSTACK", "SA_SIGINFO, SA_ONSTACK")) {
      String handler = flag.startsWith("SA_SIGINFO") ? "asks answers" : "asks";
      String callers = "inner middle outer";
      expected.append(
          """
          %s:

          backtrace look %2$s raises %3$s main
          unwinder look %2$s raises %3$s main
           %2$s raises %3$s

          backtrace look %2$s faults %3$s main
          unwinder look %2$s faults %3$s main
          leaves %2$s %3$s
          """
              .formatted(flag, handler, callers));
    }
    if (!alone) {
      expected.append(
          """
          cancelled where it waits: waits inner middle outer = cancelled
          cancelled where it runs: inner middle outer = cancelled
          ends in a handler: ends inner middle outer = ended
          """);
    }
    assertThat(likeInJava(form, program).stdout()).isEqualTo(expected.toString());
  }

  /** The canary: vectors that nobody keeps beside the frame are found to be lost. */
  @Test
  void whatNobodyKeepsIsLost() throws Exception {
    Path program = SignalForm.PPC64LE_STATIC.build(folder, "signals/kept.c", "-DCOPIED");

    assertThat(run(program, ProbeKind.AUTO, 0, SLICE).stdout()).contains("vectors 0");
  }

  /**
   * An ISA whose handlers and threads run has a form, with shared objects and without. Debian has
   * no C library of riscv32.
   */
  @Test
  void everyIsaWithHandlersHasForms() {
    for (Isa isa : Isas.all()) {
      String name = isa.name().toUpperCase(Locale.ROOT);
      List<String> wanted =
          isa.syscalls().dynamic().sysroots().isEmpty()
              ? List.of(name + "_STATIC")
              : List.of(name, name + "_STATIC");
      if (isa.syscalls().signals().started()) {
        assertThat(SignalForm.values()).extracting(Enum::name).containsAll(wanted);
        assertThat(SignalForm.OF_EACH_ISA)
            .extracting(Enum::name)
            .as("in every campaign")
            .anyMatch(form -> form.startsWith(name));
      }
      if (isa.syscalls().threads().started() && !isa.name().equals("riscv32")) {
        assertThat(ThreadsTest.Form.values()).extracting(Enum::name).containsAll(wanted);
        assertThat(ThreadsTest.OF_EACH_ISA)
            .extracting(Enum::name)
            .as("in every campaign")
            .anyMatch(form -> form.startsWith(name));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("dev.retstack.fleet.linux.SignalForm#kinds")
  void timersAndThreads(SignalForm form) throws Exception {
    HostedRun run = likeElsewhere(form, "signals/timers.c");

    Map<String, Integer> handlers = handlers(run);
    assertThat(handlers)
        .containsEntry("SIGALRM", run.calls().get("onAlarm"))
        .containsEntry("SIGVTALRM", run.calls().get("onVirtual"))
        .containsEntry("SIGPROF", run.calls().get("onProfile"))
        .containsEntry("SIGUSR1", 5 + 10 + 15 + 20);
    everyTickIsInTime(run);
  }

  /** A timer of 100 us expires each 100,000 instructions, at the first place that allows it. */
  private static void everyTickIsInTime(HostedRun run) {
    List<Long> times = new ArrayList<>();
    for (String record : run.records()) {
      String[] f = record.split(" ", -1);
      if (Integer.parseInt(f[0]) == RecordBatch.INTERRUPT_ENTER
          && SignalContext.name(Long.parseLong(f[3], 16)).equals("SIGVTALRM")) {
        times.add(Long.parseLong(f[1]));
      }
    }
    long first = times.getFirst();
    for (int i = 0; i < 15; i++) {
      assertThat(times.get(i))
          .as("tick %d", i)
          .isBetween(first + i * 100_000L - 99, first + i * 100_000L + 99);
    }
  }

  @Test
  void everyScheduleKeepsTheCounts() throws Exception {
    Path program = SignalForm.X86_64_STATIC.build(folder, "signals/timers.c");
    for (int seed = 1; seed <= (EachIsa.ALL ? 5 : 2); seed++) {
      HostedRun run = run(program, ProbeKind.AUTO, seed, SLICE);
      HostedRun inJava = run(program, ProbeKind.JAVA, seed, 5555);
      assertThat(run.stdout()).as("seed %d", seed).contains("directed 5 10 15 20 50 0\nwaited 1");
      assertThat(inJava.records()).as("seed %d", seed).isEqualTo(run.records());
    }
  }
}
