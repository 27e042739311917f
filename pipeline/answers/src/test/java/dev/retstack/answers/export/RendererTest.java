package dev.retstack.answers.export;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.support.CoreScript;
import dev.retstack.answers.support.States;
import dev.retstack.answers.table.Csv;
import dev.retstack.answers.table.Format;
import dev.retstack.answers.table.Rendering;
import dev.retstack.answers.table.Units;
import dev.retstack.answers.view.AnomaliesView;
import dev.retstack.answers.view.Coverage;
import dev.retstack.answers.view.OpenCallsView;
import dev.retstack.answers.view.ReportView;
import dev.retstack.graph.check.Severity;
import dev.retstack.graph.input.Grouping;
import dev.retstack.graph.report.AnomalySum;
import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.OpenCallRow;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.report.TaskChoice;
import dev.retstack.graph.state.ForgottenSessions;
import dev.retstack.graph.state.GraphState;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every renderer against a golden of one small core; the goldens lie in resources/golden. */
class RendererTest {
  private static final AnomalySum.Query EACH =
      new AnomalySum.Query("", "", TaskChoice.ALL, Severity.WARNING, Grouping.EACH);

  private interface Renderer {
    void render(GraphState state, Writer out) throws IOException;
  }

  private static final int ALL = Integer.MAX_VALUE;

  private static final Map<String, Renderer> GOLDENS =
      Map.ofEntries(
          golden(
              "graph.txt",
              Format.TEXT,
              s ->
                  GraphView.of(
                      ReportBuilder.of(s).trees(), ReportBuilder.of(s).anomalies(), ALL, false)),
          golden(
              "graph-depth-1.txt",
              Format.TEXT,
              s ->
                  GraphView.of(
                      ReportBuilder.of(s).trees(), ReportBuilder.of(s).anomalies(), 1, false)),
          golden(
              "graph.json",
              Format.JSON,
              s ->
                  GraphView.of(
                      ReportBuilder.of(s).trees(), ReportBuilder.of(s).anomalies(), ALL, false)),
          golden(
              "graph.csv",
              Format.CSV,
              s ->
                  GraphView.of(
                      ReportBuilder.of(s).trees(), ReportBuilder.of(s).anomalies(), ALL, false)),
          golden("report.txt", Format.TEXT, s -> ReportView.of(ReportBuilder.of(s).build(), ALL)),
          golden("report.json", Format.JSON, s -> ReportView.of(ReportBuilder.of(s).build(), ALL)),
          golden("report.csv", Format.CSV, s -> ReportView.of(ReportBuilder.of(s).build(), ALL)),
          golden("edges.csv", Format.CSV, s -> ReportView.edges(ReportBuilder.of(s).build(), ALL)),
          golden("stats.csv", Format.CSV, RendererTest::stats),
          golden(
              "anomalies.txt",
              Format.TEXT,
              s -> AnomaliesView.of(ReportBuilder.of(s).anomalies(EACH))),
          golden("anomaly-groups.json", Format.JSON, RendererTest::groups),
          golden("anomaly-groups.txt", Format.TEXT, RendererTest::groups),
          golden(
              "anomalies.json",
              Format.JSON,
              s -> AnomaliesView.of(ReportBuilder.of(s).anomalies(EACH))),
          golden(
              "anomalies.csv",
              Format.CSV,
              s -> AnomaliesView.of(ReportBuilder.of(s).anomalies(EACH))),
          Map.entry(
              "stacks.folded",
              (s, out) ->
                  FoldedExport.write(ReportBuilder.of(s).trees(), false, true, false, out)));

  private static Map.Entry<String, Renderer> golden(
      String name, Format form, Function<GraphState, Rendering> view) {
    return Map.entry(name, (state, out) -> view.apply(state).write(form, out));
  }

  private static Rendering groups(GraphState state) {
    return AnomaliesView.of(ReportBuilder.of(state).anomalies(AnomalySum.Query.DEFAULT));
  }

  private static Rendering stats(GraphState state) {
    return ReportView.stats(
        ReportBuilder.of(state).build(),
        List.of(),
        ForgottenSessions.NONE,
        new Coverage(List.of(0), 1));
  }

  static Set<String> goldens() {
    return new TreeSet<>(GOLDENS.keySet());
  }

