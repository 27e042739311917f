package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.fleet.settings.Tracer;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.testing.Seeds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.opentest4j.TestAbortedException;

/**
 * Whatever a compiler makes of a function's beginning, each call of it has its entry and its exit.
 * The functions are drawn by chance ({@link FunctionCorpus}); flags are those of embedded builds.
 *
 * <p>{@code -Dretstack.prologues=N}: N functions, and all sets of flags, not one of each compiler.
 */
class ProloguesTest {
  private static final List<String> LEVELS = List.of("-O0", "-O1", "-O2", "-O3", "-Os", "-Og");
  private static final int ALL = Integer.getInteger("retstack.prologues", 0);
  private static final int FUNCTIONS = 40;
  private static final long LIMIT = 4_000_000_000L;
  private static final String GOOD_END = "exited with code 0";

  /**
   * A compiler, and sets of flags.
   *
   * @param compiler with the flags that it has in any case
   */
  record Build(String compiler, List<String> flags) {
    private static Build of(String compiler, String... flags) {
      return new Build(compiler, List.of(flags));
    }

    @Override
    public String toString() {
      return compiler;
    }
  }

  private static final List<Build> BUILDS =
      List.of(
          Build.of(
              "x86_64-linux-gnu-gcc -pg",
              "",
              "-fstack-clash-protection",
              "-mfentry",
              "-fpic",
              "-maccumulate-outgoing-args",
              "-fsplit-stack"),
          Build.of(
              "x86_64-linux-gnu-gcc -m32 -pg",
              "",
              "-fstack-clash-protection",
              "-fno-pic -no-pie",
              "-maccumulate-outgoing-args",
              "-mpreferred-stack-boundary=2"),
          Build.of(
              "aarch64-linux-gnu-gcc -pg",
              "",
              "-DOMIT",
              "-DOMIT -fstack-clash-protection",
              "-fstack-clash-protection",
              "-DOMIT -fstack-protector-all",
              "-mbranch-protection=standard",
              "-mbranch-protection=standard -DOMIT",
              "-mno-omit-leaf-frame-pointer"),
          Build.of(
              "riscv64-linux-gnu-gcc -pg",
              "",
              "-fno-omit-frame-pointer",
              "-msave-restore",
              "-msave-restore -fno-omit-frame-pointer",
              "-fstack-clash-protection",
              "-fstack-protector-all",
              "-msave-restore -march=rv64g -mno-relax"),
          Build.of(
              "arm-linux-gnueabihf-gcc -marm -pg",
              "",
              "-mapcs-frame",
              "-fno-omit-frame-pointer",
              "-fstack-clash-protection",
              "-fstack-protector-all",
              "-mapcs-frame -fstack-clash-protection"),
          Build.of(
              "arm-linux-gnueabihf-gcc -mthumb -pg",
              "",
              "-fno-omit-frame-pointer",
              "-fstack-clash-protection",
              "-fstack-protector-all"),
          Build.of(
              "arm-linux-gnueabi-gcc -static -mthumb -march=armv5te -DWHOLE -DSMALL -pg",
              "",
              "-fno-omit-frame-pointer",
              "-mtpcs-frame",
              "-fstack-protector-all"),
          Build.of(
              "arm-linux-gnueabi-gcc -marm -march=armv5te -pg",
              "",
              "-mapcs-frame",
              "-fno-omit-frame-pointer"),
          Build.of(
              "s390x-linux-gnu-gcc -pg",
              "",
              "-fno-omit-frame-pointer",
              "-mbackchain",
              "-mfentry",
              "-fstack-clash-protection",
              "-mpacked-stack -msoft-float -DWHOLE"),
          Build.of(
              "powerpc64le-linux-gnu-gcc -pg",
              "",
              "-fno-omit-frame-pointer",
              "-static -mprofile-kernel",
              "-fstack-clash-protection",
              "-static -mcpu=power8"),
          Build.of(
              "powerpc64-linux-gnu-gcc -static -pg",
              "",
              "-fno-omit-frame-pointer",
              "-fstack-clash-protection"),
          Build.of(
              "powerpc-linux-gnu-gcc -static -pg",
              "",
              "-fno-omit-frame-pointer",
              "-fstack-clash-protection"),
          Build.of(
              "mips-linux-gnu-gcc -mno-abicalls -fno-pic -static -pg",
              "",
              "-fno-omit-frame-pointer",
              "-mmcount-ra-address"),
          Build.of(
              "mipsel-linux-gnu-gcc -mno-abicalls -fno-pic -static -pg",
              "",
              "-fno-omit-frame-pointer"),
          Build.of(
              "mips-linux-gnu-gcc -pg",
              "",
              "-fno-omit-frame-pointer",
              "-mmcount-ra-address",
              "-mxgot",
              "-static",
              "-fno-pie -no-pie",
              "-static -mno-shared",
              "-fstack-protector-all"),
          Build.of("mipsel-linux-gnu-gcc -pg", "", "-mmcount-ra-address", "-static -mxgot"),
          Build.of(
              "mips64-linux-gnuabi64-gcc -pg",
              "",
              "-fno-omit-frame-pointer",
              "-mmcount-ra-address",
              "-static -mxgot",
              "-fno-pie -no-pie",
              "-mno-shared -static"),
          Build.of("m68k-linux-gnu-gcc -pg", "", "-fno-omit-frame-pointer", "-mcpu=68020", "-mrtd"),
          Build.of(
              "clang --target=x86_64-linux-gnu -pg", "", "-mfentry", "-fstack-clash-protection"),
          Build.of("clang --target=i386-linux-gnu -pg", "", "-mfentry"),
          Build.of(
              "clang --target=aarch64-linux-gnu -pg", "", "-mno-outline -fstack-protector-all"),
          Build.of(
              "clang --target=riscv64-linux-gnu -static -pg",
              "",
              "-fno-omit-frame-pointer",
              "-msave-restore"),
          Build.of(
              "clang --target=s390x-linux-gnu -pg",
              "",
              "-static",
              "-static -mbackchain",
              "-fno-omit-frame-pointer",
              "-fstack-clash-protection"),
          Build.of("clang --target=armv7a-linux-gnueabihf -marm -meabi gnu -pg", "", "-static"),
          Build.of("clang --target=armv7a-linux-gnueabihf -mthumb -meabi gnu -pg", "", "-static"),
          Build.of("clang --target=powerpc64le-linux-gnu -pg", "", "-static"),
          Build.of("clang --target=powerpc-linux-gnu -static -pg", ""),
          Build.of("clang --target=mips-linux-gnu -mno-abicalls -static -pg", ""),
          Build.of("clang --target=mips-linux-gnu -fPIC -pg", "", "-static", "-mxgot"),
          Build.of("clang --target=mipsel-linux-gnu -fPIC -pg", ""),
          Build.of("clang --target=mips64-linux-gnuabi64 -fPIC -pg", "", "-static -mxgot"),
          Build.of("clang --target=powerpc-linux-gnu -pg", ""));

