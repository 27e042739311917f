package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.machine.isa.call.ReturnReads;
import dev.retstack.machine.loader.ActiveConvention;
import dev.retstack.machine.loader.CallSite;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.testing.Seeds;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Differential on random programs: each is compiled for a few ISAs and conventions, at levels drawn
 * by chance, and four tell its tree: both probes, {@link BlockOracle}, and its {@link NativeTwin}.
 *
 * <p>Other seeds in each build, printed; {@code -Dretstack.seed=S} repeats one, {@code
 * -Dretstack.seeds=N} runs N of them, {@code -Dretstack.variants=N} with N images of each (all the
 * variants there are: a great number).
 */
class RandomProgramsTest {
  private static final List<String> LEVELS = List.of("O0", "O1", "O2", "O3", "Os");

  /** Where programs are put of which a fault was found. */
  private static final Path KEPT = Path.of("target", "random-programs");

  private static final int SEEDS = 1;
  private static final int VARIANTS = 4;

  @TempDir private Path dir;

  @Test
  void probesAndOraclesTellTheSameTree() throws Exception {
    assumeTrue(GuestCompiler.installed("gcc"), "skipped: no gcc");
    long first = Seeds.fresh();
    System.out.println("RandomProgramsTest: -Dretstack.seed=" + first);
    List<String> faults = new ArrayList<>();
    int images = 0;
    long calls = 0;
    for (long seed = first; seed < first + Integer.getInteger("retstack.seeds", SEEDS); seed++) {
      Seed one = new Seed(Files.createDirectory(dir.resolve("s" + seed)), seed);
      one.run();
      images += one.images;
      calls += one.calls;
      faults.addAll(one.faults);
    }
    System.out.printf("RandomProgramsTest: %d images, %d calls%n", images, calls);
    assertThat(faults).isEmpty();
  }

