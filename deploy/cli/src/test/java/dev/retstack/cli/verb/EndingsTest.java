package dev.retstack.cli.verb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.Ran;
import dev.retstack.cli.command.ExitCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs that do not end well look like it: in the exit code, in what is said, in the trace. */
class EndingsTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static final String SOURCE =
      """
      __asm__(".globl __fentry__\\n__fentry__: ret");
      static long call(long number, long a) {
        long result;
        __asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a) : "rcx", "r11", "memory");
        return result;
      }
      void __attribute__((noinline)) never(void) { call(39, 0); }
      void __attribute__((noinline)) wild(long at) { *(volatile int *)at = 1; }
      void __attribute__((noinline)) waits(void) { __asm__ volatile("cli; hlt"); }
      static void *back[5];
      void __attribute__((noinline)) throws(void) { __builtin_longjmp(back, 1); }
      void __attribute__((noinline)) between(void) { throws(); __asm__(""); }
      void __attribute__((noinline)) target(void) { __asm__ volatile(""); }
      void __attribute__((noinline, optimize("optimize-sibling-calls"))) hop(void) { target(); }
      void __attribute__((noinline)) unwinds(void) {
        for (volatile int i = 0; i < 1000; i++) {
          if (!__builtin_setjmp(back)) between();
          hop();
        }
      }
      int __attribute__((noinline)) run(int how) {
        if (how == 'u') unwinds();
        if (how == 'f') wild(0x5a5a5a5a5a58);
        if (how == 'w') waits();
        if (how == 'n') never();
        return how == 'e' ? 127 : 0;
      }
      void __attribute__((noinline, used, no_instrument_function)) begin(long *stack) {
        call(60, run(*(char *)stack[2]));
      }
      __asm__(".globl _start\\n_start: mov %rsp, %rdi\\n call begin");
      """;

  @TempDir private static Path dir;
  private static Path program;

  @BeforeAll
  static void compile() throws Exception {
    Path source = Files.writeString(dir.resolve("ends.c"), SOURCE);
    program = dir.resolve("ends.elf");
    List<String> command =
        List.of(
            "gcc",
            "-pg",
            "-mfentry",
            "-O1",
            "-fno-pie",
            "-no-pie",
            "-static",
            "-nostdlib",
            "-fno-optimize-sibling-calls",
            "-o",
            program.toString(),
            source.toString());
    Process gcc;
    try {
      gcc = new ProcessBuilder(command).redirectErrorStream(true).start();
    } catch (IOException e) {
      assumeTrue(false, "gcc is not installed");
      return;
    }
    String said = new String(gcc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assumeTrue(gcc.waitFor() == 0, "gcc cannot link it here: " + said);
  }

  @ParameterizedTest
  @CsvSource({
    "good,  0, 0,   ''",
    "exit,  0, 127, 'core ends-0: HALTED: exited with code 127'",
    "fault, 6, 6,   'core ends-0: FAULTED: unmapped write at 0x5a5a5a5a5a58 by pc wild+0x'",
    "waits, 8, 8,   'core ends-0: HALTED: waits for an interrupt that never comes by pc waits+0x'",
    "waits, 8, 8,   ': if the program ends here, return from its entry point or jump to itself'",
    "waits, 8, 8,   '; if not, interrupt it with --timer'"
  })
  void theExitCodeSaysHowTheCoreEnded(String how, int code, int passedOn, String said) {
    Ran ran = record(how);
    assertThat(ran.code()).as(ran.err()).isEqualTo(code);
    assertThat(ran.err()).contains(said).doesNotContain("nothing was recorded");
    Ran asked = record(how, "--exit-code");
    assertThat(asked.code()).as(asked.err()).isEqualTo(passedOn);
  }

  @Test
  void aFaultIsAnAnomalyWithItsPlaceAndItsStack() throws IOException {
    record("fault");
    Ran gate =
        Ran.retstack("anomalies", trace().toString(), "--fail-on", "error", "--format", "json");
    assertThat(gate.code()).isEqualTo(ExitCode.FINDINGS);
    JsonNode row = JSON.readTree(gate.out()).get(0);
    assertThat(row.get("kind").asText()).isEqualTo("FAULTED");
    assertThat(row.get("severity").asText()).isEqualTo("ERROR");
    assertThat(row.get("function").asText()).startsWith("wild");
    assertThat(row.get("message").asText()).contains("0x5a5a5a5a5a58 by pc wild+0x");
    assertThat(row.get("cause").asText() + row.get("cure").asText()).contains("--ram");
    List<String> stack = new ArrayList<>();
    row.get("stack").forEach(call -> stack.add(call.asText().replaceAll("\\+.*", "")));
    assertThat(stack).containsExactly("wild", "run");
  }

  @Test
  void coresSaysTheExitCodeInEveryForm() throws IOException {
    record("exit");
    Ran json = Ran.retstack("cores", trace().toString(), "--format", "json");
    JsonNode core = JSON.readTree(json.out()).get("cores").get(0);
    assertThat(core.get("exitCode").asInt()).isEqualTo(127);
    assertThat(core.get("endDetail").asText()).isEqualTo("exited with code 127");
    assertThat(Ran.retstack("cores", trace().toString()).out()).contains("exited with code 127");
    assertThat(Ran.retstack("cores", trace().toString(), "--format", "csv").out())
        .contains(",127,exited with code 127");
    record("waits");
    assertThat(Ran.retstack("cores", trace().toString(), "--format", "json").out())
        .doesNotContain("exitCode");
  }

  @Test
  void aRunThatRecordsNothingHasACodeOfItsOwnAndACure() {
    Ran ran = record("good", "--filter", "never");
    assertThat(ran.code()).as(ran.err()).isEqualTo(ExitCode.NOTHING_RECORDED);
    assertThat(ran.err()).contains("nothing was recorded by 1 core:").contains("sites IMAGE");
    assertThat(record("never", "--filter", "never").code()).isEqualTo(ExitCode.OK);
  }

  @Test
  void everyUnwoundCallIsCountedAndIsNoAnomaly() throws IOException {
    Ran ran = record("unwinds");
    assertThat(ran.code()).as(ran.err()).isEqualTo(ExitCode.OK);
    Ran anomalies = Ran.retstack("anomalies", trace().toString(), "--fail-on", "warning");
    assertThat(anomalies.code()).isEqualTo(ExitCode.OK);
    assertThat(anomalies.out()).isEqualTo("# no anomalies\n");
    Ran report = Ran.retstack("report", trace().toString(), "--format", "json");
    Map<String, Long> stats = new TreeMap<>();
    JSON.readTree(report.out())
        .get("stats")
        .forEach(row -> stats.put(row.get("name").asText(), row.get("count").asLong()));
    assertThat(stats).containsEntry("UNWOUND_CALLS", 2_000L).containsEntry("TAIL_CALLS", 1_000L);
  }

  private static Path trace() {
    return dir.resolve("ends.avro");
  }

  private static Ran record(String how, String... options) {
    List<String> words = new ArrayList<>(List.of("record", "--image", program.toString()));
    words.addAll(List.of("-o", trace().toString()));
    words.addAll(List.of(options));
    words.addAll(List.of("--", how));
    return Ran.retstack(words.toArray(String[]::new));
  }
}
