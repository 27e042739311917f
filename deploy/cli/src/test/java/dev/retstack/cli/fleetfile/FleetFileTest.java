package dev.retstack.cli.fleetfile;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.Ran;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.house.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a fleet file comes to, and what is told of a wrong one. */
class FleetFileTest {
  @TempDir private Path folder;

  private Path file(String... lines) throws IOException {
    return Files.write(folder.resolve("my.conf"), List.of(lines));
  }

  private JsonNode resolved(String... lines) throws IOException {
    Ran ran = Ran.well("fleet", file(lines).toString(), "--format", "json");
    return new ObjectMapper().readTree(ran.out());
  }

  @Test
  void theExampleDescribesTheFleetThatItSays() throws Exception {
    Path example = Repository.root().resolve("deploy/fleet.conf");
    Ran ran = Ran.well("fleet", example.toString(), "--format", "json");
    JsonNode cores = new ObjectMapper().readTree(ran.out()).path("cores");
    assertThat(cores.findValuesAsText("core"))
        .containsExactly("edge-0", "edge-1", "core-0", "spare-0");
    assertThat(cores.path(0).path("labels").toString())
        .isEqualTo("{\"rack\":\"7\",\"site\":\"lab\"}");
    assertThat(cores.path(3).path("start").asText()).isEqualTo("off");
  }

  @Test
  void aGroupWinsOverTheDefaultsKeyByKey() throws Exception {
    JsonNode cores =
        resolved(
                "defaults {",
                "  image = zoo-riscv64-mcount, cores = 2, tracer = function, max-depth = 7",
                "  filter = [ \"w200_*\", run_sort ], label { a = 1, b = 2 }, env { X = \"1\" }",
                "}",
                "groups {",
                "  second { cores = 1, filter = null, tracer = function_graph, label { b = 3 } }",
                "  first { filter = run_sort, env { Y = \"a=b\" }, arg = [ sort, \"-x\", 007 ] }",
                "}")
            .path("cores");
    assertThat(cores.findValuesAsText("core"))
        .as("in the order of the file")
        .containsExactly("second-0", "first-0", "first-1");
    JsonNode second = cores.path(0);
    assertThat(second.path("trace").toString()).isEqualTo("{\"set-max-depth\":[\"7\"]}");
    assertThat(second.path("labels").toString()).isEqualTo("{\"a\":\"1\",\"b\":\"3\"}");
    JsonNode first = cores.path(1);
    assertThat(first.path("trace").toString())
        .isEqualTo(
            "{\"set-filter\":[\"run_sort\"],\"set-max-depth\":[\"7\"],"
                + "\"set-tracer\":[\"function\"]}");
    assertThat(first.path("environment").toString()).isEqualTo("{\"X\":\"1\",\"Y\":\"a=b\"}");
    assertThat(first.path("arguments").toString())
        .isEqualTo("[\"zoo-riscv64-mcount.elf\",\"sort\",\"-x\",\"007\"]");
  }

  @Test
  void filesAreRelativeToTheFileThatNamesThem() throws Exception {
    Path sub = Files.createDirectory(folder.resolve("sub"));
    Path zoo = Repository.root().resolve("emulators/guest/images/zoo-arm-mcount.elf");
    Files.copy(zoo, sub.resolve("mine.elf"));
    Files.writeString(sub.resolve("names"), "run_sort run_fib");
    Files.writeString(
        sub.resolve("board.conf"), "groups.a { image = mine.elf, filter = \"@names\" }");
    JsonNode core = resolved("include \"sub/board.conf\"", "groups.a.cores = 1").at("/cores/0");
    assertThat(core.path("image").asText()).isEqualTo(sub.resolve("mine.elf").toString());
    assertThat(core.at("/trace/set-filter").toString()).isEqualTo("[\"run_sort\",\"run_fib\"]");
  }

