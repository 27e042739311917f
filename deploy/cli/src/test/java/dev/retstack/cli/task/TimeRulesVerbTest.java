package dev.retstack.cli.task;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.Ran;
import dev.retstack.cli.command.ExitCode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Options that say which time counts, on a trace whose times are known. */
class TimeRulesVerbTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path dir;
  private String trace;

  @BeforeEach
  void write() throws IOException {
    trace = TwoTasks.write(dir.resolve("two.avro")).toString();
  }

  @Test
  void reportCountsByThem() throws IOException {
    assertThat(totals()).containsExactlyInAnyOrderEntriesOf(totals(40, 10, 3, 3));
    assertThat(totals("--sleep-time")).isEqualTo(totals(70, 10, 3, 3));
    assertThat(totals("--no-graph-time")).isEqualTo(totals(27, 10, 3, 3));
    assertThat(totals("--no-funcgraph-irqs")).isEqualTo(totals(30, 10, 3, null));
    assertThat(totals("--sleep-time", "--no-funcgraph-irqs")).isEqualTo(totals(60, 10, 3, null));
  }

  @Test
  void reportSaysWhatIsLeftOut() {
    assertThat(Ran.well("report", trace).out())
        .doesNotContain("# TOTAL")
        .contains("# WALL is from begin to end")
        .containsPattern("CALLS +TOTAL +WALL +SELF")
        .containsPattern("1 +40 +70 +27 .* main");
    assertThat(Ran.well("report", trace, "--sleep-time").out())
        .contains("# TOTAL, AVG, MIN and MAX are with sleep-time\n")
        .doesNotContain("WALL");
    assertThat(Ran.well("report", trace, "--no-graph-time").out())
        .contains("# TOTAL, AVG, MIN and MAX are without sleep-time, graph-time\n");
    assertThat(Ran.well("report", trace, "--no-funcgraph-irqs", "--format", "json").out())
        .contains("\"notCounted\":[\"sleep-time\",\"funcgraph-irqs\"]")
        .contains("\"total\":30,\"wall\":70");
  }

  @Test
  void graphShowsDurationsByThem() {
    assertThat(endOfMain("graph", trace)).contains("40 |  }");
    assertThat(Ran.well("graph", trace, "--format", "json").out()).contains("\"took\":40");
    assertThat(Ran.well("graph", trace).out()).contains("interrupt 32 {", "tick();");
    assertThat(endOfMain("graph", trace, "--sleep-time")).contains("70 |  }");
    assertThat(endOfMain("graph", trace, "--no-funcgraph-irqs")).contains("30 |  }");
    assertThat(Ran.well("graph", trace, "--no-funcgraph-irqs").out())
        .doesNotContain("interrupt", "tick");
    assertThat(Ran.retstack("graph", trace, "--no-graph-time").code()).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void exportLeavesInterruptsOut() {
    String[] folded = {"export", trace, "--format", "folded", "-o", "-"};
    assertThat(Ran.well(folded).out().lines())
        .containsExactlyInAnyOrder(
            "os.elf;main 27",
            "os.elf;main;a 3",
            "os.elf;main;interrupt 32 7",
            "os.elf;main;interrupt 32;tick 3",
            "os.elf;work 10");
    List<String> without = new ArrayList<>(List.of(folded));
    without.add("--no-funcgraph-irqs");
    assertThat(Ran.well(without.toArray(String[]::new)).out().lines())
        .containsExactlyInAnyOrder("os.elf;main 27", "os.elf;main;a 3", "os.elf;work 10");
  }

  @Test
  void aPipelineHasRulesOfItsOwn() {
    Ran refused = Ran.retstack("report", "--live", "--sleep-time", "--no-graph-time");
    assertThat(refused.code()).isEqualTo(ExitCode.USAGE);
    assertThat(refused.err())
        .contains(
            "--sleep-time --no-graph-time: a running pipeline has added up its totals already");
  }

  private Map<String, Long> totals(String... options) throws IOException {
    List<String> line = new ArrayList<>(List.of("report", trace, "--format", "json"));
    line.addAll(List.of(options));
    Map<String, Long> totals = new HashMap<>();
    for (JsonNode row :
        JSON.readTree(Ran.well(line.toArray(String[]::new)).out()).get("functions")) {
      totals.put(row.get("name").asText(), row.get("total").asLong());
    }
    return totals;
  }

  private static Map<String, Long> totals(long main, long work, long a, Integer tick) {
    Map<String, Long> totals = new HashMap<>(Map.of("main", main, "work", work, "a", a));
    if (tick != null) {
      totals.put("tick", tick.longValue());
    }
    return totals;
  }

  /** The last line of the first task's tree: the end of main. */
  private static String endOfMain(String... args) {
    return Ran.well(args)
        .out()
        .lines()
        .filter(line -> line.endsWith("|  }"))
        .findFirst()
        .orElseThrow();
  }
}
