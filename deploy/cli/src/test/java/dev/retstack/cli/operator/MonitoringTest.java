package dev.retstack.cli.operator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.Stat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Alerts, dashboard and runbook speak of numbers that there are, and of each other. */
class MonitoringTest {
  record Rules(List<Group> groups) {}

  record Group(String name, List<Alert> rules) {}

  record Alert(
      String alert,
      String expr,
      @JsonProperty("for") String lasting,
      Map<String, String> labels,
      Map<String, String> annotations) {}

  private static final Path ALERTS = OperatorFiles.deploy("prometheus/alerts.yml");
  private static final Pattern NAMED = Pattern.compile("(?:stat|kind)=~?\"([A-Z_|]+)\"");

  @Test
  void alertsAskForNumbersThatThereAre() throws Exception {
    for (Alert alert : alerts()) {
      assertThat(PromQl.metrics()).as(alert.alert()).containsAll(PromQl.names(alert.expr()));
      assertThat(PromQl.names(alert.expr())).as(alert.alert()).isNotEmpty();
      namesOfTheDomain(alert.expr());
      assertThat(alert.labels().get("severity")).isIn("info", "warning", "critical");
      assertThat(alert.annotations()).containsKeys("summary", "runbook");
      assertThat(alert.annotations().get("runbook"))
          .isEqualTo("deploy/RUNBOOK.md#" + alert.alert().toLowerCase(Locale.ROOT));
    }
  }

  @Test
  void theDashboardAsksForNumbersThatThereAre() throws Exception {
    JsonNode dashboard =
        new ObjectMapper().readTree(OperatorFiles.deploy("grafana/retstack.json").toFile());
    List<String> queries = new ArrayList<>();
    Set<Integer> ids = new TreeSet<>();
    for (JsonNode panel : dashboard.path("panels")) {
      assertThat(ids.add(panel.path("id").asInt())).as("an id twice").isTrue();
      assertThat(panel.path("title").asText()).isNotBlank();
      assertThat(panel.path("description").asText()).isNotBlank();
      panel.path("targets").forEach(target -> queries.add(target.path("expr").asText()));
    }
    assertThat(queries).hasSizeGreaterThan(15);
    for (String query : queries) {
      assertThat(PromQl.metrics()).as(query).containsAll(PromQl.names(query));
      assertThat(PromQl.names(query)).as(query).isNotEmpty();
      namesOfTheDomain(query);
    }
  }

  @Test
  void aNameThatIsNotThereWouldBeFound() {
    assertThat(PromQl.names("sum by (a) (rate(retstack_nothing_total{b=\"c\"}[5m])) > 2"))
        .containsExactly("retstack_nothing_total");
    assertThat(PromQl.metrics()).doesNotContain("retstack_nothing_total");
  }

  @Test
  void theRunbookHasEachAlertAndNoOther() throws Exception {
    List<String> sections =
        Files.readAllLines(OperatorFiles.deploy("RUNBOOK.md")).stream()
            .filter(line -> line.startsWith("## Retstack"))
            .map(line -> line.substring(3))
            .toList();
    assertThat(sections).containsExactlyElementsOf(alerts().stream().map(Alert::alert).toList());
  }

  @Test
  void theRunbookNamesNumbersThatThereAre() throws Exception {
    String text = Files.readString(OperatorFiles.deploy("RUNBOOK.md"));
    Matcher name = Pattern.compile("\\bretstack_[a-z_]+").matcher(text);
    while (name.find()) {
      assertThat(PromQl.metrics()).contains(name.group());
    }
  }

  @Test
  void promtoolAcceptsTheRules() throws Exception {
    Assumptions.assumeTrue(
        OperatorRun.isInstalled("promtool"), "promtool (package prometheus) is not installed");
    Process process =
        new ProcessBuilder("promtool", "check", "rules", ALERTS.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
  }

  /** Stats and kinds in matchers are those of the code. */
  private static void namesOfTheDomain(String query) {
    Set<String> known =
        Arrays.stream(Stat.values()).map(Enum::name).collect(Collectors.toCollection(TreeSet::new));
    Arrays.stream(AnomalyKind.values()).map(Enum::name).forEach(known::add);
    Matcher matcher = NAMED.matcher(query);
    while (matcher.find()) {
      assertThat(known).as(query).contains(matcher.group(1).split("\\|", -1));
    }
  }

  private static List<Alert> alerts() throws IOException {
    Rules rules = OperatorFiles.YAML.readValue(ALERTS.toFile(), Rules.class);
    List<Alert> all = rules.groups().stream().flatMap(group -> group.rules().stream()).toList();
    assertThat(all).hasSizeGreaterThan(10);
    return all;
  }
}
