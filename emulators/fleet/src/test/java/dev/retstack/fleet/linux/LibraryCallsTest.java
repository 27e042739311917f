package dev.retstack.fleet.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.fleet.core.Core;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.linux.DynamicProgramsTest.Form;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.settings.FunctionPattern;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.fleet.settings.ValueRequest;
import dev.retstack.fleet.zoo.EachIsa;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.linux.shared.MappedObjects;
import dev.retstack.machine.loader.LibraryCalls;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.testing.Seeds;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Calls of functions that are not instrumented, through the procedure linkage table: as many as the
 * source makes, by both probes, and on x86_64 as many as uftrace counts. What is not installed is
 * skipped.
 */
class LibraryCallsTest {
  private static final String PROGRAM =
      """
      #include <pthread.h>
      #include <setjmp.h>
      #include <stdio.h>
      #include <stdlib.h>
      #define ALONE __attribute__((noinline, noclone))
      static jmp_buf home;
      static int left;
      ALONE int order(const void *a, const void *b) {
        if (--left == 0) longjmp(home, 1);
        return *(const int *)a - *(const int *)b;
      }
      ALONE int jumps(void) {
        int v[8] = {7, 3, 1, 0, 2, 6, 5, 4};
        left = 5;
        if (setjmp(home) == 0) qsort(v, 8, sizeof v[0], order);
        return getenv("NONE") == NULL;
      }
      ALONE long number(const char *text) { return strtol(text, NULL, 10); }
      ALONE void *worker(void *text) {
        long found = 0;
        for (int i = 0; i < 10; i++) found += getenv(text) != NULL;
        return (void *)found;
      }
      int main(void) {
        pthread_t one, two;
        void *a, *b;
        long sum = number("20") + number("1") + number("-1");
      #ifdef __m68k__ // clone is ENOSYS
        a = worker("HALF");
        b = worker("NONE");
      #else
        pthread_create(&one, NULL, worker, "HALF");
        pthread_create(&two, NULL, worker, "NONE");
        pthread_join(one, &a);
        pthread_join(two, &b);
      #endif
        printf("%ld %d %ld\\n", sum, jumps(), (long)a + (long)b);
        return 0;
      }
      """;

  private static final Map<String, Integer> CALLS =
      new TreeMap<>(
          Map.ofEntries(
              Map.entry("main", 1),
              Map.entry("jumps", 1),
              Map.entry("order", 5),
              Map.entry("worker", 2),
              Map.entry("number", 3),
              Map.entry("qsort", 1),
              Map.entry("longjmp", 1),
              Map.entry("getenv", 21),
              Map.entry("strtol", 3),
              Map.entry("pthread_create", 2),
              Map.entry("pthread_join", 2),
              Map.entry("printf", 1)));

  /** The start-up code of gcc -pg calls it, in some files through the table. */
  private static final String START_UP = "__cxa_atexit";

  private static final LinuxOptions LINUX =
      LinuxOptions.of("prog").withEnvironment(Map.of("HALF", "0.5"));

  private static final Map<List<String>, Path> PROGRAMS = new HashMap<>();

  @TempDir private static Path programs;
  @TempDir private Path folder;

  /** What a core recorded, by names. */
  private record Run(
      String stdout,
      String ending,
      Map<String, Integer> entries,
      Map<String, Integer> exits,
      List<Integer> values,
      List<String> own,
      List<String> records) {

    static Run of(Path program, ProbeKind probe, TraceSettings trace, int slice)
        throws IOException {
      CoreOptions options = CoreOptions.of(LINUX).withLibraryCalls(true);
      return of(program, options.withProbe(probe).withTrace(trace), slice);
    }

    static Run of(Path program, CoreOptions wanted, int slice) throws IOException {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      LoadedImage image = LoadedImage.load(program);
      CoreOptions options =
          wanted.withLinux(wanted.linux().withStreams(InputStream.nullInputStream(), out, out));
      Names names = new Names(image, new ArrayList<>());
      Run run =
          new Run(
              "",
              "",
              new TreeMap<>(),
              new TreeMap<>(),
              new ArrayList<>(),
              new ArrayList<>(),
              new ArrayList<>());
      try (Core core = Core.open(image, options)) {
        core.process().listen(names);
        Core.Slice how = Core.Slice.DEADLINE;
        while (how != Core.Slice.ENDED) {
          how = core.run(slice);
          run.take(names, core.probe().batch());
          core.probe().clear();
        }
        return new Run(
            out.toString(StandardCharsets.UTF_8),
            core.ending().orElseThrow().detail(),
            run.entries,
            run.exits,
            run.values,
            run.own,
            run.records);
      }
    }

    private void take(Names names, RecordBatch batch) {
      for (int i = 0; i < batch.size(); i++) {
        records.add(HostedRun.text(batch, i));
        if (names.isOwn(batch.selfPc[i])) {
          own.add("%d %d %x".formatted(batch.kind[i], batch.time[i], batch.selfPc[i]));
        }
        if (batch.kind[i] == RecordBatch.ENTRY) {
          entries.merge(names.of(batch.selfPc[i]), 1, Integer::sum);
        } else if (batch.kind[i] == RecordBatch.EXIT) {
          exits.merge(names.of(batch.selfPc[i]), 1, Integer::sum);
        } else if (batch.kind[i] == RecordBatch.VALUES) {
          values.add((int) batch.selfPc[i]); // the first of them
        }
      }
    }
  }

