package dev.retstack.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.Ran;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Firmware that copies a function to where it was not linked says that its calls are missing. */
class StrayCodeTest {
  private static final String SOURCE =
      """
      #define PLAIN __attribute__((patchable_function_entry(0)))
      __attribute__((noinline, aligned(64))) int more(int x) { return x * 3 + 1; }
      char room[64] __attribute__((aligned(64)));
      PLAIN int called(int (*f)(int)) { return f(1) + f(2); }
      PLAIN void _start(void) {
        char *volatile where = TO, *volatile from = (char *)more;
        char *to = where, *of = from;
        for (int i = 0; i < 64; i++) ((volatile char *)to)[i] = of[i];
        int code = called(COPY ? (void *)to : (void *)more);
        __asm__ volatile("mov $60, %%eax; syscall" : : "D"((long)code));
      }
      """;

  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource({
    "room, 1, java",
    "room, 1, native",
    "(char*)0x30000040, 1, native",
    "room, 0, native",
  })
  void aCopyIsNamed(String to, int copy, String probe) throws Exception {
    Path program = compile("-DTO=" + to, "-DCOPY=" + copy);
    List<String> line = new ArrayList<>(List.of("record", "--probe", probe, "--exit-code"));
    line.addAll(List.of("--ram", "0x30000000:0x1000", "--image", program.toString()));
    line.addAll(List.of("-o", folder.resolve("trace.avro").toString()));
    Ran ran = Ran.retstack(line.toArray(String[]::new));
    assertThat(ran.code()).isEqualTo(11);
    String said = "code ran at 0x[0-9a-f]+ to 0x[0-9a-f]+, where program has none \\(1 block\\)";
    if (copy == 1) {
      assertThat(ran.err()).containsPattern(said).contains("link functions to where they run");
    } else {
      assertThat(ran.err()).doesNotContain("code ran at").contains("4 records");
    }
  }

  private Path compile(String... flags) throws Exception {
    Path source = Files.writeString(folder.resolve("program.c"), SOURCE);
    Path program = folder.resolve("program");
    List<String> line = new ArrayList<>(List.of("x86_64-linux-gnu-gcc", "-w", "-O2", "-static"));
    line.addAll(List.of("-nostdlib", "-ffreestanding", "-fno-pie", "-no-pie", "-Wl,-N"));
    line.addAll(List.of("-fpatchable-function-entry=5", "-fcf-protection=none"));
    line.addAll(List.of(flags));
    line.addAll(List.of(source.toString(), "-o", program.toString()));
    Process compiler;
    try {
      compiler = new ProcessBuilder(line).redirectErrorStream(true).start();
    } catch (IOException e) {
      Assumptions.abort("skipped: " + e.getMessage());
      return program;
    }
    String said = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(compiler.waitFor()).as(said).isZero();
    return program;
  }
}
