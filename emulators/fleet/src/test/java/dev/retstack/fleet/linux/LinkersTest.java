package dev.retstack.fleet.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.zoo.EachIsa;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.machine.testing.GuestCompiler;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Programs of other linkers than GNU ld, in the forms that a build may ask them for. They print and
 * call what the source says. A linker that is missing, or refuses a form, or makes a program of it
 * that does not run without a tracer either, is skipped.
 */
class LinkersTest {
  private static final String PROGRAM =
      """
      #include <stdio.h>
      __attribute__((noinline)) int leaf(int n) { return n; }
      __attribute__((noinline)) int fib(int n) {
        return n < 2 ? leaf(n) : fib(n - 1) + fib(n - 2);
      }
      int main(void) { printf("%d\\n", fib(10)); return 3; }
      """;

  private static final Map<String, Integer> CALLS = Map.of("main", 1, "fib", 177, "leaf", 89);

  private static final List<String> LINKERS = List.of("gold", "lld", "mold", "bfd");

  private static final List<String> COMPILERS =
      List.of(
          "x86_64-linux-gnu-gcc",
          "x86_64-linux-gnu-gcc -m32",
          "aarch64-linux-gnu-gcc",
          "riscv64-linux-gnu-gcc",
          "arm-linux-gnueabihf-gcc",
          "arm-linux-gnueabi-gcc",
          "s390x-linux-gnu-gcc",
          "powerpc64le-linux-gnu-gcc",
          "powerpc-linux-gnu-gcc",
          "mips-linux-gnu-gcc",
          "mipsel-linux-gnu-gcc",
          "mips64-linux-gnuabi64-gcc",
          "m68k-linux-gnu-gcc");

  private static final List<String> FORMS =
      List.of(
          "-pg",
          "-pg -static",
          "-pg -static-pie",
          "-pg -fno-pie -no-pie",
          "-pg -mno-abicalls -fno-pie -no-pie",
          "-pg -mno-abicalls -mmcount-ra-address -fno-pie -no-pie",
          "-pg -mmcount-ra-address",
          "-pg -mxgot",
          "-pg -mno-shared -static",
          "-pg -Wl,--bss-plt",
          "-pg -Wl,--emit-relocs",
          "-pg -static -Wl,--emit-relocs",
          "-pg -Wl,-z,separate-code",
          "-pg -Wl,-z,noseparate-code",
          "-pg -Wl,-z,max-page-size=65536",
          "-pg -Wl,-z,now",
          "-pg -flto",
          "-pg -ffunction-sections -Wl,--gc-sections",
          "-pg -ffunction-sections -Wl,--icf=all",
          "-pg -mfentry",
          "-pg -mfentry -static",
          "-fpatchable-function-entry=5",
          "-fpatchable-function-entry=5 -static",
          "-fpatchable-function-entry=5 -static-pie",
          "-fpatchable-function-entry=5 -Wl,-z,pack-relative-relocs",
          "-fpatchable-function-entry=5 -Wl,--pack-dyn-relocs=relr");

  @TempDir private Path folder;

  static Stream<Arguments> links() {
    if (!EachIsa.COMPILED) {
      return Stream.of("-pg", "-pg -static", "-pg -Wl,--emit-relocs")
          .map(form -> Arguments.of(COMPILERS.getFirst(), "gold", form));
    }
    return COMPILERS.stream()
        .flatMap(
            compiler ->
                LINKERS.stream()
                    .flatMap(
                        linker ->
                            FORMS.stream().map(form -> Arguments.of(compiler, linker, form))));
  }

  @ParameterizedTest
  @MethodSource("links")
  void makeProgramsThatAreTraced(String compiler, String linker, String form) throws Exception {
    Path source = Files.writeString(folder.resolve("prog.c"), PROGRAM);
    Path program = link(compiler, linker, form, source);
    // the C libraries here do not know all that linkers make
    Assumptions.assumeTrue(run(elsewhere(compiler, program)).waitFor() == 3, "skipped: crashes");
    LinuxOptions linux = LinuxOptions.of("prog");
    if (compiler.startsWith("mips") && form.startsWith("-fpatchable-function-entry")) {
      // gcc puts the nops in front of the function there, where nothing runs them
      assertThatThrownBy(() -> HostedRun.of(program, linux, "", ProbeKind.AUTO, 1_000_000))
          .isInstanceOf(ElfFormatException.class)
          .hasMessageContaining("the number of call sites is 0 (no call sites in prog (mips")
          .hasMessageEndingWith("compile with -pg -mmcount-ra-address or -pg");
      return;
    }
    HostedRun run = HostedRun.of(program, linux, "", ProbeKind.AUTO, 1_000_000);
    assertThat(run.stdout()).isEqualTo("55\n");
    assertThat(run.result().ending().detail()).isEqualTo("exited with code 3");
    assertThat(run.calls()).containsAllEntriesOf(CALLS);
  }

  /** How a program runs without a tracer: natively, or under qemu-user. */
  private static List<String> elsewhere(String compiler, Path program) {
    if (compiler.startsWith("x86_64")) {
      return List.of(program.toString());
    }
    String target = compiler.split("-gcc", -1)[0];
    String qemu = "qemu-" + target.split("-", -1)[0].replace("powerpc", "ppc");
    Assumptions.assumeTrue(GuestCompiler.installed(qemu), "skipped: no " + qemu);
    return List.of(qemu, "-L", "/usr/" + target, program.toString());
  }

  /** Only what a compiler or linker itself refuses may be skipped. */
  private Path link(String compiler, String linker, String form, Path source) throws Exception {
    String[] command = compiler.split(" ", -1);
    Assumptions.assumeTrue(GuestCompiler.installed(command[0]), "skipped: no " + command[0]);
    List<String> line = new ArrayList<>(List.of(command));
    line.addAll(
        List.of(
            "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-fuse-ld=" + linker));
    findForAllTargets(linker).ifPresent(tools -> line.add("-B" + tools));
    line.addAll(List.of(form.split(" ", -1)));
    Path program = folder.resolve("prog");
    line.addAll(List.of("-o", program.toString(), source.toString()));
    Assumptions.assumeTrue(
        run(line).waitFor() == 0, "skipped: " + String.join(" ", line.subList(0, line.size() - 3)));
    return program;
  }

  /**
   * A folder where compilers of any target find a linker that is one for all of them: else they
   * look for it by the name of their own.
   */
  private Optional<Path> findForAllTargets(String linker) throws IOException {
    String name = "ld." + linker;
    Optional<Path> file =
        Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
            .map(path -> Path.of(path, name))
            .filter(path -> List.of("lld", "mold").contains(linker) && Files.isExecutable(path))
            .findFirst();
    if (file.isEmpty()) {
      return Optional.empty();
    }
    Path tools = Files.createDirectories(folder.resolve("tools"));
    Files.createSymbolicLink(tools.resolve(name), file.get());
    return Optional.of(tools);
  }

  private Process run(List<String> command) throws IOException {
    return new ProcessBuilder(command)
        .directory(folder.toFile())
        .redirectErrorStream(true)
        .redirectOutput(folder.resolve("log").toFile())
        .start();
  }
}
