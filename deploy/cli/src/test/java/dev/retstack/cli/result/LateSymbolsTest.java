package dev.retstack.cli.result;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.Ran;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.PipelineService;
import dev.retstack.service.kafka.KafkaSettings;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A program is recorded stripped; its names come later, from the file before strip. */
@Timeout(240)
class LateSymbolsTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String SOURCE =
      """
      __attribute__((noinline)) int leaf(int x) { return x * 3 + 1; }
      __attribute__((noinline)) int middle(int x) { return leaf(x) + leaf(x + 1) + 1; }
      int main(void) { return middle(1) + middle(2) == 0; }
      """;
  private static final Map<String, Long> CALLS = Map.of("leaf", 4L, "middle", 2L, "main", 1L);

  @TempDir private static Path dir;

  /** {@code full} has names; {@code debug/p} nothing but names; {@code p} is what runs. */
  @BeforeAll
  static void aStrippedProgramIsRecorded() throws Exception {
    Path source = Files.writeString(dir.resolve("p.c"), SOURCE);
    String full = dir.resolve("full").toString();
    run(
        "gcc",
        "-static",
        "-O2",
        "-g",
        "-fpatchable-function-entry=2",
        "-Wl,--build-id",
        "-o",
        full,
        source);
    run("strip", "-s", "-o", dir.resolve("p"), full);
    Files.createDirectory(dir.resolve("debug"));
    run("objcopy", "--only-keep-debug", full, dir.resolve("debug/p"));
    Files.writeString(dir.resolve("debug/notes"), "what a folder may hold as well");
    Ran.well("record", "--image", at("p"), "-o", at("t.avro"));
  }

  private static void run(Object... words) throws Exception {
    List<String> line = new ArrayList<>();
    for (Object word : words) {
      line.add(word.toString());
    }
    Process process;
    try {
      process = new ProcessBuilder(line).redirectErrorStream(true).start();
    } catch (IOException e) {
      assumeTrue(false, "no " + words[0]);
      throw e;
    }
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
  }

  private static String at(String file) {
    return dir.resolve(file).toString();
  }

  private static Map<String, Long> calls(String json) throws IOException {
    Map<String, Long> calls = new TreeMap<>();
    for (JsonNode row : JSON.readTree(json).path("functions")) {
      calls.put(row.path("name").asText(), row.path("calls").asLong());
    }
    return calls;
  }

  @ParameterizedTest
  @ValueSource(strings = {"full", "debug/p", "debug", "."})
  void theFileBeforeStripNamesTheFunctions(String symbols) throws Exception {
    Ran without = Ran.retstack("report", at("t.avro"), "--format", "json");
    assertThat(calls(without.out()).keySet()).allMatch(name -> name.startsWith("0x"));
    assertThat(without.err().lines().filter(line -> line.contains("no names of functions in p")))
        .singleElement()
        .asString()
        .contains("--symbols FILE");
    Ran named = Ran.well("report", at("t.avro"), "--format", "json", "--symbols", at(symbols));
    assertThat(calls(named.out())).isEqualTo(CALLS);
    assertThat(named.err()).contains(" functions of p are named by ").doesNotContain("no names");
    assertThat(JSON.readTree(named.out()).path("resultHash").asText())
        .hasSize(64)
        .isEqualTo(JSON.readTree(without.out()).path("resultHash").asText());
  }

  @Test
  void theyBringTheirLines() throws Exception {
    String source = dir.resolve("p.c").toString();
    String[] words = {"report", at("t.avro"), "--symbols", at("debug"), "--format"};
    JsonNode rows = JSON.readTree(ok(words, "json")).path("functions");
    Map<String, String> lines = new TreeMap<>();
    rows.forEach(row -> lines.put(row.path("name").asText(), row.path("source").asText()));
    assertThat(lines)
        .isEqualTo(Map.of("leaf", source + ":1", "middle", source + ":2", "main", source + ":3"));
    assertThat(ok(words, "csv").lines().filter(line -> line.startsWith("leaf,")))
        .singleElement()
        .asString()
        .endsWith("," + source + ":1");
    assertThat(ok(words, "text")).doesNotContain(source);
    assertThat(ok(words, "text", "--source").lines().filter(line -> line.contains(" middle ")))
        .singleElement()
        .asString()
        .endsWith(source + ":2");
    Ran without = Ran.retstack("report", at("t.avro"), "--format", "json");
    assertThat(JSON.readTree(without.out()).path("functions").path(0).has("source")).isFalse();
  }

  @Test
  void aTableThatLiesIsSaidAndTheProgramRuns() throws Exception {
    byte[] bytes = Files.readAllBytes(dir.resolve("full"));
    long table = ElfFile.parse(dir.resolve("full")).section(".debug_line").orElseThrow().offset();
    bytes[(int) table + 4] = 9;
    Files.write(dir.resolve("lies"), bytes);
    Ran ran = Ran.well("record", "--image", at("lies"), "-o", at("lies.avro"));
    assertThat(ran.err())
        .containsOnlyOnce(
            "lies: version of .debug_line at 0x6 is 9, allowed: 2 to 5; its functions")
        .contains("have no source lines");
    String json = ok(new String[] {"report", at("lies.avro"), "--format", "json"});
    assertThat(calls(json)).isEqualTo(CALLS);
    assertThat(json).doesNotContain("p.c");
  }

  @Test
  void coverageForLcovIsOfSourceFiles() throws Exception {
    Ran.well("record", "--image", at("full"), "-o", at("full.avro"));
    String source = dir.resolve("p.c").toString();
    List<String> lines =
        ok(new String[] {"coverage", at("full.avro"), "--format", "lcov"}).lines().toList();
    int section = lines.indexOf("SF:" + source);
    assertThat(section).isPositive();
    assertThat(lines.subList(section + 1, section + 15))
        .contains("FN:1,leaf", "FN:2,middle", "FN:3,main", "FNDA:4,leaf", "DA:1,4", "DA:2,2")
        .contains("FNF:3", "FNH:3", "LF:3", "LH:3", "end_of_record");
    JsonNode rows =
        JSON.readTree(ok(new String[] {"coverage", at("full.avro"), "--format", "json"}))
            .at("/images/0/rows");
    assertThat(rows).anyMatch(row -> row.path("source").asText().equals(source + ":2"));
  }

  private static String ok(String[] words, String... more) {
    return Ran.well(Stream.concat(Stream.of(words), Stream.of(more)).toArray(String[]::new)).out();
  }

  @Test
  void otherViewsNameThemToo() {
    assertThat(Ran.retstack("graph", at("t.avro"), "--symbols", at("full")).out())
        .contains("main() {")
        .contains("leaf();");
    assertThat(Ran.retstack("hot", at("t.avro"), "--exact", "--symbols", at("full")).out())
        .contains(" middle ");
    assertThat(
            Ran.retstack(
                    "export",
                    at("t.avro"),
                    "--format",
                    "folded",
                    "-o",
                    "-",
                    "--symbols",
                    at("full"))
                .out())
        .contains(";main;middle;leaf ");
  }

  @Test
  void whatNamesNothingIsSaid() {
    assertThat(fault(at("p"))).contains("names no function", "before strip");
    assertThat(fault(at("p.c"))).contains("p.c", "ELF");
    assertThat(fault(at("none"))).contains("no such file");
    Ran live = Ran.retstack("report", "--live", "--symbols", at("full"));
    assertThat(live.code()).isEqualTo(ExitCode.USAGE);
    assertThat(live.err()).contains("give this to retstack pipeline");
  }

  @Test
  void namesOfAnotherProgramAreRefusedWithBothBuildIds() throws Exception {
    run("gcc", "-static", "-O1", "-Wl,--build-id", "-o", at("other"), dir.resolve("p.c"));
    assertThat(fault(at("other")))
        .contains(ElfFile.parse(dir.resolve("other")).buildId())
        .contains(ElfFile.parse(dir.resolve("full")).buildId());
    Ran hot = Ran.retstack("hot", at("t.avro"), "--exact", "--symbols", at("other"));
    assertThat(hot.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(hot.err()).contains("no build-id of");
  }

  private static String fault(String symbols) {
    Ran ran = Ran.retstack("report", at("t.avro"), "--symbols", symbols);
    assertThat(ran.code()).isEqualTo(ExitCode.BAD_INPUT);
    return ran.err();
  }

  @Test
  void aMemberThatIsStartedWithNamesNamesWhatWasCountedBefore(@TempDir Path folder)
      throws Exception {
    ElfFile full = ElfFile.parse(dir.resolve("full"));
    try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"), 0)) {
      PipelineConfig plain =
          PipelineConfig.of(KafkaSettings.of(broker.bootstrap()))
              .but()
              .http("127.0.0.1", 0)
              .build();
      Ran.well("replay", at("t.avro"), "--into-kafka", "--bootstrap", broker.bootstrap());
      assertThat(calls(liveReport(plain)).keySet()).allMatch(name -> name.startsWith("0x"));
      PipelineConfig named =
          plain
              .but()
              .names(new LateSymbols(Map.of(full.buildId(), SymbolOptions.functions(full))))
              .build();
      assertThat(calls(liveReport(named))).isEqualTo(CALLS);
    }
  }

  private static String liveReport(PipelineConfig config) throws Exception {
    try (Pipeline member = PipelineService.start(config)) {
      var _ = member.awaitCoresEnded(1).toCompletableFuture().get(2, TimeUnit.MINUTES);
      return Ran.well("report", "--live", "--http", member.httpUri().toString(), "--format", "json")
          .out();
    }
  }
}
