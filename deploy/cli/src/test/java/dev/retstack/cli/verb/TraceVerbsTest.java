package dev.retstack.cli.verb;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.Ran;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.graph.check.AnomalyKind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** From an image to every shape of the result, through a recorded trace. */
class TraceVerbsTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path dir;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "zoo-x86_64-fentry",
        "zoo-x86_64-mcount",
        "zoo-aarch64-mcount",
        "zoo-riscv64-mcount"
      })
  void reportOfTheWholeZooHasTheIndependentCounts(String image) throws Exception {
    Path trace = record(image);
    JsonNode report = JSON.readTree(ok("report", trace.toString(), "--format", "json").out());

    Map<String, Long> calls = new HashMap<>();
    for (JsonNode function : report.get("functions")) {
      calls.put(function.get("name").asText(), function.get("calls").asLong());
    }
    assertThat(calls).isEqualTo(countsOfTheZoo(image));
    assertThat(report.get("completeness").asDouble()).isEqualTo(100.0);
    assertThat(report.get("lost").asLong()).isZero();
    assertThat(report.get("unit").asText()).isEqualToIgnoringCase("instructions");
  }

  @Test
  void resultHashIsTheSameForEachRunAndForReplay() throws Exception {
    String first = hash(record("zoo-riscv64-mcount", "--cores", "2"));
    String second = hash(record("zoo-riscv64-mcount", "--cores", "2"));
    assertThat(first).matches("[0-9a-f]{64}").isEqualTo(second);

    Path trace = record("zoo-riscv64-mcount", "--cores", "2");
    JsonNode replay = JSON.readTree(ok("replay", trace.toString(), "--format", "json").out());
    assertThat(replay.get("resultHash").asText()).isEqualTo(first);
  }

  @Test
  void anExportGoesToStandardOutputToo() throws Exception {
    Path trace = record("zoo-aarch64-mcount", "--arg", "fib");
    Path file = dir.resolve("stacks.folded");
    ok("export", trace.toString(), "--format", "folded", "-o", file.toString());
    assertThat(ok("export", trace.toString(), "--format", "folded", "-o", "-").out())
        .isEqualTo(Files.readString(file))
        .contains(";fib;fib ");
  }

  @Test
  void anomaliesAreAGate() throws Exception {
    Path corrupt = record("zoo-x86_64-fentry", "--arg", "corrupt");
    Ran gated =
        Ran.retstack("anomalies", corrupt.toString(), "--format", "json", "--fail-on", "error");
    assertThat(gated.code()).isEqualTo(ExitCode.FINDINGS);
    JsonNode row = JSON.readTree(gated.out()).get(0);
    assertThat(row.get("kind").asText()).isEqualTo("FRAME_POINTER_MISMATCH");
    assertThat(row.get("function").asText()).startsWith("corrupt_frame");
    assertThat(row.get("stack")).isNotEmpty();
    assertThat(Ran.retstack("anomalies", corrupt.toString()).code()).isEqualTo(ExitCode.OK);

    Path sound = record("zoo-x86_64-fentry", "--arg", "sort");
    assertThat(Ran.retstack("anomalies", sound.toString(), "--fail-on", "warning").code())
        .isEqualTo(ExitCode.OK);
  }

  @Test
  void graphNestsCallsPerCoreAndTask() throws Exception {
    Path trace = record("zoo-aarch64-mcount", "--arg", "fib", "--arg", "3");
    JsonNode tree = JSON.readTree(ok("graph", trace.toString(), "--format", "json").out()).get(0);
    assertThat(tree.get("core").asText()).isEqualTo("zoo-aarch64-mcount-0");
    JsonNode root = tree.get("calls").get(0);
    assertThat(root.get("function").asText()).isEqualTo("run_fib");
    assertThat(root.get("children").get(0).get("function").asText()).isEqualTo("fib");
    assertThat(root.get("enter").asLong()).isLessThan(root.get("exit").asLong());
    assertThat(ok("graph", trace.toString()).out()).contains("run_fib() {");
    assertThat(ok("graph", trace.toString(), "--format", "csv").out()).contains("run_fib");

    Ran unknown = Ran.retstack("graph", trace.toString(), "--core", "nobody");
    assertThat(unknown.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(unknown.err()).contains("nobody").contains("zoo-aarch64-mcount-0");
  }

  @Test
  void exportsFoldedAndPerfetto() throws Exception {
    Path trace = record("zoo-x86_64-mcount");
    Path folded = dir.resolve("out.folded");
    ok("export", trace.toString(), "--format", "folded", "-o", folded.toString());
    assertThat(Files.readString(folded)).containsPattern("(?m)run_fib;fib;fib \\d+$");
    Path perfetto = dir.resolve("out.perfetto-trace");
    ok("export", trace.toString(), "--format", "perfetto", "-o", perfetto.toString());
    assertThat(perfetto).isNotEmptyFile();
  }

  @Test
  void guestSpeaksThroughAndCoresAreTold() throws Exception {
    Path trace = dir.resolve("list.avro");
    Ran one =
        Ran.retstack(
            "record", "--image", "zoo-x86_64-fentry", "-o", trace.toString(), "--", "--list");
    assertThat(one.code()).as(one.err()).isEqualTo(ExitCode.NOTHING_RECORDED);
    assertThat(one.out()).startsWith("aggregates\narguments\ncorrupt\n");
    assertThat(one.err()).contains("retstack report " + trace);
    Ran two =
        Ran.retstack(
            "record",
            "--image",
            "zoo-x86_64-fentry",
            "--cores",
            "2",
            "-o",
            trace.toString(),
            "--",
            "--list");
    assertThat(two.out())
        .contains("zoo-x86_64-fentry-0: corrupt\n")
        .contains("zoo-x86_64-fentry-1: corrupt\n");
  }

  @Test
  void limitOfInstructionsStopsACoreAndTheTraceIsWhole() throws Exception {
    Path trace = record("zoo-x86_64-fentry", "--max-instructions", "20000");
    Ran ran = ok("report", trace.toString());
    assertThat(ran.err()).doesNotContain("cut off");
    assertThat(ran.out()).contains("100.00 %");
  }

  @Test
  void aCoreBeginsWhereTheUserSays() throws Exception {
    Path trace = record("zoo-riscv64-mcount", "--entry", "run_hello", "--isa", "riscv64");
    String graph = ok("graph", trace.toString()).out();
    assertThat(graph).contains("run_hello").doesNotContain("run_sort");
    Ran nowhere = refused("zoo-riscv64-mcount", "--entry", "0x10");
    assertThat(nowhere.err()).contains("zoo-riscv64-mcount.elf: the entry '0x10'").contains("nm ");
    Ran otherIsa = refused("zoo-riscv64-mcount", "--isa", "aarch64");
    assertThat(otherIsa.err())
        .contains("zoo-riscv64-mcount.elf: e_machine is 243 (riscv64), allowed: 183 (aarch64)");
    assertThat(refused("zoo-riscv64-mcount", "--isa", "z80").err())
        .contains("no such ISA: z80")
        .contains("riscv64");
  }

  private Ran refused(String image, String... options) {
    String trace = dir.resolve("refused.avro").toString();
    List<String> line = new ArrayList<>(List.of("record", "--image", image, "-o", trace));
    line.addAll(List.of(options));
    Ran ran = Ran.retstack(line.toArray(String[]::new));
    assertThat(ran.code()).as(ran.err()).isEqualTo(ExitCode.BAD_INPUT);
    return ran;
  }

  @Test
  void badInputIsNamedWithExitCode3() throws Exception {
    Path noElf = Files.writeString(dir.resolve("no.elf"), "this is no program");
    Path trace = dir.resolve("t.avro");
    Ran notElf = Ran.retstack("record", "--image", noElf.toString(), "-o", trace.toString());
    assertThat(notElf.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(notElf.err()).contains("no.elf");
    Ran missing = Ran.retstack("report", dir.resolve("missing.avro").toString());
    assertThat(missing.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(missing.err()).contains("missing.avro");
    Ran notTrace = Ran.retstack("report", noElf.toString());
    assertThat(notTrace.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(notTrace.err()).contains("no.elf");
  }

  @Test
  void changedTraceIsRefusedAndCutTraceIsReadUpToTheCut() throws Exception {
    Path trace = record("zoo-x86_64-fentry", "--cores", "3");
    byte[] bytes = Files.readAllBytes(trace);
    byte[] changed = bytes.clone();
    changed[bytes.length / 2] ^= 0x10;
    Path bad = Files.write(dir.resolve("changed.avro"), changed);
    assertThat(Ran.retstack("report", bad.toString()).code()).isEqualTo(ExitCode.BAD_INPUT);

    Path cut =
        Files.write(dir.resolve("cut.avro"), java.util.Arrays.copyOf(bytes, bytes.length - 40));
    Ran ran = ok("report", cut.toString());
    assertThat(ran.err()).contains("cut off");
    assertThat(ran.out()).contains("run_sort");
  }

  @Test
  void sourceIsATraceOrLiveAndExactlyOneOfThem() {
    assertThat(Ran.retstack("report").code()).isEqualTo(ExitCode.USAGE);
    assertThat(Ran.retstack("report", "t.avro", "--live").code()).isEqualTo(ExitCode.USAGE);
    Ran nobody = Ran.retstack("report", "--live", "--http", "http://127.0.0.1:1");
    assertThat(nobody.code()).isEqualTo(ExitCode.ENVIRONMENT);
    assertThat(nobody.err()).contains("127.0.0.1:1").contains("retstack pipeline");
    assertThat(Ran.retstack("record", "-o", "t.avro").code()).isEqualTo(ExitCode.USAGE);
    assertThat(Ran.retstack("emulate").code()).isEqualTo(ExitCode.USAGE);
  }

  private Path record(String image, String... more) throws Exception {
    Path trace = Files.createTempFile(dir, "trace", ".avro");
    List<String> args =
        new ArrayList<>(List.of("record", "--image", image, "-o", trace.toString()));
    args.addAll(List.of(more));
    ok(args.toArray(String[]::new));
    return trace;
  }

  private static String hash(Path trace) throws Exception {
    Ran ran = ok("report", trace.toString(), "--format", "json");
    return JSON.readTree(ran.out()).get("resultHash").asText();
  }

  private static Ran ok(String... args) {
    Ran ran = Ran.retstack(args);
    assertThat(ran.code()).as(String.join(" ", args) + "\n" + ran.err()).isEqualTo(ExitCode.OK);
    return ran;
  }

  /** Calls per function when all programs of an image run, by the guest's own oracle. */
  private static Map<String, Long> countsOfTheZoo(String image) throws Exception {
    Path guest = dev.retstack.cli.house.Repository.root().resolve("emulators/guest");
    JsonNode manifest = JSON.readTree(guest.resolve("images/manifest.json").toFile());
    List<String> programs = new ArrayList<>(manifest.get("programs").findValuesAsText("name"));
    for (JsonNode entry : manifest.get("images")) {
      if (entry.get("file").asText().equals(image + ".elf")) {
        entry.get("without").forEach(program -> programs.remove(program.asText()));
      }
    }
    Map<String, Long> counts = new HashMap<>();
    for (String program : programs) {
      for (String line : Files.readAllLines(guest.resolve("programs/" + program + ".counts"))) {
        String[] words = line.split(" ", -1);
        counts.merge(words[0], Long.parseLong(words[1]), Long::sum);
      }
    }
    return counts;
  }

  @Test
  void anomaliesExplainsEveryKindWithoutATrace() {
    Ran explained = Ran.well("anomalies", "--explain");
    for (AnomalyKind kind : AnomalyKind.values()) {
      assertThat(explained.out())
          .contains(kind.name(), kind.definition(), kind.cause(), kind.cure());
    }
  }
}
