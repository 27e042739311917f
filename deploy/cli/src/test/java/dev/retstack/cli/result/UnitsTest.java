package dev.retstack.cli.result;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.http.HttpSettings;
import dev.retstack.answers.viewer.TraceServer;
import dev.retstack.cli.HandMade;
import dev.retstack.cli.Ran;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.ClockUnit;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.Symbol;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.file.TraceFileWriter;
import dev.retstack.schema.record.RecordBatch;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A trace of cores that count in instructions, and of one that counts in nanoseconds. */
class UnitsTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long MAIN = 0x1000;
  private static final String OTHERS =
      "not in these figures: 1 core with times in nanoseconds (--unit nanoseconds)";

  @TempDir private static Path dir;
  private static String trace;

  @BeforeAll
  static void write() throws IOException {
    Path file = dir.resolve("units.avro");
    try (TraceFileWriter writer = TraceFileWriter.open(file)) {
      writer.write(
          HandMade.image("feed", "os.elf", List.of(new Symbol("main", MAIN, 0x100L))).build());
      writer.write(chunk("a", 20, ClockUnit.INSTRUCTIONS));
      writer.write(chunk("b", 30, ClockUnit.INSTRUCTIONS));
      writer.write(chunk("n", 7_000, ClockUnit.NANOSECONDS));
    }
    trace = file.toString();
  }

  /** One call of main, from 10 to that time. */
  private static Chunk chunk(String core, long end, ClockUnit unit) {
    RecordBatch batch = new RecordBatch(2);
    HandMade.call(batch, RecordBatch.ENTRY, 10, 0, MAIN, 0x900);
    HandMade.call(batch, RecordBatch.EXIT, end, 0, MAIN, 0x900);
    Chunk chunk = HandMade.chunk("s", core, "feed", batch, end, CoreEnd.HALTED, "exit code 0");
    return Chunks.seal(Chunk.newBuilder(chunk).setClockUnit(unit).build());
  }

  private static String[] with(String[] args, String... more) {
    return Stream.concat(Arrays.stream(args), Arrays.stream(more)).toArray(String[]::new);
  }

  private static JsonNode json(String... args) throws IOException {
    return JSON.readTree(Ran.well(with(args, "--format", "json")).out());
  }

  @Test
  void figuresAreThoseOfOneUnitAndSayHowManyCoresHaveTheOther() throws IOException {
    for (String[] verb :
        List.of(
            new String[] {"report", trace},
            new String[] {"replay", trace},
            new String[] {"graph", trace, "--durations"})) {
      String what = String.join(" ", verb);
      JsonNode usual = json(verb);
      assertThat(usual.path("unit").asText()).as(what).isEqualToIgnoringCase("instructions");
      assertThat(usual.path("otherUnits").toString()).as(what).isEqualTo("{\"NANOSECONDS\":1}");
      assertThat(json(with(verb, "--unit", "instructions"))).as(what).isEqualTo(usual);
      assertThat(Ran.well(verb).out()).as(what).contains(OTHERS);
      JsonNode other = json(with(verb, "--unit", "nanoseconds"));
      assertThat(other.path("unit").asText()).as(what).isEqualToIgnoringCase("nanoseconds");
      assertThat(other.path("otherUnits").toString()).as(what).isEqualTo("{\"INSTRUCTIONS\":2}");
    }
    assertThat(json("report", trace).path("functions").path(0).path("total").asLong())
        .isEqualTo(30);
    assertThat(
            json("report", trace, "--unit", "nanoseconds").path("functions").path(0).path("total"))
        .hasToString("6990");
    assertThat(json("report", trace, "--core", "n").path("unit").asText())
        .isEqualToIgnoringCase("nanoseconds");
    assertThat(Ran.well("report", trace, "--format", "csv").err()).contains(OTHERS);
    assertThat(json("graph", trace, "--durations").path("max").asLong()).isEqualTo(20);
  }

  @Test
  void stacksOfTwoUnitsAreNotAddedUp() {
    Ran folded = Ran.well("export", trace, "--format", "folded", "-o", "-");
    assertThat(folded.out()).isEqualTo("os.elf;main 30\n");
    assertThat(folded.err()).contains(OTHERS);
    String[] other = {"export", trace, "--format", "folded", "--unit", "nanoseconds", "-o", "-"};
    assertThat(Ran.well(other).out()).isEqualTo("os.elf;main 6990\n");
  }

  @Test
  void aPipelineIsAskedForTheSame() throws Exception {
    try (TraceServer server =
        TraceServer.start(Path.of(trace), LateSymbols.NONE, HttpSettings.LOCAL)) {
      String[] live = {"--live", "--http", server.uri().toString()};
      for (String[] verb :
          List.of(new String[] {"report"}, new String[] {"graph", "--durations"})) {
        String[] asked = with(verb, live);
        assertThat(json(asked).path("otherUnits").toString()).isEqualTo("{\"NANOSECONDS\":1}");
        assertThat(json(with(asked, "--unit", "nanoseconds")).path("unit").asText())
            .isEqualTo("NANOSECONDS");
      }
    }
  }

  @Test
  void aUnitThatIsNoneIsRefused() {
    Ran ran = Ran.retstack("report", trace, "--unit", "unknown");
    assertThat(ran.code()).isEqualTo(ExitCode.USAGE);
    assertThat(ran.err()).contains("--unit", "INSTRUCTIONS", "NANOSECONDS");
    assertThat(Ran.retstack("graph", trace, "--unit", "nanoseconds").err())
        .contains("--unit: give --durations with it");
  }
}
