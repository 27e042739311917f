package dev.retstack.service.export;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.graph.aggregate.ForgottenSessions;
import dev.retstack.graph.aggregate.GraphState;
import dev.retstack.graph.report.StateTotals;
import dev.retstack.graph.report.Top;
import dev.retstack.graph.report.TopBuilder;
import dev.retstack.graph.report.TopSort;
import dev.retstack.service.progress.CoreProgress;
import dev.retstack.service.support.CoreScript;
import dev.retstack.service.support.States;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.StringWriter;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** No form says that a trace is complete while calls ran untraced. */
class UntracedRenderTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** 4 records of two calls, 20 calls beside them: 4 of 44 records are here. */
  private final GraphState state =
      States.of(
          new CoreScript(CoreScript.image("zoo", "main", "leaf"), "s1", "core-0")
              .enter("main")
              .tick(1)
              .enter("leaf")
              .tick(1)
              .exit()
              .untraced(12, 0)
              .chunk()
              .exit()
              .untraced(0, 8)
              .end());

  private final List<CoreProgress> cores =
      state.cores().stream().map(core -> CoreProgress.of(0, core)).toList();

  private interface Form {
    void write(StringWriter out) throws IOException;
  }

  private static String written(Form form) throws IOException {
    StringWriter out = new StringWriter();
    form.write(out);
    return out.toString();
  }

  private Top top() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    StateTotals.of(state).writeTo(new DataOutputStream(bytes));
    return new TopBuilder()
        .read(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())), 0)
        .build(Optional.empty(), TopSort.TOTAL, 10);
  }

  @Test
  void theReportCountsThem() throws IOException {
    assertThat(written(out -> ReportText.write(state.report(), out)).lines())
        .startsWith(
            "# 4 records of 1 core, 0 lost, 20 calls untraced: 9.09 % complete, times in instructions")
        .contains(
            " MISSING  CORE    WHERE                        AFTER  UNTIL  COMPLETE",
            "20 calls  core-0  ran untraced: see the stats                  9.09 %");
    JsonNode report = JSON.readTree(written(out -> ReportJson.write(state.report(), out)));
    assertThat(report.path("lost").asLong(-1)).isZero();
    assertThat(report.path("untraced").asLong()).isEqualTo(20);
    assertThat(report.path("completeness").asDouble()).isEqualTo(100.0 * 4 / 44);
    JsonNode core = report.path("incomplete").path(0);
    assertThat(core.path("untraced").asLong()).isEqualTo(20);
    assertThat(core.path("completeness")).isEqualTo(report.path("completeness"));
    assertThat(core.path("losses")).isEmpty();
  }

  @Test
  void coresAndTheirSumsCountThem() throws IOException {
    List<SumText.Sum> sums = SumText.bySession(cores);
    assertThat(written(out -> SumText.text(SumText.By.SESSION, sums, out)))
        .contains("UNTRACED  COMPLETE", "20    9.09 %");
    assertThat(written(out -> SumText.csv(SumText.By.SESSION, sums, out)))
        .contains(",lost,untraced,completeness,", ",4,0,20,9.09");
    Coverage coverage = new Coverage(List.of(0), 1);
    ForgottenSessions none = ForgottenSessions.NONE;
    JsonNode complete =
        JSON.readTree(written(out -> SumText.completeness(cores, cores, none, coverage, out)));
    for (JsonNode of : List.of(complete, complete.at("/byPartition/0"), complete.at("/cores/0"))) {
      assertThat(of.path("untraced").asLong()).isEqualTo(20);
      assertThat(of.path("completeness").asDouble()).isEqualTo(100.0 * 4 / 44);
    }
    assertThat(written(out -> ProgressText.text(cores, out))).contains("LOST  UNTRACED", " 20 ");
    assertThat(written(out -> ProgressText.csv(cores, out))).contains(",lost,untraced,", ",0,20,");
    assertThat(JSON.readTree(written(out -> ProgressText.json(cores, out))).at("/cores/0/untraced"))
        .isEqualTo(JSON.readTree("20"));
  }

  @Test
  void theFirstCoresCountThem() throws IOException {
    Top top = top();
    assertThat(written(out -> TopText.text(top, core -> core.end().name(), 5, out)))
        .contains("4 records, 0 lost, 20 calls untraced: 9.09 % complete;", "LOST  UNTRACED");
    Coverage coverage = new Coverage(List.of(0), 1);
    JsonNode json =
        JSON.readTree(
            written(out -> TopText.json(top, core -> core.end().name(), 5, coverage, out)));
    assertThat(json.path("untraced").asLong()).isEqualTo(20);
    assertThat(json.at("/topCores/0/untraced").asLong()).isEqualTo(20);
    assertThat(json.path("completeness").asDouble()).isEqualTo(100.0 * 4 / 44);
  }
}