  /** What was found once, on the ISA where it was. */
  @ParameterizedTest
  @CsvSource({
    "tail_gave_way, aarch64-mcount-O1",
    "pushed_arguments, x86_64-fentry-O3-nofp",
    "pushed_arguments, x86_64-patchable-Os-nofp",
    "pushed_arguments, i386-fentry-O2-nofp",
    "pushed_arguments, m68k-patchable-O2-nofp",
    "reader_gave_way, x86_64-mcount-O2",
    "reader_gave_way, i386-fentry-O1",
    "reader_gave_way, aarch64-patchable-O3",
    "callee_popped, i386-fentry-O2-nofp",
    "longjmp_past_reader, aarch64-mcount-O2",
    "struct_behind_longjmp, sparc-mcount-O1",
  })
  void foundOnce(String program, String form) throws Exception {
    assumeTrue(GuestCompiler.installed("gcc"), "skipped: no gcc");
    String text;
    try (InputStream in = getClass().getResourceAsStream("/random/" + program + ".c")) {
      text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    Seed one = new Seed(dir, 1, text);
    assumeTrue(one.tells(form, form.substring(form.lastIndexOf('-') + 1)), "skipped: " + form);
    assertThat(one.faults).isEmpty();
  }

  /** One program and what is told of it. */
  private static final class Seed {
    final Path folder;
    final long seed;
    final SplittableRandom random;
    final Path source;
    final Map<List<String>, NativeTwin> twins = new HashMap<>();
    final List<String> faults = new ArrayList<>();
    int images;
    long calls;

    Seed(Path folder, long seed) throws IOException {
      this(folder, seed, RandomProgram.of(new SplittableRandom(seed)));
    }

    Seed(Path folder, long seed, String text) throws IOException {
      this.folder = folder;
      this.seed = seed;
      random = new SplittableRandom(~seed);
      source = Files.writeString(folder.resolve(RandomProgram.FILE), text);
    }

    void run() throws IOException, InterruptedException {
      List<String> variants = new ArrayList<>(variants());
      int wanted = Integer.getInteger("retstack.variants", VARIANTS);
      for (int i = 0; i < wanted && !variants.isEmpty(); i++) {
        String level = LEVELS.get(random.nextInt(LEVELS.size()));
        String variant = variants.remove(random.nextInt(variants.size()));
        if (!tells(variant + "-" + level + (random.nextBoolean() ? "-nofp" : ""), level)) {
          i--;
        }
      }
    }

    /** False where there is no compiler, or no such form. */
    boolean tells(String form, String level) throws IOException, InterruptedException {
      List<String> defines = defines(form);
      String said =
          GuestScript.build(
              Zoo.GUEST,
              Map.of("ZOO_FLAGS", String.join(" ", defines)),
              List.of("--sources", folder.toString(), form));
      if (!said.startsWith("built: ")) {
        return false;
      }
      Path image = folder.resolve("zoo-" + form + ".elf");
      try {
        finds(LoadedImage.load(image), form);
        check(LoadedImage.load(image), twin(defines), level);
      } catch (AssertionError | RuntimeException e) {
        Path kept = Files.createDirectories(KEPT).resolve(seed + ".c");
        Files.copy(source, kept, StandardCopyOption.REPLACE_EXISTING);
        faults.add("-Dretstack.seed=%d %s, %s: %s".formatted(seed, form, kept, e));
      }
      Files.delete(image);
      return true;
    }

    private NativeTwin twin(List<String> defines) throws IOException, InterruptedException {
      NativeTwin twin = twins.get(defines);
      if (twin == null) {
        twin = NativeTwin.of(source, defines);
        twins.put(defines, twin);
      }
      return twin;
    }

    /** Each function that reads its return address is found by its code. */
    private void finds(LoadedImage image, String form) throws IOException {
      if (!reads(form)) {
        return;
      }
      Set<String> wanted = RandomProgram.readers(Files.readString(source), !noJumpByPointer(form));
      Set<String> plain = new TreeSet<>();
      for (ActiveConvention convention : image.conventions()) {
        for (CallSite site : convention.sites()) {
          image
              .elf()
              .functionAt(site.address())
              .filter(f -> convention.reads(f, site, image.elf()) == ReturnReads.Kind.NONE)
              .ifPresent(f -> plain.add(f.name()));
        }
      }
      plain.retainAll(wanted);
      assertThat(plain).as("read their return address, and are not known to").isEmpty();
    }

    private void check(LoadedImage image, NativeTwin twin, String level) {
      TreeText expected = level.equals("O0") ? twin.treeWithoutTails() : twin.tree();
      images++;
      calls += expected.lines().size();
      BlockOracle.Told told = BlockOracle.watch(image, twin.counts().keySet(), RandomProgram.NAME);
      assertThat(told.run().output()).as("checksum").isEqualTo(twin.output());
      same("native twin", expected, "blocks", told.tree());
      CoreOptions options =
          Run.options()
              .withRecordsPerChunk(1 + random.nextInt(1 << random.nextInt(1, 13)))
              .withInstructionLimit(2 * told.run().instructions());
      long slice = 1L + random.nextInt(1 << random.nextInt(8, 21));
      Run java = run(image, options.withProbe(ProbeKind.JAVA), slice);
      Run inC = run(image, options.withProbe(ProbeKind.NATIVE), slice);
      Records.assertSame(java, inC);
      for (Run run : List.of(java, inC)) {
        assertThat(run.ending()).isEqualTo(told.run().ending());
        assertThat(run.output()).isEqualTo(twin.output());
        assertThat(run.overruns() + run.unhijackable()).isZero();
      }
      assertThat(inC.instructions()).isEqualTo(java.instructions());
      same("blocks", told.tree(), "records", java.tree());
    }

    private static Run run(LoadedImage image, CoreOptions options, long slice) {
      return Run.of(image, options, slice, core -> {}, RandomProgram.NAME);
    }
  }

  private static void same(String name, TreeText one, String otherName, TreeText other) {
    int size = Math.min(one.lines().size(), other.lines().size());
    int at = 0;
    while (at < size && one.lines().get(at).equals(other.lines().get(at))) {
      at++;
    }
    if (at < Math.max(one.lines().size(), other.lines().size())) {
      throw new AssertionError(
          "first difference at line %d; %s:\n%s\n%s:\n%s"
              .formatted(at + 1, name, around(one, at), otherName, around(other, at)));
    }
  }

  private static String around(TreeText tree, int at) {
    return String.join(
        "\n", tree.lines().subList(Math.max(0, at - 12), Math.min(at + 6, tree.lines().size())));
  }

  /** What a form goes without, for reasons that are known. */
  private static List<String> defines(String form) {
    return List.of(
        "-w",
        "-DFLOATS=" + (form.startsWith("sparc") ? 0 : 1),
        "-DTAIL_POINTER=" + (noJumpByPointer(form) ? 0 : 1),
        "-DREADS=" + (reads(form) ? 1 : 0));
  }

  /** Not on m68k: behind a call that does not return the stack pointer's depth is lost. */
  private static boolean reads(String form) {
    return !form.startsWith("m68k");
  }

  private static boolean noJumpByPointer(String form) {
    return form.startsWith("ppc64") || form.startsWith("sparc");
  }

  static List<String> variants() throws IOException, InterruptedException {
    return GuestScript.build(Zoo.GUEST, "--list")
        .lines()
        .filter(line -> line.endsWith(" committed"))
        .map(line -> line.substring(0, line.indexOf(' ')))
        .filter(variant -> !variant.contains("-clang-")) // makes jumps of other calls than the twin
        .toList();
  }
}
