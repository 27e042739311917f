package dev.retstack.fleet.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.fleet.core.Core;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.zoo.EachIsa;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.linux.shared.MappedObjects;
import dev.retstack.machine.linux.shared.Sysroot;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.schema.record.RecordBatch;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Dynamically linked programs: they print, end and call their functions as the same source does
 * that is linked statically. What is not installed is skipped.
 */
class DynamicProgramsTest {
  private static final String PROGRAM =
      """
      #include <setjmp.h>
      #include <stdio.h>
      #include <stdlib.h>
      #include <string.h>
      static jmp_buf home;
      __attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
      static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
      __attribute__((noinline)) int sorted(void) {
        int v[20];
        for (int i = 0; i < 20; i++) v[i] = i * 7 % 20;
        qsort(v, 20, sizeof v[0], order);
        return v[19];
      }
      __attribute__((noinline)) void dive(int n) {
        if (n == 0) longjmp(home, 3);
        dive(n - 1);
        printf("%d", n);
      }
      __attribute__((noinline)) int jumps(void) {
        int how = setjmp(home);
        if (how == 0) dive(5);
        return how;
      }
      int main(int argc, char **argv) {
        char *text = malloc(argc * 100);
        strcpy(text, argv[1]);
        printf("%s %d %d", text, fib(10), sorted());
        printf(" %d %g\\n", jumps(), atof(getenv("HALF")));
        free(text);
        return 42;
      }
      """;

  private static final String EXCEPTIONS =
      """
      #include <cstdio>
      #include <stdexcept>
      __attribute__((noinline)) int thrower(int n) {
        if (n == 0) throw std::runtime_error("boom");
        return thrower(n - 1) + 1;
      }
      __attribute__((noinline)) int catcher(int n) {
        try { return thrower(n); } catch (const std::exception &e) { std::puts(e.what()); return n; }
      }
      int main() {
        int sum = 0;
        for (int i = 0; i < 4; i++) sum += catcher(i);
        return sum;
      }
      """;

  private static final Map<String, String> ENVIRONMENT = Map.of("HALF", "0.5");
  private static final LinuxOptions LINUX =
      LinuxOptions.of("prog").withArguments(List.of("prog", "hi")).withEnvironment(ENVIRONMENT);

  private static final long SLICE = 1_000_000;

  @TempDir private Path folder;

