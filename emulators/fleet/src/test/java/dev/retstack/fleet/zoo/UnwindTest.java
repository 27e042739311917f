package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.testing.Seeds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Programs whose frames are left by exceptions, backtraces and jumps, across the stacks of signal
 * handlers and others ({@code guest/unwind}): they print what they print untraced, both probes
 * record what the program says of its own calls, wherever the core stops. What is not installed is
 * skipped. {@code -Dretstack.seeds=N} runs every variant, and N programs of handlers for each.
 */
final class UnwindTest {
  private static final Path FOLDER = Zoo.GUEST.resolve("unwind");

  private static final long SEED = Seeds.fresh();

  /** None runs so long. */
  private static final long LIMIT = 500_000_000;

  @TempDir static Path built;

  /** A program of a variant, and what it is told to do. */
  record Case(String program, String variant, List<String> arguments) {
    @Override
    public String toString() {
      return String.join(" ", program + "-" + variant, String.join(" ", arguments)).strip();
    }
  }

  static List<Case> cases() throws IOException, InterruptedException {
    List<Case> cases = new ArrayList<>();
    for (String variant : variants()) {
      if (variant.contains("-split")) {
        for (int i = 0; i < Math.max(4, Integer.getInteger("retstack.seeds", 0)); i++) {
          cases.add(new Case("pieces", variant, List.of(Long.toString(SEED + cases.size()))));
        }
        continue;
      }
      if (HANDLERS_ONLY.contains(variant)) {
        cases.add(new Case("handlers", variant, List.of(Long.toString(SEED))));
        continue;
      }
      cases.add(new Case("exceptions", variant, List.of()));
      cases.add(new Case("exceptions", variant, List.of("escapes")));
      cases.add(new Case("exceptions", variant, List.of("forbidden")));
      for (int stacks = Seeds.MANY ? 0 : 3; stacks <= 3; stacks += 3) {
        String seed = Long.toString(SEED + cases.size());
        cases.add(new Case("jumps", variant, List.of(seed, Integer.toString(stacks))));
        cases.add(new Case("handlers", variant, List.of(seed)));
      }
      if (variant.equals("aarch64-patchable")) {
        // found once: a stack that ends where another begins
        cases.add(new Case("handlers", variant, List.of("987654431")));
      }
      for (int i = 1; i < Integer.getInteger("retstack.seeds", 1); i++) {
        cases.add(new Case("handlers", variant, List.of(Long.toString(SEED + cases.size()))));
      }
    }
    return cases;
  }

  private static final Set<String> BY_CHANCE = Set.of("handlers", "pieces");

  /** For the long form: what they add is a level of another convention. */
  private static final Set<String> OTHERS =
      Set.of("x86_64-mcount-O0", "x86_64-fentry", "ppc64le-profile-kernel");

  /** Each convention, at both levels, on stacks that grow by words of either size. */
  private static final Set<String> SHORT =
      Set.of(
          "x86_64-fentry-O0",
          "x86_64-patchable",
          "s390x-mcount",
          "arm-mcount",
          "ppc32-mcount",
          "x86_64-split");

  /** Frames of signal handlers of other forms. */
  private static final Set<String> HANDLERS_ONLY =
      Set.of("i386-mcount", "m68k-mcount", "mips-mcount", "mipsel-mcount");

  private static List<String> variants() throws IOException, InterruptedException {
    List<String> all = GuestScript.build(FOLDER, "--list").lines().toList();
    if (Seeds.MANY) {
      return all;
    }
    return EachIsa.COMPILED
        ? all.stream().filter(one -> !OTHERS.contains(one)).toList()
        : all.stream().filter(one -> SHORT.contains(one) || HANDLERS_ONLY.contains(one)).toList();
  }

  @BeforeAll
  static void build() throws IOException, InterruptedException {
    List<String> arguments = new ArrayList<>(List.of(built.toString()));
    arguments.addAll(variants());
    GuestScript.build(FOLDER, Map.of(), arguments)
        .lines()
        .filter(line -> line.startsWith("skipped"))
        .forEach(System.out::println);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void whatTheProgramSaysIsWhatIsRecorded(Case one) throws IOException {
    Path file = built.resolve(one.program + "-" + one.variant);
    Assumptions.assumeTrue(Files.exists(file), "skipped: no compiler for " + one.variant);
    LoadedImage image = LoadedImage.load(file);
    String[] arguments = one.arguments.toArray(String[]::new);
    CoreOptions options = Run.options().withInstructionLimit(LIMIT);
    Run untraced =
        Run.of(untraced(one), options.withTraced(false), 1_000_000, core -> {}, arguments);
    Run java = Run.of(image, options.withProbe(ProbeKind.JAVA), 1_000_000, core -> {}, arguments);
    assertThat(java.output()).isEqualTo(untraced.output()).isNotEmpty();
    assertThat(java.ending()).isEqualTo(untraced.ending());
    assertThat(java.unhijackable()).isZero();
    int died = CallLog.check(java);
    if (!BY_CHANCE.contains(one.program)) { // else none may die
      assertThat(died > 0).isEqualTo(!one.arguments.contains("escapes"));
    }
    assertThat(java.output()).doesNotContain("too few", "nobody catches");
    Run inC = Run.of(image, options.withProbe(ProbeKind.NATIVE), 1_000_000, core -> {}, arguments);
    assertThat(inC.output()).isEqualTo(untraced.output());
    assertThat(inC.ending()).isEqualTo(untraced.ending());
    Records.assertSame(java, inC);
    alsoWhereverTheyStop(java, arguments);
  }

  /** The program whose run says what is right: without a tracer one of profile-kernel crashes. */
  private static LoadedImage untraced(Case one) throws IOException {
    String variant = one.variant.replace("profile-kernel", "mcount");
    return LoadedImage.load(built.resolve(one.program + "-" + variant));
  }

  private static void alsoWhereverTheyStop(Run java, String... arguments) {
    SplittableRandom random = new SplittableRandom(SEED);
    for (ProbeKind probe : List.of(ProbeKind.JAVA, ProbeKind.NATIVE)) {
      CoreOptions options =
          Run.options()
              .withProbe(probe)
              .withCheckReturns(random.nextBoolean())
              .withRecordsPerChunk(1 + random.nextInt(1 << random.nextInt(1, 12)));
      Run run =
          Run.withoutKeyframes(
              java.image(),
              options,
              core -> 1 + random.nextInt(1 << random.nextInt(1, 14)),
              arguments);
      String how = probe + ", -Dretstack.seed=" + SEED;
      Records.assertSame("one slice", java.records(), how, run.records());
      assertThat(run.output()).as(how).isEqualTo(java.output());
      assertThat(run.instructions()).as(how).isEqualTo(java.instructions());
    }
  }
}
