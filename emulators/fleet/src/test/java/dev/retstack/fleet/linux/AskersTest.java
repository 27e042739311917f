package dev.retstack.fleet.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.schema.record.RecordBatch;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Functions that ask by their return address which file calls them, and traced functions that jump
 * to them: they get the answer that they get untraced.
 */
class AskersTest {
  private static final String HUB =
      """
      #define _GNU_SOURCE
      #include <dlfcn.h>
      #include <link.h>
      #define APART static __attribute__((noinline, noclone))
      APART void *next(const char *name) { return dlsym(RTLD_NEXT, name); }
      APART void *opened(const char *name) { return dlopen(name, RTLD_NOW); }
      void *hub_next(const char *name) {
        void *found = next(name);
        __asm__ volatile("" : "+r"(found));
        return found;
      }
      void *hub_open(const char *name) {
        void *found = opened(name);
        __asm__ volatile("" : "+r"(found));
        return found;
      }
      static int count(struct dl_phdr_info *info, size_t size, void *data) { return ++*(int *)data, 0; }
      int hub_objects(int *found) { return dl_iterate_phdr(count, found); }
      int answer(void) { return 1; }
      """;

  private static final String MAIN =
      """
      #include <stdio.h>
      void *hub_next(const char *);
      void *hub_open(const char *);
      int hub_objects(int *);
      int answer(void);
      int main(void) {
        int (*next)(void) = (int (*)(void))hub_next("answer");
        int found = 0;
        hub_objects(&found);
        printf("%d %d %s %d\\n", answer(), next ? next() : -1, hub_open("libleaf.so") ? "open" : "none",
               found > 2);
        return 0;
      }
      """;

  private static final String STEPS =
      """
      #include <stdio.h>
      #define APART __attribute__((noinline, noclone))
      #define BEHIND(x) __asm__ volatile("" : "+r"(x) : : "memory")
      int _Ux86_64_getcontext(void *);
      int _ULx86_64_init_local(void *, void *);
      int _ULx86_64_step(void *);
      int _ULx86_64_get_reg(void *, int, char **);
      int unw_backtrace(void **, int);
      int main(void);
      static long context[256], cursor[256];
      static void *found[16];
      APART int steps(void) {
        int n = 0;
        _Ux86_64_getcontext(context);
        _ULx86_64_init_local(cursor, context);
        while (_ULx86_64_step(cursor) > 0) _ULx86_64_get_reg(cursor, 16, (char **)&found[n++]);
        return n;
      }
      APART int all(void) { int n = unw_backtrace(found, 16); BEHIND(n); return n; }
      APART int below(int how) { int n = how ? steps() : all(); BEHIND(n); return n; }
      APART int deeper(int how) { int n = below(how); BEHIND(n); return n; }
      static const char *name(char *p) {
        const char *found = "?";
        unsigned long most = 512;
      #define F(f) if ((unsigned long)(p - (char *)f) < most) { most = p - (char *)f; found = #f; }
        F(steps) F(all) F(below) F(deeper) F(main)
        return found;
      }
      int main(void) {
        for (int how = 0; how < 2; how++) {
          int n = deeper(how);
          printf("%d", n);
          for (int i = 0; i < n; i++) printf(" %s", name(found[i]));
          printf("\\n");
        }
        return 0;
      }
      """;