  /** Functions of the program and of the shared objects that were ever mapped. */
  private record Names(LoadedImage program, List<MappedObjects.Mapped> parts)
      implements MappedObjects {
    @Override
    public void mapped(Mapped object) {
      parts.add(object);
    }

    @Override
    public void unmapped(long base, long length) {}

    String of(long pc) {
      return parts.stream()
          .filter(part -> pc >= part.base() && pc < part.base() + part.length())
          .findFirst()
          .map(part -> name(part.image(), pc - part.bias()))
          .orElseGet(() -> name(program, pc));
    }

    /** True for a call site of the program. */
    boolean isOwn(long pc) {
      return program.callSites().contains(pc);
    }

    private static String name(LoadedImage image, long pc) {
      return image
          .libraryCalls()
          .at(pc)
          .or(() -> image.elf().functionAt(pc))
          .map(Symbol::name)
          .orElseThrow();
    }
  }

  private Path source(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text);
  }

  /** Several tests look at the same one: it is built once. */
  private static Path program(Form form, String... more) throws Exception {
    List<String> key = new ArrayList<>(List.of(form.name()));
    key.addAll(List.of(more));
    Path built = PROGRAMS.get(key);
    if (built == null) {
      List<String> flags = new ArrayList<>(List.of("-O2", "-fno-builtin", "-pthread"));
      flags.addAll(List.of(more));
      Path source = Files.writeString(programs.resolve("prog.c"), PROGRAM);
      String name = "prog" + PROGRAMS.size();
      built = form.dynamic(programs, name, source, flags.toArray(String[]::new));
      PROGRAMS.put(key, built);
    }
    return built;
  }

  /** Both probes, in slices of different length. */
  private static Run run(Path program) throws IOException {
    Run run = Run.of(program, ProbeKind.AUTO, TraceSettings.standard(), 1_000_000);
    Run inJava = Run.of(program, ProbeKind.JAVA, TraceSettings.standard(), 777);
    assertThat(inJava.records).isEqualTo(run.records);
    assertThat(inJava.stdout).isEqualTo(run.stdout);
    run.entries.remove(START_UP);
    run.exits.remove(START_UP);
    return run;
  }

  private static void check(Path program) throws IOException {
    Run run = run(program);
    assertThat(run.stdout).isEqualTo("20 1 10\n");
    assertThat(run.ending).isEqualTo("exited with code 0");
    LoadedImage image = LoadedImage.load(program);
    Map<String, Integer> calls = new TreeMap<>(CALLS);
    if (!image.isa().syscalls().threads().started()) {
      calls.keySet().removeAll(List.of("pthread_create", "pthread_join"));
    }
    assertThat(run.entries).isEqualTo(calls);
    Map<String, Integer> exits = new TreeMap<>(calls);
    // a longjmp leaves these; what it leaves is told by the depth of the next record
    exits.merge("order", -1, Integer::sum);
    exits.keySet().removeAll(List.of("qsort", "longjmp"));
    image.copiedReturns().forEach(site -> exits.remove(Names.name(image, site)));
    assertThat(run.exits).isEqualTo(exits);
  }

  /**
   * Kinds of tables: of each ISA, placed by the linker or by the loader, bound late and at once.
   */
  static Stream<Form> tables() {
    return EachIsa.compiled(
        Stream.of(Form.values())
            .filter(form -> !form.name().matches("(PPC32|MIPS).*")) // --libcalls is refused there
            .toList(),
        List.of(
            Form.X86_64_PIE,
            Form.X86_64_FIXED,
            Form.X86_64_FENTRY,
            Form.X86_64_NOW,
            Form.I386_PIE,
            Form.I386_FIXED,
            Form.AARCH64_PIE,
            Form.RISCV64_PIE,
            Form.ARM_FIXED,
            Form.ARM_THUMB,
            Form.S390X_PIE,
            Form.PPC64LE_PIE,
            Form.PPC64_PIE,
            Form.M68K_FIXED),
        List.of(Form.X86_64_PIE, Form.X86_64_NOW, Form.ARM_THUMB, Form.S390X_PIE, Form.M68K_FIXED))
        .stream();
  }

  @ParameterizedTest
  @MethodSource("tables")
  void eachCallOfTheSourceIsThere(Form form) throws Exception {
    check(program(form));
  }

  /** On ppc64 the counting function is called through a register too. */
  static Stream<Form> withoutTable() {
    return tables().filter(form -> !form.name().startsWith("PPC64"));
  }

  /** Such a program calls a function by its address, loaded from a word or kept in a register. */
  @ParameterizedTest
  @MethodSource("withoutTable")
  void eachCallWithoutTheTableIsThere(Form form) throws Exception {
    check(program(form, "-fno-plt"));
  }

  private static final String POINTERS =
      """
      #define _GNU_SOURCE
      #include <dlfcn.h>
      #include <stdio.h>
      #include <stdlib.h>
      #define ALONE __attribute__((noinline, noclone))
      typedef char *(*look)(const char *);
      static int called;
      ALONE char *own(const char *name) { called++; return NULL; }
      look table[] = {getenv, own, secure_getenv};
      ALONE int each(const char *name) {
        int found = 0;
        for (int i = 0; i < 3; i++) found += table[i](name) != NULL;
        return found;
      }
      ALONE int order(const void *a, const void *b) { return *(int *)a - *(int *)b; }
      ALONE long last(const char *text) { return strtol(text, NULL, 10); }
      int main(void) {
        int same = table[0] == getenv && dlsym(RTLD_DEFAULT, "getenv") == (void *)table[0];
        int v[] = {3, 1, 2}, found = 0;
        void (*sort)(void *, size_t, size_t, int (*)(const void *, const void *)) = qsort;
        sort(v, 3, sizeof v[0], order);
        for (int i = 0; i < 5; i++) found += each("HALF");
        table[0] = own;
        found += each("HALF");
        printf("%d %d %d %d %ld\\n", same, v[0], found, called, last("7"));
        return 0;
      }
      """;

  /** Pointers to functions stay what they are, and calls by them are there. */
  @ParameterizedTest
  @EnumSource(names = {"X86_64_PIE", "X86_64_FENTRY", "RISCV64_PIE", "ARM_THUMB", "S390X_PIE"})
  void callsByPointersAreThere(Form form) throws Exception {
    Path source = source("prog.c", POINTERS);
    Run run = run(form.dynamic(folder, "prog", source, "-O2", "-fno-builtin", "-fno-plt"));

    assertThat(run.stdout).isEqualTo("1 1 11 7 7\n");
    assertThat(run.entries)
        .containsEntry("getenv", 5)
        .containsEntry("secure_getenv", 6)
        .containsEntry("qsort", 1)
        .containsEntry("own", 7)
        .containsEntry("strtol", 1)
        .containsEntry("printf", 1)
        .doesNotContainKey("dlsym")
        .isEqualTo(run.exits);
  }

  /** Behind landing pads the linker makes a second table, {@code .plt.sec}. */
  @ParameterizedTest
  @CsvSource({
    "-fcf-protection, '-Wl,-z,ibtplt'",
    "-fcf-protection, '-Wl,-z,ibtplt,-z,now'",
    "-mfentry, '-Wl,-z,ibtplt'",
  })
  void tablesWithLandingPads(String compiled, String linked) throws Exception {
    Path program = program(Form.X86_64_PIE, compiled, linked);
    assertThat(LoadedImage.load(program).elf().section(".plt.sec")).isPresent();

    check(program);
  }

  /** Those of the userland have their own source; the first word is its name. */
  @ParameterizedTest
  @ValueSource(strings = {"prog", "hello a bcd zz mnop", "recover 96 / 4 + 1 x 3 / 5"})
  void uftraceCountsTheSame(String line) throws Exception {
    String uftrace = "/usr/bin/uftrace";
    Assumptions.assumeTrue(Files.exists(Path.of(uftrace)), "skipped: no uftrace");
    List<String> words = List.of(line.split(" "));
    Path userland = Path.of(System.getProperty("retstack.root"), "emulators/guest/userland");
    Path program =
        words.size() == 1
            ? program(Form.X86_64_PIE)
            : Form.X86_64_PIE.dynamic(
                folder, words.getFirst(), userland.resolve(words.getFirst() + ".c"));
    String data = folder.resolve("data").toString();
    List<String> command = new ArrayList<>(List.of(uftrace, "record", "-d", data));
    command.add(program.toString());
    command.addAll(words.subList(1, words.size()));
    output(command);
    Map<String, Integer> counted = new TreeMap<>();
    for (String row :
        output(List.of(uftrace, "report", "-f", "call", "-d", data)).lines().toList()) {
      String[] cells = row.trim().split(" +", -1);
      if (cells[0].matches("[0-9]+") && !cells[1].startsWith("linux:")) {
        counted.put(cells[1], Integer.parseInt(cells[0]));
      }
    }
    // start-up code; setjmp returns twice, which a hijack does not survive
    counted.keySet().removeAll(List.of("__monstartup", START_UP, "_setjmp"));

    CoreOptions options = CoreOptions.of(LINUX.withArguments(words)).withLibraryCalls(true);
    Run run = Run.of(program, options, 1_000_000);
    run.exits.remove(START_UP);

    assertThat(run.exits).isEqualTo(counted); // it reports calls that returned
    assertThat(Run.of(program, options.withProbe(ProbeKind.JAVA), 777).records)
        .isEqualTo(run.records);
  }

  private String output(List<String> command) throws IOException, InterruptedException {
    Path out = folder.resolve("out");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile());
    builder.environment().put("HALF", "0.5");
    Process process = builder.start();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return Files.readString(out);
  }

  private static final String USER =
      """
      #include <stdio.h>
      #include <string.h>
      int twice(int);
      int main(int argc, char **argv) {
        printf("%d\\n", twice(argc) + (int)strlen(argv[0]));
        return 0;
      }
      """;

  /** As uftrace does: such a call is there, and in it the function that tells of itself. */
  @ParameterizedTest
  @EnumSource(
      names = {"X86_64_PIE", "X86_64_FENTRY_FIXED", "X86_64_PATCHABLE", "AARCH64_PIE", "S390X_PIE"})
  void sharedObjectsThatAreInstrumented(Form form) throws Exception {
    Path twice =
        source(
            "twice.c",
            """
            #include <string.h>
            int twice(int x) { char b[64]; memset(b, x, 8 + x); return 2 * b[x]; }
            """);
    form.dynamic(folder, "libtwice.so", twice, "-fno-builtin", "-shared", "-fPIC");
    Path program =
        form.dynamic(
            folder,
            "prog",
            source("user.c", USER),
            "-fno-builtin",
            "-L" + folder,
            "-ltwice",
            "-Wl,-rpath,$ORIGIN");

    Run run = run(program);

    assertThat(run.stdout).isEqualTo("6\n");
    assertThat(run.entries)
        .isEqualTo(Map.of("main", 1, "twice", 2, "memset", 1, "strlen", 1, "printf", 1))
        .isEqualTo(run.exits);
  }

  private static final String EXCEPTIONS =
      """
      #include <cstdlib>
      #include <stdexcept>
      struct Guard { ~Guard() { std::getenv("NONE"); } };
      __attribute__((noinline)) int thrower(int n) {
        Guard guard;
        if (n == 0) throw std::runtime_error("boom");
        return thrower(n - 1) + 1;
      }
      __attribute__((noinline)) int catcher(int n) {
        try { return thrower(n); } catch (const std::exception &) { return n; }
      }
      int main() {
        int sum = 0;
        for (int i = 0; i < 4; i++) sum += catcher(i);
        return sum;
      }
      """;

  @ParameterizedTest
  @CsvSource({
    "x86_64-linux-gnu-g++, ''",
    "x86_64-linux-gnu-g++, '-mfentry'",
    "aarch64-linux-gnu-g++, ''"
  })
  void exceptionsPassThrough(String command, String flag) throws Exception {
    Assumptions.assumeTrue(GuestCompiler.installed(command), "skipped: no " + command);
    List<String> flags =
        new ArrayList<>(List.of("-O1", "-pg", source("prog.cc", EXCEPTIONS).toString()));
    flags.addAll(flag.isEmpty() ? List.of() : List.of(flag));
    Path program =
        GuestCompiler.compileWith(command, folder.resolve("prog"), flags.toArray(String[]::new));

    Run run = run(program);

    assertThat(run.ending).isEqualTo("exited with code 6");
    assertThat(run.entries)
        .containsEntry("__cxa_throw", 4)
        .containsEntry("getenv", 10)
        .containsEntry("__cxa_begin_catch", 4)
        .doesNotContainKey("_Unwind_Resume");
    assertThat(run.exits)
        .containsEntry("getenv", 10)
        .containsEntry("__cxa_end_catch", 4)
        .doesNotContainKey("__cxa_throw");
  }

  private static final String SWITCHES =
      """
      #include <signal.h>
      #include <stdlib.h>
      #include <ucontext.h>
      static ucontext_t home, other;
      static char stack[65536];
      void handler(int number) { getenv("HALF"); }
      void coroutine(void) {
        for (int i = 0; i < 3; i++) { getenv("HALF"); swapcontext(&other, &home); }
      }
      int main(void) {
        getcontext(&other);
        other.uc_stack.ss_sp = stack;
        other.uc_stack.ss_size = sizeof stack;
        makecontext(&other, coroutine, 0);
        for (int i = 0; i < 3; i++) { getenv("NONE"); swapcontext(&home, &other); }
        signal(SIGUSR1, handler);
        raise(SIGUSR1);
        exit(3);
      }
      """;

  @ParameterizedTest
  @EnumSource(names = {"X86_64_PIE", "AARCH64_PIE", "RISCV64_PIE", "S390X_PIE"})
  void coroutinesSignalsAndTheEnd(Form form) throws Exception {
    Run run = run(form.dynamic(folder, "prog", source("prog.c", SWITCHES), "-fno-builtin"));

    assertThat(run.ending).isEqualTo("exited with code 3");
    assertThat(run.exits)
        .isEqualTo(Map.of("getenv", 7, "makecontext", 1, "signal", 1, "raise", 1, "handler", 1));
    Map<String, Integer> entries = new TreeMap<>(run.exits);
    entries.putAll(Map.of("main", 1, "coroutine", 1, "exit", 1));
    assertThat(run.entries).isEqualTo(entries);
  }

  @Test
  void filtersApplyByName() throws Exception {
    Path program = program(Form.X86_64_PIE);
    TraceSettings settings =
        TraceSettings.standard().withFilters(FunctionPattern.parseAll("getenv,main"));

    Run run = Run.of(program, ProbeKind.AUTO, settings, 1_000_000);

    assertThat(run.entries).isEqualTo(Map.of("getenv", 21, "main", 1));
    assertThat(Run.of(program, ProbeKind.JAVA, settings, 777).records).isEqualTo(run.records);
  }

  @Test
  void documentSaysWhatIsLeftOut() throws Exception {
    Path document =
        Path.of(System.getProperty("retstack.root"), "emulators", "machine", "LINUX.md");
    List<String> lines = Files.readAllLines(document);

    LibraryCalls.leftOut()
        .forEach(
            (reason, names) ->
                assertThat(names)
                    .allMatch(
                        name ->
                            lines.stream()
                                .anyMatch(
                                    l ->
                                        l.contains("`" + name + "`")
                                            && l.endsWith(reason + " |"))));
  }

  /** Without the option the other records have the same functions at the same times. */
  @ParameterizedTest
  @EnumSource(names = {"X86_64_PIE", "AARCH64_PIE", "PPC64LE_PIE", "PPC64_PIE"})
  void nothingElseChanges(Form form) throws Exception {
    Path program = program(form);
    CoreOptions options = CoreOptions.of(LINUX);

    Run run = Run.of(program, options.withLibraryCalls(true), 1_000_000);
    Run without = Run.of(program, options, 1_000_000);

    List<String> own = new ArrayList<>(without.own);
    assertThat(own).hasSizeGreaterThan(20);
    assertThat(run.own).isEqualTo(own);
    assertThat(without.entries).doesNotContainKey("getenv");
    assertThat(Run.of(program, options.withLibraryCalls(true).withCheckReturns(true), 555).records)
        .isEqualTo(run.records);
  }

  @Test
  void namesAreKnownToSettings() throws Exception {
    LoadedImage image = LoadedImage.load(program(Form.X86_64_PIE));
    CoreOptions options = CoreOptions.of(LINUX);
    FunctionPattern getenv = FunctionPattern.parse("getenv");

    assertThat(new CoreSpec("a", image, options).catalog().has(getenv)).isFalse();
    assertThat(new CoreSpec("b", image, options.withLibraryCalls(true)).catalog().has(getenv))
        .isTrue();
  }

  @ParameterizedTest
  @EnumSource(names = {"X86_64_PIE", "I386_PIE", "AARCH64_PIE"})
  void argumentsAndResultsAreRead(Form form) throws Exception {
    Path program = program(form);
    TraceSettings settings =
        TraceSettings.standard()
            .withFilters(FunctionPattern.parseAll("strtol"))
            .withArguments(List.of(ValueRequest.parseArguments("strtol@arg3")))
            .withReturns(List.of(ValueRequest.parseReturn("strtol")));

    Run run = Run.of(program, ProbeKind.AUTO, settings, 1_000_000);

    assertThat(run.values).containsExactly(10, 20, 10, 1, 10, -1);
    assertThat(Run.of(program, ProbeKind.JAVA, settings, 777).values).isEqualTo(run.values);
  }

  @Test
  void readersGetTheNames() throws Exception {
    LoadedImage image = LoadedImage.load(program(Form.X86_64_PIE));
    CoreOptions options = CoreOptions.of(LINUX);

    assertThat(names(image, options)).doesNotContain("getenv");
    assertThat(names(image, options.withLibraryCalls(true))).contains("getenv", "main");
  }

  private static List<String> names(LoadedImage image, CoreOptions options) {
    return CoreSpec.describe(image, List.of(new CoreSpec("core", image, options)))
        .getSymbols()
        .stream()
        .map(symbol -> symbol.getName())
        .toList();
  }

  /** A table that lies leads to fewer places, or to code that is no such place. */
  @ParameterizedTest
  @EnumSource(names = {"X86_64_NOW", "PPC64LE_PIE", "PPC64_PIE", "S390X_PIE"})
  void damagedFilesHaveFewerPlaces(Form form) throws Exception {
    byte[] whole = Files.readAllBytes(program(form));
    long seed = Seeds.fresh();
    int read = 0;
    for (int i = 0; i < 1_000; i++) {
      SplittableRandom random = new SplittableRandom(seed + i);
      byte[] mutant = whole.clone();
      for (int k = random.nextInt(1, 8); k > 0; k--) {
        mutant[random.nextInt(mutant.length)] = (byte) random.nextInt();
      }
      try {
        LoadedImage image = LoadedImage.of(ElfFile.parse(mutant, "mutant"));
        assertThat(image.libraryCalls().places())
            .as("seed %d, mutant %d", seed, i)
            .hasSizeLessThan(mutant.length)
            .allMatch(place -> image.elf().executableAt(place.site()));
        read++;
      } catch (ElfFormatException refused) {
        assertThat(refused).hasMessageStartingWith("mutant: ");
      }
    }
    assertThat(read).isGreaterThan(100);
  }

  @Test
  void programsWithoutSuchCallsAreRefusedWithTheCure() throws Exception {
    Path source = source("prog.c", PROGRAM);
    LoadedImage linked = LoadedImage.load(Form.X86_64_PIE.linkedStatically(folder, source));
    LoadedImage none =
        LoadedImage.load(
            Form.X86_64_PIE.dynamic(
                folder,
                "none",
                source("none.c", "int f(int x) { return x; } void _start(void) { f(1); }"),
                "-nostartfiles"));

    assertThatThrownBy(linked::requireLibraryCalls)
        .hasMessage(
            "static: PT_INTERP is none: all its functions are in the file, allowed: a program that"
                + " calls functions of shared objects (--libcalls); link it without -static, or"
                + " leave --libcalls out");
    assertThatThrownBy(none::requireLibraryCalls)
        .hasMessageContaining("none: the table of dynamic symbols is 0 functions")
        .hasMessageContaining("leave --libcalls out");
    assertThatThrownBy(() -> Core.open(linked, CoreOptions.of(LINUX).withLibraryCalls(true)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("--libcalls");
  }
}