  @TempDir private Path folder;

  static List<Build> builds() {
    return BUILDS;
  }

  @ParameterizedTest
  @MethodSource("builds")
  void everyCallIsTraced(Build build) throws Exception {
    long seed = Seeds.fresh();
    SplittableRandom random = new SplittableRandom(seed);
    List<String> faults = new ArrayList<>();
    List<String> flags = new ArrayList<>(build.flags);
    while (ALL == 0 && flags.size() > 1) {
      flags.remove(random.nextInt(flags.size()));
    }
    for (String set : flags) {
      String level = LEVELS.get(random.nextInt(LEVELS.size()));
      String line = "%s %s %s".formatted(build.compiler, set, level);
      FunctionCorpus corpus = FunctionCorpus.of(random, Math.max(ALL, FUNCTIONS));
      String told;
      try {
        told = trace(compile(line, corpus), corpus, faults, line);
      } catch (TestAbortedException skipped) {
        told = skipped.getMessage();
      }
      System.out.printf("ProloguesTest: -Dretstack.seed=%d %s: %s%n", seed, line, told);
    }
    assertThat(faults).as("-Dretstack.seed=" + seed).isEmpty();
  }

  private static String trace(
      LoadedImage image, FunctionCorpus corpus, List<String> faults, String line) {
    CoreOptions options = Run.options().withInstructionLimit(LIMIT);
    Run run = run(image, options.withProbe(ProbeKind.NATIVE));
    if (!run.ending().detail().equals(GOOD_END)) {
      String plain = run(image, options.withTraced(false)).ending().detail();
      assumeTrue(plain.equals(GOOD_END), "skipped: does not run without a tracer: " + plain);
    }
    if (ALL == 0) {
      Records.assertSame(run(image, options.withProbe(ProbeKind.JAVA)), run);
    }
    Map<String, Long> counts = new TreeMap<>(run.counts());
    counts.keySet().retainAll(corpus.calls().keySet());
    long entries = counts.values().stream().mapToLong(Long::longValue).sum();
    long exits = count(run, RecordBatch.EXIT);
    String told =
        "%s, %d calls, %d entries, %d exits, %d untraced"
            .formatted(run.ending().detail(), corpus.total(), entries, exits, run.unhijackable());
    if (!counts.equals(corpus.calls()) || exits != entries || run.unhijackable() > 0) {
      Map<String, Long> missing = new TreeMap<>(corpus.calls());
      counts.forEach((name, calls) -> missing.merge(name, -calls, Long::sum));
      missing.values().removeIf(calls -> calls == 0);
      faults.add("%s: %s; missing %s".formatted(line, told, missing));
    }
    return told;
  }

  private static long count(Run run, int kind) {
    long count = 0;
    for (int i = 0; i < run.records().size(); i++) {
      count += run.records().kind[i] == kind ? 1 : 0;
    }
    return count;
  }