  /** A way to compile and link. */
  enum Form {
    X86_64_PIE("x86_64-linux-gnu-gcc", "-pg"),
    X86_64_FIXED("x86_64-linux-gnu-gcc", "-pg", "-fno-pie", "-no-pie"),
    X86_64_FENTRY("x86_64-linux-gnu-gcc", "-pg", "-mfentry"),
    X86_64_FENTRY_FIXED("x86_64-linux-gnu-gcc", "-pg", "-mfentry", "-fno-pie", "-no-pie"),
    X86_64_NOW("x86_64-linux-gnu-gcc", "-pg", "-fcf-protection", "-Wl,-z,now"),
    X86_64_FIXED_NOW("x86_64-linux-gnu-gcc", "-pg", "-fno-pie", "-no-pie", "-Wl,-z,now"),
    I386_PIE("x86_64-linux-gnu-gcc", "-m32", "-pg"),
    I386_FIXED("x86_64-linux-gnu-gcc", "-m32", "-pg", "-fno-pie", "-no-pie"),
    AARCH64_PIE("aarch64-linux-gnu-gcc", "-pg"),
    AARCH64_FIXED("aarch64-linux-gnu-gcc", "-pg", "-fno-pie", "-no-pie"),
    RISCV64_PIE("riscv64-linux-gnu-gcc", "-pg"),
    RISCV64_FIXED("riscv64-linux-gnu-gcc", "-pg", "-fno-pie", "-no-pie"),
    ARM_FIXED("arm-linux-gnueabihf-gcc", "-pg", "-marm", "-fno-pie", "-no-pie"),
    ARM_THUMB("arm-linux-gnueabihf-gcc", "-pg", "-mthumb"),
    S390X_PIE("s390x-linux-gnu-gcc", "-pg"),
    S390X_FIXED("s390x-linux-gnu-gcc", "-pg", "-fno-pie", "-no-pie"),
    S390X_FENTRY("s390x-linux-gnu-gcc", "-pg", "-mfentry"),
    PPC64LE_PIE("powerpc64le-linux-gnu-gcc", "-pg"),
    PPC64LE_FIXED("powerpc64le-linux-gnu-gcc", "-pg", "-fno-pie", "-no-pie"),
    PPC64_PIE("powerpc64-linux-gnu-gcc", "-pg"),
    PPC64_FIXED("powerpc64-linux-gnu-gcc", "-pg", "-fno-pie", "-no-pie"),
    PPC32_PIE("powerpc-linux-gnu-gcc", "-pg"),
    PPC32_FIXED("powerpc-linux-gnu-gcc", "-pg", "-fno-pie", "-no-pie"),
    PPC32_BSS_PLT("powerpc-linux-gnu-gcc", "-pg", "-Wl,--bss-plt"),
    PPC32_SYMBOLIC("powerpc-linux-gnu-gcc", "-pg", "-Wl,-Bsymbolic"),
    MIPS_PIE("mips-linux-gnu-gcc", "-pg"),
    MIPS_FIXED("mips-linux-gnu-gcc", "-pg", "-fno-pie", "-no-pie"),
    MIPS_FIXED_PLT("mips-linux-gnu-gcc", "-pg", "-mno-abicalls", "-fno-pie", "-no-pie"),
    MIPS_NOW("mips-linux-gnu-gcc", "-pg", "-Wl,-z,now"),
    MIPSEL_PIE("mipsel-linux-gnu-gcc", "-pg", "-mmcount-ra-address"),
    MIPSEL_FAR("mipsel-linux-gnu-gcc", "-pg", "-mxgot"),
    MIPS64_PIE("mips64-linux-gnuabi64-gcc", "-pg"),
    MIPS64_FIXED("mips64-linux-gnuabi64-gcc", "-pg", "-fno-pie", "-no-pie"),
    M68K_PIE("m68k-linux-gnu-gcc", "-pg", "-fno-omit-frame-pointer"),
    M68K_FIXED("m68k-linux-gnu-gcc", "-pg", "-fno-omit-frame-pointer", "-fno-pie", "-no-pie"),
    X86_64_PATCHABLE("x86_64-linux-gnu-gcc", "-fpatchable-function-entry=5"),
    X86_64_PATCHABLE_FIXED(
        "x86_64-linux-gnu-gcc", "-fpatchable-function-entry=5", "-fno-pie", "-no-pie"),
    X86_64_RELR(
        "x86_64-linux-gnu-gcc", "-fpatchable-function-entry=5", "-Wl,-z,pack-relative-relocs"),
    I386_PATCHABLE("x86_64-linux-gnu-gcc", "-m32", "-fpatchable-function-entry=5"),
    AARCH64_PATCHABLE("aarch64-linux-gnu-gcc", "-fpatchable-function-entry=2"),
    RISCV64_PATCHABLE("riscv64-linux-gnu-gcc", "-fpatchable-function-entry=4"),
    ARM_PATCHABLE("arm-linux-gnueabihf-gcc", "-marm", "-fpatchable-function-entry=2"),
    S390X_PATCHABLE("s390x-linux-gnu-gcc", "-fpatchable-function-entry=3"),
    PPC32_PATCHABLE("powerpc-linux-gnu-gcc", "-fpatchable-function-entry=2"),
    PPC64_PATCHABLE("powerpc64-linux-gnu-gcc", "-fpatchable-function-entry=2"),
    PPC64LE_PATCHABLE(
        "powerpc64le-linux-gnu-gcc", "-fpatchable-function-entry=2", "-fno-pie", "-no-pie"),
    M68K_PATCHABLE("m68k-linux-gnu-gcc", "-fpatchable-function-entry=3");