  private static final Path LIBUNWIND = Path.of("/usr/lib/x86_64-linux-gnu/libunwind.so.8");

  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"-O0 -pg", "-pg", "-pg -mfentry", "-fpatchable-function-entry=5"})
  void libunwindFindsTheTrueOnes(String flags) throws Exception {
    assumeTrue(GuestCompiler.installed("x86_64-linux-gnu-gcc"), "skipped: no gcc");
    assumeTrue(Files.exists(LIBUNWIND), "skipped: no " + LIBUNWIND);
    Path program =
        build(
            "x86_64-linux-gnu-gcc",
            flags,
            folder.resolve("steps"),
            STEPS,
            "-fno-omit-frame-pointer",
            LIBUNWIND.toString());
    LoadedImage image = LoadedImage.load(program).requireCallSites();
    Run untraced = Run.of(image, Run.options().withTraced(false), 1_000_000, core -> {});
    assertThat(untraced.output()).contains(" below deeper main");
    for (ProbeKind probe : List.of(ProbeKind.JAVA, ProbeKind.NATIVE)) {
      Run run = Run.of(image, Run.options().withProbe(probe), 1_000_000, core -> {});
      assertThat(run.output()).as("%s %s", flags, probe).isEqualTo(untraced.output());
      assertThat(count(run.records(), RecordBatch.EXIT))
          .isEqualTo(count(run.records(), RecordBatch.ENTRY));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "x86_64-linux-gnu-gcc, -pg",
    "x86_64-linux-gnu-gcc, -pg -mfentry",
    "x86_64-linux-gnu-gcc, -fpatchable-function-entry=5",
    "x86_64-linux-gnu-gcc, -m32 -fpatchable-function-entry=5",
    "aarch64-linux-gnu-gcc, -pg",
    "riscv64-linux-gnu-gcc, -pg",
    "riscv64-linux-gnu-gcc, -fpatchable-function-entry=4",
    "arm-linux-gnueabihf-gcc, -pg -marm",
    "arm-linux-gnueabihf-gcc, -pg",
    "arm-linux-gnueabihf-gcc, -fpatchable-function-entry=4",
    "s390x-linux-gnu-gcc, -pg -mfentry",
    "powerpc64le-linux-gnu-gcc, -pg",
  })
  void whoJumpsToThemGetsTheirAnswer(String compiler, String flags) throws Exception {
    assumeTrue(GuestCompiler.installed(compiler), "skipped: no " + compiler);
    Path deep = Files.createDirectory(folder.resolve("deep"));
    build(compiler, flags, deep.resolve("libleaf.so"), "int leaf;", "-shared", "-fPIC");
    build(
        compiler,
        flags,
        folder.resolve("libbase.so"),
        "int answer(void) { return 2; }",
        "-shared",
        "-fPIC");
    build(
        compiler,
        flags,
        folder.resolve("libhub.so"),
        HUB,
        "-shared",
        "-fPIC",
        "-L" + folder,
        "-Wl,--no-as-needed",
        "-lbase",
        "-Wl,-rpath,$ORIGIN/deep");
    Path program =
        build(
            compiler,
            flags,
            folder.resolve("prog"),
            MAIN,
            "-L" + folder,
            "-Wl,--no-as-needed",
            "-lhub",
            "-lbase",
            "-Wl,-rpath,$ORIGIN");
    LoadedImage image = LoadedImage.load(program).requireCallSites();
    for (ProbeKind probe : List.of(ProbeKind.JAVA, ProbeKind.NATIVE)) {
      Run run = Run.of(image, Run.options().withProbe(probe), 1_000_000, core -> {});
      assertThat(run.output()).as("%s %s", flags, probe).isEqualTo("1 2 open 1\n");
      long entries = count(run.records(), RecordBatch.ENTRY);
      assertThat(count(run.records(), RecordBatch.EXIT)).isEqualTo(entries);
      assertThat(entries).isPositive();
    }
  }

  private static long count(RecordBatch records, byte kind) {
    return IntStream.range(0, records.size()).filter(i -> records.kind[i] == kind).count();
  }

  private static Path build(
      String compiler, String flags, Path output, String source, String... more) throws Exception {
    Path text = Files.writeString(output.resolveSibling(output.getFileName() + ".c"), source);
    List<String> arguments = new ArrayList<>(List.of(flags.split(" ")));
    arguments.addFirst("-O2");
    arguments.add(text.toString());
    arguments.addAll(List.of(more));
    return GuestCompiler.compileWith(compiler, output, arguments.toArray(String[]::new));
  }
}