  @ParameterizedTest
  @MethodSource("goldens")
  void rendersTheGolden(String golden) throws IOException {
    StringWriter out = new StringWriter();
    GraphState state = Samples.state();
    GOLDENS.get(golden).render(state, out);
    // the digest is the graph module's own, and is tested there
    String rendered =
        out.toString().replace(ReportBuilder.of(state).build().resultHash(), "<hash>");
    try (InputStream expected = getClass().getResourceAsStream("/golden/" + golden)) {
      assertThat(rendered).isEqualTo(new String(expected.readAllBytes(), UTF_8));
    }
  }

  @Test
  void jsonKeysAreTheContract() throws IOException {
    JsonNode report =
        new ObjectMapper()
            .readTree(
                ReportView.of(ReportBuilder.of(Samples.state()).build(), ALL).as(Format.JSON));
    assertThat(keys(report))
        .containsExactly(
            "unit",
            "records",
            "lost",
            "untraced",
            "completeness",
            "resultHash",
            "notCounted",
            "incomplete",
            "functions",
            "edges",
            "stats");
    assertThat(keys(report.path("incomplete").path(0)))
        .containsExactly(
            "core", "session", "task", "records", "lost", "untraced", "completeness", "losses");
    assertThat(keys(report.path("functions").path(0)))
        .containsExactly(
            "name", "address", "image", "isa", "program", "images", "isas", "calls", "total",
            "wall", "self", "min", "max", "avg");
    assertThat(keys(report.path("edges").path(0)))
        .containsExactly("caller", "callee", "image", "program", "images", "calls", "total");
    assertThat(keys(report.path("stats").path(0)))
        .containsExactly("name", "severity", "source", "count");
  }

