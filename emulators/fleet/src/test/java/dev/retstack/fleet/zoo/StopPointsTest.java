package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.settings.FunctionPattern;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.PatchSite;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Where a core may stop, it goes on as if it had not. */
class StopPointsTest {
  /** Most blocks are longer: the core stops before each. */
  private static final long STEP = 2;

  private static final List<ProbeKind> PROBES = List.of(ProbeKind.JAVA, ProbeKind.NATIVE);

  static Stream<LoadedImage> images() {
    return Zoo.images().stream();
  }

  private static LoadedImage image(String isaName, String convention) {
    Isa isa = Isas.find(isaName).orElseThrow();
    return Zoo.image(isa, isa.convention(convention).orElseThrow());
  }

  @ParameterizedTest
  @MethodSource("images")
  void aStopBeforeEveryBlockChangesNothing(LoadedImage image) {
    Run whole = Run.of(image, "hello");
    for (ProbeKind probe : PROBES) {
      Run stopped = Run.of(image, Run.options().withProbe(probe), STEP, core -> {}, "hello");
      assertThat(stopped.instructions()).isEqualTo(whole.instructions());
      assertThat(stopped.output()).isEqualTo(whole.output());
      Records.assertSame("whole", whole.records(), "stopped", stopped.records());
    }
  }

  /**
   * The engine's s390x translator runs on from one function into the next one's site, in blocks
   * that were met while the site was off.
   */
  @ParameterizedTest
  @ValueSource(strings = {"mcount-nop", "fentry-nop", "patchable"})
  void aSiteInTheMiddleOfABlockThatRanBeforeCountsFromTheMomentItIsSwitchedOn(String convention) {
    LoadedImage image = image("s390x", convention);
    CoreOptions off = Run.options().withTrace(TraceSettings.standard().withOn(false));
    Oracle oracle = new Oracle(image, Run.of(image, "tail").records());
    for (ProbeKind probe : PROBES) {
      for (Oracle.Call call : oracle.calls().subList(1, oracle.calls().size())) {
        boolean[] on = {false};
        long[] since = {0};
        Run run =
            Run.of(
                image,
                off.withProbe(probe),
                core -> {
                  if (!on[0] && core.instructions() >= call.time - 5) {
                    on[0] = true;
                    since[0] = core.instructions();
                    core.trace(TraceSettings.standard());
                  }
                  return on[0] ? 1_000_000 : Math.max(STEP, call.time - 5 - core.instructions());
                },
                "tail");
        oracle.calls().forEach(c -> c.kept = c.time >= since[0]);
        Records.assertSame("oracle", oracle.graph(_ -> true), probe.name(), run.records());
      }
    }
  }

  /** The engine by itself runs an instruction twice there, and its delay slot never. */
  @ParameterizedTest
  @CsvSource({
    // mov 20,%g1; clr %l0; ta 0x10; inc %l0; mov 1,%g1; mov %l0,%o0; ta 0x10
    "82102014 a0102000 91d02010 a0042001 82102001 90100010 91d02010, the next instruction",
    // ...; cmp %g0,0; ta 0x10; bcc .+8; inc %l0; ...
    "82102014 a0102000 80a02000 91d02010 1a800002 a0042001 82102001 90100010 91d02010, a delay slot"
  })
  void whatStandsBehindASystemCallOfSparcIsRunOnce(String code, String what) {
    LoadedImage image = image("sparc", "mcount");
    byte[] bytes = HexFormat.of().parseHex(code.replace(" ", ""));
    for (ProbeKind probe : PROBES) {
      Run run =
          Run.of(
              image,
              Run.options().withProbe(probe),
              1_000_000,
              core -> core.engine().mem_write(image.elf().entry(), bytes));
      assertThat(run.ending().exitCode()).as("%s, %s", what, probe).isEqualTo(1);
    }
  }

  /** The site of near_leaf lies across the end of a page, where a block of Thumb ends. */
  @ParameterizedTest
  @EnumSource(names = {"JAVA", "NATIVE"})
  void aSiteThatTheCoreStandsInTheMiddleOfChangesAsSoonAsItHasLeft(ProbeKind probe) {
    LoadedImage image = image("arm", "thumb-mcount");
    long nearLeaf = image.address("near_leaf").orElseThrow();
    PatchSite site =
        IntStream.range(0, image.patchSites().size())
            .mapToObj(image.patchSites()::get)
            .filter(s -> s.site().function() == (nearLeaf & ~1))
            .findFirst()
            .orElseThrow();
    TraceSettings without =
        TraceSettings.standard().withNotraces(List.of(FunctionPattern.parse("near_leaf")));
    CoreOptions options = Run.options().withProbe(probe).withTrace(without);
    boolean[] stood = {false};
    Run run =
        Run.of(
            image,
            options,
            core -> {
              if (!stood[0] && site.splitBy(core.engine().reg_read(image.isa().registers().pc()))) {
                stood[0] = true;
                assertThat(core.trace(TraceSettings.standard()).refused()).isEmpty();
              }
              return stood[0] ? 1_000_000 : STEP;
            },
            "sections");
    assertThat(stood[0]).isTrue();
    long calls = Run.of(image, "sections").counts().get("near_leaf");
    assertThat(run.counts().get("near_leaf")).isEqualTo(calls - 1);
  }
}