  @Test
  void everyProblemIsToldAtOnceWithItsLine() throws Exception {
    Path file =
        file(
            "prefx = lab",
            "flush-ms = soon",
            "filter = a",
            "bootstrap = [ a, b ]",
            "isolate = maybe",
            "codec = zip",
            "defaults {",
            "  clock = hots",
            "  fliter = a",
            "  filter = [ run_sort,",
            "    \"/(/\" ]",
            "  notrace = nofunction",
            "}",
            "groups {",
            "  \"bad name\" { image = zoo-riscv64-mcount }",
            "  edge {",
            "    image = zoo-riscv64-mcont",
            "    cores = 0",
            "    env = KEY",
            "    bootstrap = \"x:1\"",
            "    max-depth = { a = 1 }",
            "    min-duration = -1",
            "  }",
            "  two {",
            "    image = zoo-riscv64-mcount",
            "    isa = arm",
            "    filter = [ \"w200_00?\",",
            "      run_srot ]",
            "    label { rack = \"7 8\" }",
            "    entry = mian",
            "    tracer = graph",
            "    stdin = nothere",
            "    trigger = \"run_sort:traceof\"",
            "    argument = \"run_sort@arg0\"",
            "    ret-stack = 0",
            "    memory = much",
            "    ram = \"1:2\"",
            "    flight-recorder = 99999999",
            "    start = paused",
            "    event = [ \"sycalls\",",
            "      \"syscalls:opneat\" ]",
            "  }",
            "  none { cores = 1 }",
            "}");
    Ran ran = Ran.retstack("fleet", file.toString());
    assertThat(ran.code()).isEqualTo(ExitCode.USAGE);
    List<String> lines = ran.err().lines().map(line -> line.replace(file + ":", "")).toList();
    String[][] expected = {
      {"1", "no such key: 'prefx'; did you mean prefix?"},
      {"2", "flush-ms: soon: give a number from 0 to 3,600,000"},
      {"3", "'filter' is an option of cores: put it into defaults or a group"},
      {"4", "bootstrap takes one value, this is a list"},
      {"5", "isolate is true or false, this is 'maybe'"},
      {"6", "codec: unknown codec 'zip': this version knows"},
      {"8", "clock: expected one of [VIRTUAL, HOST] (case-insensitive) but was 'hots'"},
      {"9", "no such key: 'fliter'; did you mean filter?"},
      {"11", "filter: no regular expression: '/(/'"},
      {"12", "notrace: no function of zoo-riscv64-mcount.elf is 'nofunction'"},
      {"15", "not a group name: 'bad name'"},
      {"17", "image: no such image: zoo-riscv64-mcont; did you mean zoo-riscv64-mcount"},
      {"18", "cores: 0: give a number from 1 to 100,000"},
      {"19", "env takes { KEY = VALUE }, this is 'KEY'"},
      {"20", "'bootstrap' is an option of the whole fleet: put it at the top"},
      {"21", "max-depth takes one value, this is an object"},
      {"22", "min-duration: no number: '-1'; say 0 for none, or up to"},
      {"26", "isa: zoo-riscv64-mcount.elf: e_machine is 243 (riscv64), allowed: 40 (arm)"},
      {"28", "filter: no function of zoo-riscv64-mcount.elf is 'run_srot': did you mean run_sort"},
      {"29", "label: no label: 'rack=7 8'"},
      {"30", "entry: zoo-riscv64-mcount.elf: the entry 'mian' is no symbol"},
      {"31", "tracer: no such tracer: 'graph'; there are nop, function, function_graph"},
      {"32", "stdin: as standard input: no such file: " + folder.resolve("nothere")},
      {"33", "trigger: not a trigger: 'run_sort:traceof'; write FUNCTION:ACTION"},
      {"34", "arguments: "},
      {"35", "ret-stack: 0: give a number from 1 to 65,536"},
      {"36", "memory: 'much' is not a number of bytes"},
      {"37", "ram 0x1:0x2 is not whole pages"},
      {"38", "flight-recorder: no number: '99999999'; say 0 for none, or up to 1048576"},
      {"39", "start: no such state: 'paused'; use on or off"},
      {"40", "events: no such event: 'sycalls'"},
      {"41", "event: no system call of riscv64 is 'opneat': did you mean openat"},
      {"43", "group none has no image: write image = FILE"},
    };
    assertThat(lines.getFirst()).endsWith(expected.length + " problems");
    for (int i = 0; i < expected.length; i++) {
      assertThat(lines.get(i + 1))
          .startsWith("  " + expected[i][0] + ": ")
          .contains(expected[i][1]);
    }
    assertThat(lines).hasSize(1 + expected.length);
  }