    private final String command;
    private final String[] flags;

    Form(String command, String... flags) {
      this.command = command;
      this.flags = flags;
    }

    Path dynamic(Path folder, String name, Path source, String... more)
        throws IOException, InterruptedException {
      Assumptions.assumeTrue(GuestCompiler.installed(command), "skipped: no " + command);
      List<String> arguments = new ArrayList<>(List.of("-O1", source.toString()));
      Collections.addAll(arguments, flags);
      Collections.addAll(arguments, more);
      return GuestCompiler.compileWith(
          command, folder.resolve(name), arguments.toArray(String[]::new));
    }

    /** Its counting functions are found in the file. Linked without -pg: no profile begins. */
    Path linkedStatically(Path folder, Path source) throws IOException, InterruptedException {
      Path object = dynamic(folder, "static.o", source, "-c");
      return GuestCompiler.compileWith(
          command,
          folder.resolve("static"),
          object.toString(),
          "-static",
          flags[0].equals("-m32") ? "-m32" : "-O1");
    }
  }

  private Path source(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text);
  }

  /** Fixed and movable, bound late and at once, call sites by scan and by table. */
  static Stream<Form> forms() {
    return EachIsa.compiled(
        List.of(Form.values()),
        List.of(
            Form.X86_64_PIE,
            Form.X86_64_FENTRY_FIXED,
            Form.X86_64_NOW,
            Form.X86_64_FIXED_NOW,
            Form.I386_FIXED,
            Form.AARCH64_PIE,
            Form.RISCV64_FIXED,
            Form.ARM_THUMB,
            Form.S390X_FENTRY,
            Form.PPC64LE_PIE,
            Form.PPC64_PIE,
            Form.PPC32_PIE,
            Form.MIPS_PIE,
            Form.MIPSEL_FAR,
            Form.MIPS64_PIE,
            Form.M68K_FIXED,
            Form.X86_64_RELR,
            Form.I386_PATCHABLE,
            Form.AARCH64_PATCHABLE,
            Form.RISCV64_PATCHABLE,
            Form.ARM_PATCHABLE,
            Form.S390X_PATCHABLE),
        List.of(
            Form.X86_64_PIE,
            Form.X86_64_FIXED_NOW,
            Form.ARM_THUMB,
            Form.S390X_FENTRY,
            Form.PPC32_PIE,
            Form.MIPS_PIE,
            Form.M68K_FIXED,
            Form.X86_64_PATCHABLE,
            Form.ARM_PATCHABLE))
        .stream();
  }

  @ParameterizedTest
  @MethodSource("forms")
  void doesWhatTheSameProgramDoesThatIsLinkedStatically(Form form) throws Exception {
    Path source = source("prog.c", PROGRAM);
    HostedRun dynamic =
        HostedRun.of(form.dynamic(folder, "prog", source), LINUX, "", ProbeKind.AUTO, SLICE);
    HostedRun inJava = HostedRun.of(folder.resolve("prog"), LINUX, "", ProbeKind.JAVA, 777);
    HostedRun linked =
        HostedRun.of(form.linkedStatically(folder, source), LINUX, "", ProbeKind.AUTO, SLICE);

    assertThat(dynamic.stderr()).isEmpty();
    assertThat(dynamic.stdout()).isEqualTo("hi 55 19 3 0.5\n").isEqualTo(linked.stdout());
    assertThat(dynamic.result().ending().detail()).isEqualTo("exited with code 42");
    assertThat(dynamic.calls()).isEqualTo(linked.calls()).containsEntry("fib", 177);
    assertThat(dynamic.result().unsupported()).isEmpty();
    assertThat(inJava.records()).isEqualTo(dynamic.records());
    assertThat(Files.exists(folder.resolve("gmon.out"))).isFalse();
  }

  /** The C library's start-up code for -pg would ask for a timer, and write gmon.out at the end. */
  @ParameterizedTest
  @EnumSource(names = {"X86_64_STATIC", "THUMB_STATIC", "MIPS_STATIC", "MIPSEL_STATIC"})
  void noProfileIsMade(SignalForm form) throws Exception {
    Path source = source("prog.c", "int main(void) { return 3; }");
    Path program = form.compile(folder.resolve("prog"), List.of(source.toString()), false);
    HostedRun run = HostedRun.of(program, LINUX, "", ProbeKind.AUTO, SLICE);

    assertThat(run.stderr()).isEmpty();
    assertThat(run.result().ending().detail()).isEqualTo("exited with code 3");
    assertThat(run.result().unsupported()).isEmpty();
  }

  /** Programs that nobody compiled for a tracer. */
  @ParameterizedTest
  @CsvSource({
    "/bin/echo, a b, '', 'a b|'",
    "/bin/cat, -n, x, '     1\tx'",
    "/usr/bin/sort, -r, 'a|c|b|', 'c|b|a|'",
    "/usr/bin/sha256sum, -, '', "
        + "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  -|",
    "/usr/bin/expr, 6 * 7, '', 42|",
    "/usr/bin/perl, -e print+6*7, '', 42",
    "/usr/bin/awk, BEGIN{print(6*7)}, '', 42|",
  })
  void programsOfThisMachineRunUntraced(String name, String line, String input, String output)
      throws Exception {
    Path program = Path.of(name);
    Assumptions.assumeTrue(Files.exists(program), "skipped: no " + name);
    List<String> arguments = new ArrayList<>(List.of(name));
    arguments.addAll(List.of(line.split(" ")));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    byte[] in = input.replace('|', '\n').getBytes(StandardCharsets.UTF_8);
    LinuxOptions linux =
        LinuxOptions.of("prog")
            .withArguments(arguments)
            .withStreams(new ByteArrayInputStream(in), out, err);
    CoreOptions options = CoreOptions.of(linux).withTraced(false);
    try (Core core = Core.open(LoadedImage.load(program.toRealPath()), options)) {
      assertThat(core.run(SLICE * 100)).isEqualTo(Core.Slice.ENDED);
      assertThat(core.ending().orElseThrow().detail()).isEqualTo("exited with code 0");
      assertThat(err.size()).isZero();
      assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo(output.replace('|', '\n'));
    }
  }

  @Test
  void strippedProgramIsTracedByAddresses() throws Exception {
    Path program =
        Form.X86_64_PIE.dynamic(folder, "prog", source("prog.c", PROGRAM), "-Wl,--strip-all");

    assertThat(LoadedImage.load(program).callSites()).hasSize(6);
  }

  private static final String USER =
      """
      #include <dlfcn.h>
      #include <stdio.h>
      int twice(int);
      int main(void) {
        void *plugin = dlopen("./plugin.so", RTLD_NOW);
        if (plugin == NULL) { puts(dlerror()); return 1; }
        int (*thrice)(int) = (int (*)(int)) dlsym(plugin, "thrice");
        printf("%d %d %d\\n", twice(3), thrice(4), twice(3));
        return dlclose(plugin);
      }
      """;

  /** What a core told of shared objects, and how often functions of any file were entered. */
  private record Shared(
      String stdout,
      List<MappedObjects.Mapped> mapped,
      List<Long> unmapped,
      Map<String, Integer> calls,
      List<String> records) {

    static Shared of(Path program, ProbeKind probe, int slice) throws IOException {
      Shared told =
          new Shared("", new ArrayList<>(), new ArrayList<>(), new TreeMap<>(), new ArrayList<>());
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      LoadedImage image = LoadedImage.load(program);
      CoreOptions options =
          CoreOptions.of(LINUX.withStreams(InputStream.nullInputStream(), out, out))
              .withProbe(probe);
      try (Core core = Core.open(image, options)) {
        core.process().listen(told.listener());
        Core.Slice how = Core.Slice.DEADLINE;
        while (how != Core.Slice.ENDED) {
          how = core.run(slice);
          told.take(image, core.probe().batch());
          core.probe().clear();
        }
      }
      return new Shared(
          out.toString(StandardCharsets.UTF_8),
          told.mapped,
          told.unmapped,
          told.calls,
          told.records);
    }

    private MappedObjects listener() {
      return new MappedObjects() {
        @Override
        public void mapped(Mapped object) {
          mapped.add(object);
        }

        @Override
        public void unmapped(long base, long length) {
          unmapped.add(base);
        }
      };
    }

    private void take(LoadedImage image, RecordBatch batch) {
      for (int i = 0; i < batch.size(); i++) {
        long pc = batch.selfPc[i];
        records.add(HostedRun.text(batch, i));
        if (batch.kind[i] == RecordBatch.ENTRY) {
          String name =
              mapped.stream()
                  .filter(part -> pc >= part.base() && pc < part.base() + part.length())
                  .findFirst()
                  .map(part -> part.image().elf().functionAt(pc - part.bias()))
                  .orElseGet(() -> image.elf().functionAt(pc))
                  .orElseThrow()
                  .name();
          calls.merge(name, 1, Integer::sum);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      names = {
        "X86_64_PIE",
        "X86_64_FENTRY",
        "I386_PIE",
        "AARCH64_PIE",
        "RISCV64_PIE",
        "ARM_FIXED",
        "S390X_PIE",
        "PPC64LE_PIE",
        "PPC64_PIE",
        "MIPS_PIE",
        "MIPSEL_FAR",
        "MIPS64_PIE",
        "X86_64_PATCHABLE",
        "ARM_PATCHABLE",
        "S390X_PATCHABLE"
      })
  void callsOfSharedObjectsAreTracedFromTheFirstOn(Form form) throws Exception {
    Path program = withSharedObjects(form);

    Shared run = Shared.of(program, ProbeKind.AUTO, (int) SLICE);

    assertThat(run.stdout).isEqualTo("8 12 8\n");
    assertThat(run.calls).isEqualTo(Map.of("main", 1, "twice", 2, "more", 2, "thrice", 1));
    assertThat(run.mapped)
        .extracting(object -> object.image().elf().name())
        .hasSize(4)
        .contains("libtwice.so", "libc.so.6")
        .endsWith("plugin.so");
    assertThat(run.mapped)
        .allSatisfy(
            object -> {
              assertThat(object.protection()).isEqualTo(5);
              assertThat(object.image().elf().buildId()).isNotEmpty();
            });
    MappedObjects.Mapped plugin = run.mapped.getLast();
    long thrice = plugin.image().elf().symbol("thrice").orElseThrow().address();
    assertThat(thrice + plugin.bias()).isBetween(plugin.base(), plugin.base() + plugin.length());
    assertThat(run.unmapped).endsWith(plugin.base());
    assertThat(Shared.of(program, ProbeKind.JAVA, 333).records).isEqualTo(run.records);
  }

  /** On ppc32 the code between files is in the segment of data, and written by the loader. */
  @ParameterizedTest
  @EnumSource(
      value = Form.class,
      names = {"PPC32_PIE", "PPC32_SYMBOLIC"})
  void callsThroughCodeThatTheLoaderWritesAreTraced(Form form) throws Exception {
    Path program = withSharedObjects(form);

    Shared run = Shared.of(program, ProbeKind.AUTO, (int) SLICE);

    assertThat(run.stdout).isEqualTo("8 12 8\n");
    assertThat(run.calls).isEqualTo(Map.of("main", 1, "twice", 2, "more", 2, "thrice", 1));
    assertThat(Shared.of(program, ProbeKind.JAVA, 333).records).isEqualTo(run.records);
  }

  /** Beside the program: {@code $ORIGIN}, and the working folder. */
  private Path withSharedObjects(Form form) throws Exception {
    Path twice =
        source(
            "twice.c",
            "int more(int x) { return x + 1; } int twice(int x) { return 2 * more(x); }");
    Path thrice = source("thrice.c", "int thrice(int x) { return 3 * x; }");
    form.dynamic(folder, "libtwice.so", twice, "-shared", "-fPIC", "-fno-inline");
    form.dynamic(folder, "plugin.so", thrice, "-shared", "-fPIC");
    return form.dynamic(
        folder,
        "prog",
        source("user.c", USER),
        "-L" + folder,
        "-ltwice",
        "-Wl,-rpath,$ORIGIN",
        "-ldl");
  }

  /** {@code $ORIGIN} and folders below and beside it, as builds lay them out. */
  @ParameterizedTest
  @CsvSource({
    "bin, bin/deep, $ORIGIN/deep",
    "bin, lib, $ORIGIN/../lib",
    "a/bin, lib, $ORIGIN/../../lib"
  })
  void sharedObjectsAreFoundFromTheFolderOfTheProgram(String bin, String lib, String path)
      throws Exception {
    Path programs = Files.createDirectories(folder.resolve(bin));
    Path objects = Files.createDirectories(folder.resolve(lib));
    Path twice = source("twice.c", "int twice(int x) { return 2 * x; }");
    Path user = source("user.c", "int twice(int); int main(void) { return twice(4); }");
    for (Form form : new Form[] {Form.X86_64_PIE, Form.AARCH64_PIE}) {
      form.dynamic(objects, "libtwice.so", twice, "-shared", "-fPIC");
      Path program =
          form.dynamic(programs, "prog", user, "-L" + objects, "-ltwice", "-Wl,-rpath," + path);
      Shared run = Shared.of(program, ProbeKind.AUTO, (int) SLICE);
      assertThat(run.stdout).isEmpty();
      assertThat(run.calls).containsEntry("main", 1).containsEntry("twice", 1);
    }
  }

  @Test
  void missingSharedObjectIsNamedByTheProgramsLoader() throws Exception {
    Path program = withSharedObjects(Form.X86_64_PIE);
    Files.delete(folder.resolve("libtwice.so"));

    HostedRun run = HostedRun.of(program, LINUX, "", ProbeKind.AUTO, SLICE);

    assertThat(run.stderr()).contains("libtwice.so").contains("cannot open shared object file");
    assertThat(run.result().ending().detail()).isEqualTo("exited with code 127");
  }

  @Test
  void missingInterpreterNamesTheCure() throws Exception {
    Path program =
        Form.X86_64_PIE.dynamic(
            folder, "prog", source("prog.c", PROGRAM), "-Wl,--dynamic-linker=/lib/no-such.so");
    LoadedImage image = LoadedImage.load(program);

    assertThatThrownBy(() -> Core.open(image, CoreOptions.of(LINUX)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "prog: PT_INTERP is /lib/no-such.so, which is no program for x86_64 in /,"
                + " /usr/x86_64-linux-gnu, allowed: the loader of its shared objects, below the"
                + " sysroot; install libc6-amd64-cross (Debian), give the folder that has it with"
                + " --sysroot, or link with -static");
    assertThatThrownBy(() -> Sysroot.of(image.elf(), image.isa(), Optional.of(folder)))
        .isInstanceOf(ElfFormatException.class)
        .hasMessageContaining("in " + folder)
        .hasMessageContaining("--sysroot");
  }

  @Test
  void interpreterMustBeOfTheProgramsIsaAndMovable() throws Exception {
    ElfFile program = ElfFile.parse(Form.X86_64_PIE.dynamic(folder, "p", source("p.c", PROGRAM)));
    Path lib = Files.createDirectories(folder.resolve("root/lib64"));
    Path place = lib.resolve("ld-linux-x86-64.so.2");
    Optional<Path> root = Optional.of(folder.resolve("root"));
    byte[] other = Files.readAllBytes(Path.of("/lib64/ld-linux-x86-64.so.2"));
    other[18] = (byte) 183;
    Files.write(place, other);
    assertThatThrownBy(() -> Sysroot.of(program, Isas.find("x86_64").orElseThrow(), root))
        .hasMessageContaining("no program for x86_64");

    Files.write(place, new byte[] {0x7f, 'E', 'L', 'F'});
    assertThatThrownBy(() -> Sysroot.of(program, Isas.find("x86_64").orElseThrow(), root))
        .hasMessageContaining("no program for x86_64");

    Files.delete(place);
    Form.X86_64_PIE.linkedStatically(folder, source("p.c", PROGRAM));
    Files.copy(folder.resolve("static"), place);
    assertThatThrownBy(() -> Sysroot.of(program, Isas.find("x86_64").orElseThrow(), root))
        .hasMessageContaining("e_type is 2 (executable)");
  }

  @Test
  void nothingButSharedObjectsBelowTheSysrootCanBeRead() throws Exception {
    Path host = Path.of("/lib64/ld-linux-x86-64.so.2").toRealPath();
    Path bin = Files.createDirectory(folder.resolve("bin"));
    Path program = Form.X86_64_PIE.dynamic(bin, "prog", source("prog.c", PROGRAM));
    Path root = Files.createDirectory(folder.resolve("root"));
    Path lib = Files.createDirectories(root.resolve("lib64"));
    Files.copy(host, lib.resolve("ld-linux-x86-64.so.2"));
    Files.writeString(root.resolve("text"), "secret");
    Path outside = Files.createDirectory(folder.resolve("outside")).resolve("outside.so");
    Files.copy(host, outside);
    Files.createSymbolicLink(lib.resolve("absolute.so"), Path.of("/lib64/ld-linux-x86-64.so.2"));
    Files.createSymbolicLink(lib.resolve("out.so"), Path.of("../../outside/outside.so"));
    Files.createSymbolicLink(lib.resolve("host.so"), outside);
    Files.createSymbolicLink(lib.resolve("circle.so"), Path.of("circle.so"));
    Sysroot sysroot =
        Sysroot.of(ElfFile.parse(program), Isas.find("x86_64").orElseThrow(), Optional.of(root));

    Path loader = lib.resolve("ld-linux-x86-64.so.2");
    assertThat(sysroot.find("/lib64/ld-linux-x86-64.so.2")).contains(loader);
    assertThat(sysroot.find("/../../lib64/absolute.so")).contains(loader);
    for (String name :
        List.of(
            "/text",
            "/lib64/out.so",
            "/lib64/host.so",
            "/lib64/circle.so",
            "/lib64",
            "/etc/passwd",
            "/lib64/../../outside/outside.so",
            "",
            "/",
            "/prog.c",
            "/lib64/none.so",
            "\0")) {
      assertThat(sysroot.find(name)).as(name).isEmpty();
    }
    assertThat(sysroot.find("/prog")).as("the program's own folder").isPresent();
  }

  @Test
  void exceptionsOfSharedObjectsUnwindTracedFrames() throws Exception {
    Assumptions.assumeTrue(GuestCompiler.installed("x86_64-linux-gnu-g++"), "skipped: no g++");
    Path source = source("prog.cc", EXCEPTIONS);
    Path program =
        GuestCompiler.compileWith(
            "x86_64-linux-gnu-g++", folder.resolve("prog"), "-pg", source.toString());

    for (ProbeKind probe : List.of(ProbeKind.JAVA, ProbeKind.AUTO)) {
      HostedRun run = HostedRun.of(program, LINUX, "", probe, SLICE);

      assertThat(run.stdout()).isEqualTo("boom\nboom\nboom\nboom\n");
      assertThat(run.result().ending().detail()).isEqualTo("exited with code 6");
      assertThat(run.calls()).isEqualTo(Map.of("main", 1, "_Z7catcheri", 4, "_Z7throweri", 10));
    }
  }
}
