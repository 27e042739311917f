package dev.retstack.answers.export;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.state.CoreProgress;
import dev.retstack.answers.support.CoreScript;
import dev.retstack.answers.support.States;
import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Format;
import dev.retstack.answers.view.CoresView;
import dev.retstack.answers.view.Coverage;
import dev.retstack.answers.view.ReportView;
import dev.retstack.answers.view.TopView;
import dev.retstack.graph.input.Grouping;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.ForgottenSessions;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.top.StateTotals;
import dev.retstack.graph.top.Top;
import dev.retstack.graph.top.TopBuilder;
import dev.retstack.graph.top.TopSort;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
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
      state.summaries().stream().map(core -> CoreProgress.of(0, core)).toList();

  private Top top() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    StateTotals.of(state).writeTo(new DataOutputStream(bytes));
    return new TopBuilder()
        .read(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())), 0)
        .build(Optional.empty(), TopSort.TOTAL, Grouping.GROUPS, 10);
  }

  @Test
  void theReportCountsThem() throws IOException {
    assertThat(ReportView.of(ReportBuilder.of(state).build(), 100).as(Format.TEXT).lines())
        .startsWith(
            "# 4 records of 1 core, 0 lost, 20 calls untraced: 9.09 % complete, times in instructions")
        .contains(
            " MISSING  CORE    WHERE                        AFTER  UNTIL  COMPLETE",
            "20 calls  core-0  ran untraced: see the stats                  9.09 %");
    JsonNode report =
        JSON.readTree(ReportView.of(ReportBuilder.of(state).build(), 100).as(Format.JSON));
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
    Coverage coverage = new Coverage(List.of(0), 1);
    Document sums = CoresView.sessions(CoresView.bySession(cores, coverage), coverage);
    assertThat(sums.as(Format.TEXT)).contains("UNTRACED  COMPLETE", "20    9.09 %");
    assertThat(sums.as(Format.CSV)).contains(",lost,untraced,completeness", ",4,0,20,9.09");
    ForgottenSessions none = ForgottenSessions.NONE;
    JsonNode complete =
        JSON.readTree(
            CoresView.completeness(cores, cores, none, List.of(), coverage).as(Format.JSON));
    for (JsonNode of : List.of(complete, complete.at("/byPartition/0"), complete.at("/cores/0"))) {
      assertThat(of.path("untraced").asLong()).isEqualTo(20);
      assertThat(of.path("completeness").asDouble()).isEqualTo(100.0 * 4 / 44);
    }
    assertThat(CoresView.cores(cores).as(Format.TEXT)).contains("LOST  UNTRACED", " 20 ");
    assertThat(CoresView.cores(cores).as(Format.CSV)).contains(",lost,untraced,", ",0,20,");
    assertThat(JSON.readTree(CoresView.cores(cores).as(Format.JSON)).at("/cores/0/untraced"))
        .isEqualTo(JSON.readTree("20"));
  }

  @Test
  void theFirstCoresCountThem() throws IOException {
    Top top = top();
    Coverage coverage = new Coverage(List.of(0), 1);
    Document view = TopView.of(top, core -> core.end().name(), 5, coverage);
    assertThat(view.as(Format.TEXT))
        .contains("4 records, 0 lost, 20 calls untraced: 9.09 % complete;", "LOST  UNTRACED");
    assertThat(view.as(Format.TEXT).lines().map(line -> line.split(" +")))
        .as("each column once")
        .contains(
            new String[] {"FUNCTION", "ISA", "CALLS", "TOTAL", "SELF", "SELF-%"},
            new String[] {"STAT", "SEVERITY", "COUNT"});
    JsonNode json = JSON.readTree(view.as(Format.JSON));
    assertThat(json.path("untraced").asLong()).isEqualTo(20);
    assertThat(json.at("/topCores/0/untraced").asLong()).isEqualTo(20);
    assertThat(json.path("completeness").asDouble()).isEqualTo(100.0 * 4 / 44);
  }
}
