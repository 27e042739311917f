package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.core.interrupt.InterruptTimer;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.testing.GuestCompiler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A preemptive kernel (guest/rtos), interrupted by two timers, on every ISA. */
class RtosTest {
  static final Path RTOS = Zoo.GUEST.resolve("rtos");
  static final String HANDLER = "rtos_interrupt";
  static final List<ProbeKind> PROBES = List.of(ProbeKind.JAVA, ProbeKind.NATIVE);
  static final List<InterruptTimer> TIMERS =
      List.of(new InterruptTimer(900, HANDLER), new InterruptTimer(7_100, HANDLER));

  private static final Map<String, LoadedImage> LOADED = new ConcurrentHashMap<>();

  static Stream<String> images() throws IOException {
    try (Stream<Path> files = Files.list(RTOS.resolve("images"))) {
      return files.map(f -> f.getFileName().toString()).sorted().toList().stream();
    }
  }

  /**
   * For what depends little on the ISA: a word of each length in each order of bytes, Thumb, delay
   * slots; {@code -Dretstack.zoo=all} asks for all.
   */
  static Stream<String> someImages() throws IOException {
    Set<String> some =
        Set.of(
            "rtos-arm-thumb-mcount.elf",
            "rtos-mips-mcount.elf",
            "rtos-s390x-mcount.elf",
            "rtos-x86_64-fentry.elf");
    return images().filter(file -> EachIsa.ALL || some.contains(file));
  }

  static LoadedImage image(String file) throws IOException {
    LoadedImage image = LOADED.get(file);
    if (image == null) {
      image = LoadedImage.load(RTOS.resolve("images").resolve(file));
      LOADED.put(file, image);
    }
    return image;
  }

  static CoreOptions options() {
    return Run.options().withTimers(TIMERS).withInstructionLimit(20_000_000);
  }

  @ParameterizedTest
  @MethodSource("images")
  void everyTaskFindsItsResultsRightAndTimeDoesNotDependOnSlices(String file) throws IOException {
    LoadedImage image = image(file);
    Run whole = Run.of(image, options().withTraced(false), 1_000_000, _ -> {}, "rtos");
    assertThat(whole.ending().detail()).isEqualTo("exited with code 0");
    for (ProbeKind probe : PROBES) {
      CoreOptions options = options().withTraced(false).withProbe(probe);
      for (long slice : EachIsa.ALL ? new long[] {1, 7, 1_009} : new long[] {7, 1_009}) {
        Run cut = Run.of(image, options, slice, _ -> {}, "rtos");
        assertThat(cut.ending()).as("%s, slice %d", probe, slice).isEqualTo(whole.ending());
        assertThat(cut.instructions())
            .as("%s, slice %d", probe, slice)
            .isEqualTo(whole.instructions());
      }
    }
  }

  /** A frame cannot be anywhere but between two blocks, which every period finds others of. */
  @ParameterizedTest
  @MethodSource("someImages")
  void anyPeriodWillDo(String file) throws IOException {
    for (long period = 150; period < 3_000; period = period * 3 / 2 + 1) {
      List<InterruptTimer> timers =
          List.of(new InterruptTimer(period, HANDLER), new InterruptTimer(11 * period, HANDLER));
      CoreOptions options = options().withTraced(false).withTimers(timers);
      Run run = Run.of(image(file), options, 1_000_000, _ -> {}, "rtos");
      assertThat(run.ending().detail()).as("period %d", period).isEqualTo("exited with code 0");
    }
  }

  @ParameterizedTest
  @MethodSource("someImages")
  void withoutATimerTheProgramSaysSo(String file) throws IOException {
    assertThat(Run.of(image(file), "rtos").output())
        .isEqualTo("zoo: rtos: check failed, code 01\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          wrong_no_frame   | the handler of interrupt 0 gave 0x[0-9a-f]+, which is not a waiting \
          frame; those are 0x[0-9a-f]+
          wrong_again      | the handler of interrupt 0 gave 0x[0-9a-f]+, which is not a waiting frame.*
          wrong_overwritten | the handler of interrupt 0 gave the frame at 0x[0-9a-f]+, which was \
          overwritten: word 3 \\(sp\\) is 0x0, it was 0x[0-9a-f]+: has another stack run over\\?
          wrong_trap       | interrupt_trap\\(0\\) in the handler of interrupt 0: .*
          wrong_task       | the function that a frame of interrupt_frame began with returned: .*
          wrong_stack      | .*: is the stack too small, or the stack pointer wrong\\?
          right_handler    | limit of 300000 instructions
          """)
  void aHandlerThatIsWrongEndsTheCoreWithASentence(String handler, String sentence)
      throws IOException {
    for (String file : someImages().toList()) {
      CoreOptions options =
          options()
              .withTimers(List.of(new InterruptTimer(500, handler)))
              .withInstructionLimit(300_000);
      for (ProbeKind probe : PROBES) {
        Run run = Run.of(image(file), options.withProbe(probe), 1_000_000, _ -> {}, "wrong");
        assertThat(run.ending().detail()).as("%s, %s", file, probe).matches(sentence);
      }
    }
  }

  @Test
  void aHandlerThatDoesNotExistIsNamed() throws IOException {
    LoadedImage image = image("rtos-x86_64-fentry.elf");
    CoreOptions options = options().withTimers(List.of(new InterruptTimer(5, "rtos_isr")));
    assertThatThrownBy(() -> Run.of(image, options, 1, _ -> {}, "rtos"))
        .hasMessageContaining("the handler of timer 5:rtos_isr")
        .hasMessageContaining("'rtos_isr', which is not a function of it");
  }

  @Test
  void todaysCompilerMakesImagesThatRun(@TempDir Path folder) throws Exception {
    Assumptions.assumeTrue(
        GuestCompiler.installed("x86_64-linux-gnu-gcc"), "skipped: no x86_64-linux-gnu-gcc");
    List<String> arguments = new ArrayList<>(List.of("--rtos", folder.toString()));
    someImages().map(f -> f.replaceAll("^rtos-|[.]elf$", "")).forEach(arguments::add);
    String said = GuestScript.build(Zoo.GUEST, Map.of(), arguments);
    for (String file : someImages().toList()) {
      if (Files.exists(folder.resolve(file))) {
        LoadedImage image = LoadedImage.load(folder.resolve(file));
        Run run = Run.of(image, options().withTraced(false), 1_000_000, _ -> {}, "rtos");
        assertThat(run.ending().detail()).as(file).isEqualTo("exited with code 0");
      } else {
        assertThat(said).contains("skipped: ");
      }
    }
  }
}