  @Test
  void foldedSelfTimesAddUpToTheTimeOfTheOutermostCalls() throws IOException {
    GraphState state = States.of(deep(3_000));
    StringBuilder out = new StringBuilder();
    FoldedExport.write(ReportBuilder.of(state).trees(), false, true, false, out);
    long sum =
        out.toString()
            .lines()
            .mapToLong(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)))
            .sum();
    CallTree tree = ReportBuilder.of(state).trees().getFirst();
    long total = tree.roots().stream().mapToLong(root -> root.exit() - root.enter()).sum();
    assertThat(sum).isEqualTo(total).isPositive();
  }

  @Test
  void deepStacksNeedNoStackOfTheReader() throws IOException {
    GraphState state = States.of(deep(60_000));
    StringWriter json = new StringWriter();
    GraphJson.write(ReportBuilder.of(state).trees(), Integer.MAX_VALUE, false, json);
    StringBuilder text = new StringBuilder();
    GraphText.write(
        ReportBuilder.of(state).trees(), ReportBuilder.of(state).anomalies(), 100, text);
    assertThat(json.toString().split("\"function\"", -1)).hasSize(60_001);
    assertThat(text.toString().lines()).hasSize(2 + 99 + 1 + 99);
  }

  /** 60,000 levels were 3.6 GB of indentation, and as much in stacks. */
  @Test
  void whatARecursionWritesGrowsWithItsCallsAlone() throws IOException {
    Map<String, Renderer> forms = new TreeMap<>(GOLDENS);
    forms.put(
        "trace.perfetto",
        (s, out) -> {
          ByteArrayOutputStream bytes = new ByteArrayOutputStream();
          PerfettoExport.write(
              ReportBuilder.of(s).trees(), ReportBuilder.of(s).anomalies(), false, bytes);
          out.write(bytes.toString(ISO_8859_1));
        });
    forms.put(
        "open.txt",
        (s, out) ->
            OpenCallsView.of(OpenCallRow.of(ReportBuilder.of(s).trees()), 0, Optional.empty())
                .write(Format.TEXT, out));
    GraphState once = States.of(deep(10_000));
    GraphState twice = States.of(deep(20_000));
    for (Map.Entry<String, Renderer> form : forms.entrySet()) {
      long length = length(form.getValue(), once);
      assertThat(length(form.getValue(), twice)).as(form.getKey()).isLessThan(2 * length + 50_000);
      assertThat(length).as(form.getKey()).isLessThan(10_000 * 2 * 200);
    }
  }

  private static long length(Renderer form, GraphState state) throws IOException {
    StringWriter out = new StringWriter();
    form.render(state, out);
    return out.toString().length();
  }

  @Test
  void aDeepCallSaysItsDepthInsteadOfIndentation() throws IOException {
    StringWriter out = new StringWriter();
    GraphState state = States.of(deep(70));
    GraphText.write(ReportBuilder.of(state).trees(), ReportBuilder.of(state).anomalies(), out);
    assertThat(out.toString())
        .contains("|  " + "  ".repeat(64) + "main() {\n")
        .contains("|  " + "  ".repeat(64) + "/* depth 65 */ leaf() {\n")
        .contains("|  " + "  ".repeat(64) + "/* depth 69 */ leaf();\n");
  }

  @Test
  void aDeepStackKeepsItsEndsAndItsTime() throws IOException {
    GraphState state = States.of(deep(3_000));
    StringBuilder out = new StringBuilder();
    long shortened = FoldedExport.write(ReportBuilder.of(state).trees(), false, true, false, out);
    List<String> lines = out.toString().lines().toList();
    assertThat(shortened).isPositive();
    assertThat(lines.getLast()).contains(";" + FoldedExport.LEFT_OUT + ";");
    assertThat(lines.getLast().split(";")).hasSize(2 * FoldedExport.ENDS + 1);
    assertThat(lines).as("stacks of one look are one line").hasSizeLessThan(200);
  }

  @Test
  void csvQuotesWhatItHasToAndLeavesNoFormula() throws IOException {
    StringBuilder out = new StringBuilder();
    Csv csv = new Csv(out);
    csv.line("plain", "a,b", "say \"x\"", "two\nlines", 7, " x");
    csv.line("=1+1", "+x", "-x", "@x", "\t=1", "-=,");
    csv.line(-5, "-5", "+3", "-1.5e+7", "-22 EINVAL", "-1, 0x40", "-", "-5x");
    assertThat(out)
        .hasToString(
            "plain,\"a,b\",\"say \"\"x\"\"\",two\\x0alines,7,\" x\"\r\n"
                + "'=1+1,'+x,'-x,'@x,\\x09=1,\"'-=,\"\r\n"
                + "-5,-5,+3,-1.5e+7,-22 EINVAL,\"-1, 0x40\",'-,'-5x\r\n");
  }

  @Test
  void percentagesAreRoundedButNotToNothingOrAll() {
    assertThat(Units.percent(100)).isEqualTo("100.00 %");
    assertThat(Units.percent(99.9999999)).isEqualTo("99.99 %");
    assertThat(Units.percent(100.0 * 8 / 9)).isEqualTo("88.89 %");
    assertThat(Units.percent(100.0 / 3)).isEqualTo("33.33 %");
    assertThat(Units.percent(0.0001)).isEqualTo("0.01 %");
    assertThat(Units.percent(0)).isEqualTo("0.00 %");
    assertThat(Units.rounded(99.97, 1)).isEqualTo("99.9");
    assertThat(Units.rounded(0.01, 1)).isEqualTo("0.1");
  }

  @Test
  void openCallsHaveNoEnd() throws IOException {
    GraphState state = States.of(Samples.script().enter("main").tick(5).enter("leaf").chunk());
    StringBuilder text = new StringBuilder();
    GraphText.write(ReportBuilder.of(state).trees(), ReportBuilder.of(state).anomalies(), text);
    List<CallNode> roots = new ArrayList<>(ReportBuilder.of(state).trees().getFirst().roots());
    assertThat(roots).hasSize(1);
    assertThat(text.toString().lines().skip(2))
        .containsExactly(
            "           0             |  main() {",
            "           5             |    leaf(); /* OPEN */",
            "           5             |  } /* main: OPEN */");
  }

  private static CoreScript deep(int depth) {
    CoreScript script = Samples.script();
    for (int i = 0; i < depth; i++) {
      script.tick(1).enter(i % 2 == 0 ? "main" : "leaf");
    }
    for (int i = 0; i < depth; i++) {
      script.tick(2).exit();
      if (script.pending() > 60_000) {
        script.chunk();
      }
    }
    return script.end();
  }

  private static List<String> keys(JsonNode node) {
    List<String> keys = new ArrayList<>();
    node.fieldNames().forEachRemaining(keys::add);
    return keys;
  }
}
