package dev.retstack.fleet.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreEnding;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.zoo.EachIsa;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.schema.CoreEnd;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A program that a signal ends says which, and none hangs. */
class SignalEndsTest {
  private static final int LIMIT = 2_000_000;

  private static final List<String> ENDS =
      List.of(
          "killed by signal 15: the program sent itself SIGTERM",
          "killed by signal 14: a timer sent SIGALRM",
          "killed by signal 19: SIGSTOP stops it, and nobody is there to continue it",
          "killed by signal 9: deadlock: thread 1000 waits for a signal in main",
          "unmapped write at 0x8 by pc faultsToo",
          "killed by signal 11: no room for the frame of SIGSEGV at 0x",
          "killed by signal 11: the handler of SIGSEGV at 0x40 can never begin",
          "limit of %d instructions".formatted(LIMIT),
          "killed by signal 11: no room for the frame of SIGSEGV at 0x",
          "killed by signal 9: deadlock: thread 1000 waits for a signal in main",
          "killed by signal 9: deadlock: thread 1000 waits for a signal in main",
          "killed by signal 6: the program sent itself SIGABRT");

  @TempDir private Path folder;

  /** {@code -Dretstack.zoo=all} takes all that are static, each end with each probe. */
  static Stream<SignalForm> forms() {
    return EachIsa.ALL
        ? Stream.of(SignalForm.values()).filter(form -> form.name().endsWith("STATIC"))
        : Stream.of(SignalForm.I386_STATIC, SignalForm.RISCV64_STATIC);
  }

  @ParameterizedTest
  @MethodSource("forms")
  void everyEndIsNamed(SignalForm form) throws Exception {
    Path program = form.build(folder, "signals/ends.c");
    for (int i = 0; i < ENDS.size(); i++) {
      for (ProbeKind probe : List.of(ProbeKind.AUTO, ProbeKind.JAVA)) {
        boolean turn = (i % 2 == 0) == (probe == ProbeKind.AUTO);
        if (!EachIsa.ALL && turn != (form == SignalForm.I386_STATIC)) {
          continue; // the other form has it
        }
        CoreEnding ending = end(program, i, probe);
        assertThat(ending.detail()).as("end %d", i).startsWith(form.numbered(ENDS.get(i)));
        if (ending.end() == CoreEnd.FAULTED && ending.detail().startsWith("killed by signal ")) {
          String signal = ending.detail().replaceAll("killed by signal (\\d+):.*", "$1");
          assertThat(ending.exitCode()).isEqualTo(128 + Integer.parseInt(signal));
        }
      }
    }
  }

  private static CoreEnding end(Path program, int which, ProbeKind probe) throws Exception {
    LinuxOptions linux = LinuxOptions.of("prog").withArguments(List.of("prog", "" + which));
    CoreOptions core = CoreOptions.of(linux).withProbe(probe).withInstructionLimit(LIMIT);
    return HostedRun.of(program, core, "", 100_000).result().ending();
  }

  /** Nobody knows which of two traps in one block it was: no handler runs. */
  @ParameterizedTest
  @EnumSource(names = {"MIPS_STATIC", "MIPSEL_STATIC"})
  void oneOfSeveralTrapsEndsTheCore(SignalForm form) throws Exception {
    Path program = form.build(folder, "signals/ends.c");
    for (ProbeKind probe : List.of(ProbeKind.AUTO, ProbeKind.JAVA)) {
      assertThat(end(program, ENDS.size(), probe).detail())
          .startsWith("cpu exception 22 (trap) by pc trapsTwice");
    }
  }
}