  private static Run run(LoadedImage image, CoreOptions options) {
    return Run.withoutKeyframes(image, options, core -> 1_000_000);
  }

  private LoadedImage compile(String line, FunctionCorpus corpus)
      throws IOException, InterruptedException {
    Path source = Files.writeString(folder.resolve("corpus.c"), corpus.text());
    List<String> words = new ArrayList<>(List.of(line.trim().split(" +")));
    String compiler = words.removeFirst();
    words.addAll(List.of("-w", "-fno-optimize-sibling-calls", source.toString()));
    Path program = folder.resolve("corpus");
    if (compiler.equals("clang")) {
      String target = line.replaceFirst(".*--target=([^ ]*).*", "$1");
      List<String> link = new ArrayList<>(List.of(folder.resolve("corpus.o").toString(), "-pg"));
      link.addAll(words.stream().filter("-static"::equals).toList());
      if (!target.matches("(x86_64|aarch64|riscv64)-.*")) {
        link.add("-no-pie"); // what clang compiles for it is not position-independent
      }
      if (target.startsWith("i386")) {
        link.add("-m32");
      }
      String linker = target.replace("armv7a", "arm").replace("i386", "x86_64") + "-gcc";
      assumeTrue(GuestCompiler.installed(linker), "skipped: no " + linker);
      assumeTrue(GuestCompiler.installed(compiler), "skipped: no " + compiler);
      words.replaceAll(word -> word.equals("-Og") ? "-Oz" : word);
      words.removeIf("-static"::equals);
      words.add("-c");
      GuestCompiler.compileWith(compiler, folder.resolve("corpus.o"), words.toArray(String[]::new));
      GuestCompiler.compileWith(linker, program, link.toArray(String[]::new));
    } else {
      assumeTrue(GuestCompiler.installed(compiler), "skipped: no " + compiler);
      words.add("-fno-ipa-icf");
      try {
        GuestCompiler.compileWith(compiler, program, words.toArray(String[]::new));
      } catch (AssertionError e) { // faults of Thumb-1 and m68k compilers
        boolean itsOwn =
            e.getMessage().matches("(?s).*(internal compiler error|Assembler messages).*");
        assumeTrue(!itsOwn, "skipped: the compiler makes no program of it");
        throw e;
      }
    }
    return LoadedImage.load(program).requireCallSites();
  }

  private LoadedImage stripped(String line, FunctionCorpus corpus)
      throws IOException, InterruptedException {
    compile(line, corpus);
    String strip = line.replaceFirst("-gcc .*", "-strip");
    assertThat(new ProcessBuilder(strip, folder.resolve("corpus").toString()).start().waitFor())
        .isZero();
    return LoadedImage.load(folder.resolve("corpus")).requireCallSites();
  }

  /** Unwind information says where a function begins that no symbol names. */
  @ParameterizedTest
  @EnumSource(
      value = ProbeKind.class,
      names = {"JAVA", "NATIVE"})
  void withoutSymbolsUnwindInformationSaysWhereFunctionsBegin(ProbeKind probe) throws Exception {
    FunctionCorpus corpus = FunctionCorpus.of(new SplittableRandom(Seeds.fresh()), FUNCTIONS);
    LoadedImage image = stripped("aarch64-linux-gnu-gcc -pg -O2 -DOMIT", corpus);
    Run run = run(image, Run.options().withProbe(probe));
    assertThat(run.ending().detail()).isEqualTo(GOOD_END);
    assertThat(run.unhijackable()).isZero();
    assertThat(count(run, RecordBatch.ENTRY)).isEqualTo(corpus.total());
    assertThat(count(run, RecordBatch.EXIT)).isEqualTo(corpus.total());
    assertThat(image.notes()).isEmpty();
  }

  /** Nothing says it: the calls are counted, and entries alone are recorded. */
  @ParameterizedTest
  @EnumSource(
      value = ProbeKind.class,
      names = {"JAVA", "NATIVE"})
  void withNeitherCallsAreCountedAndEntriesRecorded(ProbeKind probe) throws Exception {
    FunctionCorpus corpus = FunctionCorpus.of(new SplittableRandom(Seeds.fresh()), FUNCTIONS);
    LoadedImage image = stripped("arm-linux-gnueabihf-gcc -mthumb -pg -O2", corpus);
    assertThat(image.notes()).singleElement().asString().contains("call sites", "strip");
    CoreOptions options = Run.options().withProbe(probe);
    Run run = run(image, options);
    assertThat(run.ending().detail()).isEqualTo(GOOD_END);
    assertThat(count(run, RecordBatch.ENTRY) + run.unhijackable()).isEqualTo(corpus.total());
    assertThat(run.unhijackable()).isPositive();
    Run entries =
        run(image, options.withTrace(TraceSettings.standard().withTracer(Tracer.FUNCTION)));
    assertThat(count(entries, RecordBatch.FUNCTION)).isEqualTo(corpus.total());
    assertThat(entries.unhijackable()).isZero();
  }
}