  @Test
  void whatIsNoHoconIsToldWithItsLine() throws Exception {
    Ran ran =
        Ran.retstack("fleet", file("codec = packed", "groups { a { filter = w* } }").toString());
    assertThat(ran.code()).isEqualTo(ExitCode.USAGE);
    assertThat(ran.err()).contains("my.conf:2: not HOCON: ").contains("in double quotes");
    assertThat(Ran.retstack("fleet", file("a = ${NO_SUCH}").toString()).err())
        .contains("my.conf:1: not HOCON: Could not resolve substitution to a value: ${NO_SUCH}");
    assertThat(Ran.retstack("fleet", file("").toString()).err())
        .contains("no groups: write groups {");
    assertThat(Ran.retstack("fleet", folder.resolve("absent").toString()).code())
        .isEqualTo(ExitCode.BAD_INPUT);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--filter|a*|--filter cannot be used with --fleet: write filter = ... in the file",
        "--cores|2|--cores cannot be used with --fleet: write cores = ...",
        "--|sort|sort' cannot be used with --fleet: write arg = [...] in the file",
      })
  void optionsOfCoresDoNotStandBesideAFile(String option, String value, String sentence)
      throws Exception {
    Path file = file("groups.a { image = zoo-arm-mcount }");
    Ran ran =
        Ran.retstack("record", "--fleet", file.toString(), "-o", folder + "/t.avro", option, value);
    assertThat(ran.code()).as(ran.err()).isEqualTo(ExitCode.USAGE);
    assertThat(ran.err()).contains(sentence);
  }

  /** The names of library functions mean something in a group that traces their calls. */
  @Test
  void libraryCallsAreAKeyOfAGroup() throws Exception {
    Path source = Files.writeString(folder.resolve("p.c"), "int main(void) { return puts(\"\"); }");
    Path program = folder.resolve("p");
    Assumptions.assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "skipped: no gcc");
    Process gcc =
        new ProcessBuilder(
                "gcc", "-pg", "-include", "stdio.h", source.toString(), "-o", program.toString())
            .inheritIO()
            .start();
    assertThat(gcc.waitFor()).isZero();
    String group = "groups { a { image = \"" + program + "\", filter = puts";

    JsonNode cores = resolved(group + ", libcalls = true } }").path("cores");
    Ran without = Ran.retstack("fleet", file(group + " } }").toString());

    assertThat(cores.path(0).path("libraryCalls").asBoolean()).isTrue();
    assertThat(without.err()).contains("no function of p is 'puts'");
  }

  /** Every group records what it is told to, and an option of the whole fleet beats the file. */
  @Test
  void aFleetIsRecordedAsItsFileSays() throws Exception {
    Path file =
        file(
            "codec = records",
            "session = of-the-file",
            "isolate = true",
            "defaults { arg = [ sort ] }",
            "groups {",
            "  a { image = zoo-x86_64-fentry, filter = run_sort }",
            "  b { image = zoo-s390x-mcount, cores = 2, filter = \"sort_*\" }",
            "  c { image = [ zoo-arm-mcount, zoo-mips-mcount ], start = off }",
            "}");
    Path trace = folder.resolve("trace.avro");
    Ran ran =
        Ran.well("record", "--fleet", file.toString(), "-o", trace.toString(), "--no-isolate");
    assertThat(ran.err()).contains("5 cores").doesNotContain("process ");
    JsonNode cores =
        new ObjectMapper()
            .readTree(
                Ran.retstack("hot", trace.toString(), "--exact", "--per-core", "--format", "json")
                    .out());
    assertThat(cores.findValuesAsText("session")).containsOnly("of-the-file");
    for (JsonNode core : cores) {
      List<String> functions = core.path("rows").findValuesAsText("function");
      switch (core.path("core").asText()) {
        case "a-0" -> assertThat(functions).containsExactly("run_sort");
        case "b-0", "b-1" ->
            assertThat(functions)
                .isNotEmpty()
                .allSatisfy(function -> assertThat(function).startsWith("sort_"));
        default -> assertThat(functions).isEmpty();
      }
    }
    assertThat(cores.findValuesAsText("core")).contains("a-0", "b-0", "b-1");
  }
}
