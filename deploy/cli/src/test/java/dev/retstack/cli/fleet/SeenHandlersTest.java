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

/** A program that finds the tracer's addresses where its own were meant says so, and how not to. */
class SeenHandlersTest {
  private static final String USED = "of the tracer as return addresses, first ";

  /** A form of a reader that nothing knows: by the address of its frame, through memory. */
  private static final String READER =
      """
      #define _GNU_SOURCE
      #include <dlfcn.h>
      #include <stdio.h>
      #define APART __attribute__((noinline, noclone))
      APART int reads(void) {
        char **volatile frame = __builtin_dwarf_cfa();
        char *back = frame[-1];
        Dl_info found;
        if (ASKS) printf("%s\\n", dladdr(back, &found) && found.dli_fname ? "found" : "lost");
        else printf("%p\\n", back);
        fflush(stdout);
        return 1;
      }
      APART int calls(void) { return reads() + 1; }
      int main(void) { return calls() - 2; }
      """;

  /** A walk in code without a symbol, which is not traced. */
  private static final String WALKER =
      """
      #include <stdio.h>
      #define APART __attribute__((noinline, noclone))
      struct frame { struct frame *next; char *back; };
      static APART __attribute__((no_instrument_function)) int walk(void) {
        struct frame *f = __builtin_frame_address(0);
        for (int i = 0; i < 3; i++, f = f->next) printf("%p\\n", f->back);
        return 1;
      }
      APART int calls(void) { return walk() + 1; }
      int main(void) { return calls() - 2; }
      """;

  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource({
    "-O0 -static -DASKS=0, printed",
    "-O1 -static -DASKS=0, printed",
    "-O1 -DASKS=1, asked for with dladdr",
  })
  void aTracedReaderThatIsNotKnown(String flags, String how) throws Exception {
    Path program = compile(READER, flags);
    String untraced = record(program, "--tracer", "function").out();
    assertThat(untraced).isNotEmpty();
    Ran traced = record(program);
    assertThat(traced.err()).contains("1 address " + USED + how + " below reads:");
    assertThat(traced.out()).isNotEqualTo(untraced);
    for (List<String> cure :
        List.of(List.of("--notrace", "reads"), List.of("--tracer", "function"))) {
      Ran cured = record(program, cure.toArray(String[]::new));
      assertThat(cured.out()).isEqualTo(untraced);
      assertThat(cured.err()).doesNotContain(USED);
    }
  }

  @ParameterizedTest
  @CsvSource({"-s, 2", "-g, 0"})
  void anUntracedWalk(String flag, int found) throws Exception {
    Path program = compile(WALKER, "-O1 -fno-omit-frame-pointer -fno-pie -no-pie " + flag);
    String untraced = record(program, "--tracer", "function").out();
    Ran traced = record(program);
    if (found == 0) { // by its symbol
      assertThat(traced.out()).isEqualTo(untraced);
      assertThat(traced.err()).doesNotContain(USED);
    } else {
      assertThat(traced.err()).contains(found + " addresses " + USED + "printed");
    }
  }

  private Ran record(Path program, String... options) {
    List<String> line = new ArrayList<>(List.of("record"));
    line.addAll(List.of(options));
    line.addAll(List.of("--image", program.toString(), "-o", program + ".avro"));
    return Ran.well(line.toArray(String[]::new));
  }

  private Path compile(String code, String flags) throws Exception {
    Path source = Files.writeString(folder.resolve("program.c"), code);
    Path program = folder.resolve("program");
    List<String> line = new ArrayList<>(List.of("x86_64-linux-gnu-gcc", "-w", "-pg", "-mfentry"));
    line.addAll(List.of(flags.split(" ")));
    line.addAll(List.of(source.toString(), "-o", program.toString(), "-ldl"));
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
