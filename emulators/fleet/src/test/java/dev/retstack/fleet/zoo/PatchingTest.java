package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.settings.FunctionPattern;
import dev.retstack.fleet.settings.PatternSubject;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.machine.loader.ActiveConvention;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.PatchSite;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Sites of a running core are patched at random times: the program does what it does untraced, and
 * the records are those of the full trace, but for calls whose site was off when they were made.
 */
class PatchingTest {
  /** Programs per image and seed: the whole of them takes minutes. */
  private static final int PROGRAMS = 3;

  private static final int CHANGES = 40;

  /** ISAs whose calls are longer than four bytes, but one instruction. */
  private static final Set<String> ONE_INSTRUCTION = Set.of("x86_64", "i386", "s390x", "m68k");

  static Stream<LoadedImage> images() {
    return Zoo.images().stream();
  }

  /** When the settings change, and to what: the same for every probe. */
  private record Change(long time, TraceSettings settings, Predicate<PatternSubject> selected) {
    Change(long time, TraceSettings settings) {
      this(time, settings, settings.selected());
    }
  }

  @ParameterizedTest
  @MethodSource("images")
  void aProgramIsRightWheneverItsSitesArePatched(LoadedImage image) {
    SeededRounds.run(image, PROGRAMS, (program, random) -> check(image, program, random));
  }

  private static void check(LoadedImage image, String program, SplittableRandom random) {
    Run full = Run.of(image, program);
    Run untraced = Run.of(image, Run.options().withTraced(false), 1_000_000, core -> {}, program);
    List<Change> planned = changes(image, full.instructions(), random);
    List<Change> changes = new ArrayList<>();
    Run java = run(image, ProbeKind.JAVA, planned, changes, program);
    Run inC = run(image, ProbeKind.NATIVE, changes, new ArrayList<>(), program);
    for (Run run : List.of(java, inC)) {
      assertThat(run.output()).isEqualTo(untraced.output());
      assertThat(run.ending()).isEqualTo(untraced.ending());
      assertThat(run.instructions()).as("virtual time").isEqualTo(full.instructions());
      assertThat(run.unhijackable()).isZero();
    }
    Records.assertSame(java, inC);
    Oracle oracle = new Oracle(image, full.records());
    if (oracle.isBalanced()) {
      oracle.calls().forEach(call -> call.kept = selected(image, call, changes));
      Records.assertSame("oracle", oracle.graph(_ -> true), "C", inC.records());
    }
  }

  /**
   * True where its site was on when the core came to it, and still when the call was counted: a
   * site does not change while the core stands in its middle, and a call that was made is not
   * counted where the site is off by then. Where nothing is called, there is no in between.
   */
  private static boolean selected(LoadedImage image, Oracle.Call call, List<Change> changes) {
    PatternSubject function = new PatternSubject("", call.selfPc, "", image.elf().name());
    int instructions = instructionsOfSite(image, call.selfPc);
    boolean met = false;
    boolean counted = false;
    for (Change change : changes) {
      boolean on = change.settings().on() && change.selected().test(function);
      met = change.time() <= call.time - instructions ? on : met;
      counted = change.time() <= call.time ? on : counted;
    }
    return met && counted;
  }

  /** None, where nothing is called. */
  private static int instructionsOfSite(LoadedImage image, long address) {
    for (int i = 0; i < image.patchSites().size(); i++) {
      PatchSite site = image.patchSites().get(i);
      if (site.site().address() == address) {
        return ONE_INSTRUCTION.contains(image.isa().name()) ? 1 : (site.call().size() + 3) / 4;
      }
    }
    return 0;
  }

  private static List<Change> changes(
      LoadedImage image, long instructions, SplittableRandom random) {
    List<Change> changes = new ArrayList<>();
    long step = Math.max(4, 2 * instructions / CHANGES);
    for (long time = 0; time < instructions; time += 1 + random.nextLong(step)) {
      changes.add(new Change(time, someSites(image, random)));
    }
    return changes;
  }

  /** Each site is on or off by the toss of a coin; or all of them. */
  private static TraceSettings someSites(LoadedImage image, SplittableRandom random) {
    TraceSettings standard = TraceSettings.standard();
    int dice = random.nextInt(6);
    if (dice < 2) {
      return dice == 0 ? standard : standard.withOn(false);
    }
    List<FunctionPattern> sites = new ArrayList<>();
    for (ActiveConvention convention : image.conventions()) {
      for (long site : convention.callSites()) {
        if (random.nextBoolean()) {
          sites.add(FunctionPattern.parse("0x%x".formatted(site)));
        }
      }
    }
    return dice < 4 ? standard.withFilters(sites) : standard.withNotraces(sites);
  }

  /**
   * Runs a program with changes.
   *
   * @param changes wanted; the core stops at the next block, and at most once in three instructions
   * @param made with the times at which it stopped: another probe, told these, stops there too
   */
  private static Run run(
      LoadedImage image, ProbeKind probe, List<Change> changes, List<Change> made, String program) {
    made.add(changes.getFirst());
    CoreOptions options = Run.options().withProbe(probe).withTrace(changes.getFirst().settings());
    int[] next = {1};
    // the probe in C may stand before the nop in place of a call whose time has come
    int early = probe == ProbeKind.NATIVE ? 1 : 0;
    return Run.of(
        image,
        options,
        core -> {
          long now = core.instructions();
          while (next[0] < changes.size() && changes.get(next[0]).time() <= now + early) {
            TraceSettings settings = changes.get(next[0]++).settings();
            assertThat(core.trace(settings).refused()).isEmpty();
            made.add(new Change(now, settings));
          }
          return next[0] < changes.size()
              ? Math.max(3, changes.get(next[0]).time() - now)
              : 1_000_000;
        },
        program);
  }
}
