package dev.retstack.service;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.retstack.answers.support.States;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.schema.Node;
import dev.retstack.service.nodes.NodeRecords;
import dev.retstack.service.nodes.Role;
import dev.retstack.service.support.HttpAsk;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.Waits;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

/** Several members against one Kafka are one job: any of them answers as one alone would. */
@Order(1)
class JobTest {
  private static final Duration WAIT = Duration.ofSeconds(40);
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Everything that can be asked about the whole job, in every form. */
  private static final List<String> QUESTIONS =
      List.of(
          "/report",
          "/report?format=csv",
          "/report?format=text",
          "/graph",
          "/graph?core=core-1&format=text",
          "/graph?limit=2&offset=1&format=csv",
          "/anomalies",
          "/anomalies?kind=FRAME_POINTER_MISMATCH&format=text",
          "/anomalies?limit=3&offset=2",
          "/edges",
          "/edges?limit=3&offset=2&format=csv",
          "/graph?from=500&to=700",
          "/stacks",
          "/stacks?apart=task&limit=5&format=text",
          "/calls/open",
          "/sessions",
          "/completeness",
          "/completeness?format=text",
          "/cores",
          "/cores?format=csv&limit=2",
          "/top",
          "/top?sort=self&limit=3&format=csv",
          "/top?sort=total&format=text",
          "/stats",
          "/stats?format=text");

  private final LiveBench bench = LiveBench.fresh();

  @Test
  void threeMembersAnswerAsOneDoes() throws Exception {
    bench.produceAll();
    Map<String, String> alone;
    try (Pipeline one = PipelineService.start(bench.config())) {
      bench.awaitEnded(one);
      alone = answers(one);
      assertThat(JSON.readTree(alone.get("/report")).path("resultHash").asText())
          .isEqualTo(ReportBuilder.of(States.of(bench.fleet())).build().resultHash());
    }
    try (Pipeline one = PipelineService.start(bench.config());
        Pipeline two = PipelineService.start(bench.config());
        Pipeline three = PipelineService.start(bench.config())) {
      List<Pipeline> members = List.of(one, two, three);
      for (Pipeline member : members) {
        awaitComplete(member, 3);
      }
      for (Pipeline member : members) {
        assertThat(answers(member)).isEqualTo(alone);
      }
      assertThat(NodeRecords.running(bench.kafka(), bench.topics(), bench.config().groupId()))
          .extracting(Node::getUrl)
          .containsExactlyInAnyOrderElementsOf(
              members.stream().map(member -> member.httpUri().toString()).toList());
    }
    assertThat(NodeRecords.running(bench.kafka(), bench.topics(), bench.config().groupId()))
        .as("members that left took back what they had said")
        .isEmpty();
  }

  /** Who applied what differs from run to run; together they applied each record once. */
  @Test
  void thePastOfThreeMembersAddsUpToTheRecordsOfTheJob() throws Exception {
    Report report = ReportBuilder.of(States.of(bench.fleet())).build();
    try (Pipeline one = PipelineService.start(bench.config());
        Pipeline two = PipelineService.start(bench.config());
        Pipeline three = PipelineService.start(bench.config())) {
      List<Pipeline> members = List.of(one, two, three);
      for (Pipeline member : members) {
        awaitComplete(member, 3);
      }
      bench.produceAll();
      for (Pipeline member : members) {
        JsonNode past = awaitPast(member, report.records());
        assertThat(past.path("members").asInt()).isEqualTo(3);
        assertThat(past.path("missing")).isEmpty();
        JsonNode last = past.path("history").get(past.path("history").size() - 1);
        assertThat(last.path("lag").asLong(-1)).as("%s", past).isZero();
        assertThat(last.path("lost").asLong(-1)).isEqualTo(report.lost());
        assertThat(past.path("history"))
            .allSatisfy(
                slot -> {
                  assertThat(slot.path("records").asLong()).isNotNegative();
                  assertThat(slot.path("time").asLong() % 5_000).isZero();
                });
        try (HttpAsk ask = new HttpAsk(member.httpUri())) {
          assertThat(ask.get("/history?format=csv").body().lines().findFirst())
              .hasValue("time,records,lag,lost,checkpointBytes,checkpointCpuMs,members");
          assertThat(ask.get("/history?format=text").body())
              .startsWith("FROM")
              .contains("RECORDS/S", "CHECKPOINT-B/S");
          assertThat(ask.get("/history?core=x").statusCode()).isEqualTo(400);
        }
      }
    }
  }

  private static JsonNode awaitPast(Pipeline member, long records) throws Exception {
    long began = System.nanoTime();
    try (HttpAsk ask = new HttpAsk(member.httpUri())) {
      while (true) {
        JsonNode past = JSON.readTree(ask.get("/history").body());
        long sum = 0;
        long bytes = 0;
        for (JsonNode slot : past.path("history")) {
          sum += slot.path("records").asLong();
          bytes += slot.path("checkpointBytes").asLong();
        }
        assertThat(sum).as("%s", past).isLessThanOrEqualTo(records);
        if (sum == records && bytes > 0) {
          return past;
        }
        Waits.pause(began, WAIT, past);
      }
    }
  }

  @Test
  void aMemberWithoutPartitionsAnswersAndOneForIngestSendsOn() throws Exception {
    bench.produceAll();
    PipelineConfig ingest = bench.config().but().roles(EnumSet.of(Role.INGEST)).build();
    PipelineConfig query = bench.config().but().roles(EnumSet.of(Role.QUERY)).build();
    try (Pipeline owner = PipelineService.start(ingest);
        Pipeline asked = PipelineService.start(query)) {
      bench.awaitEnded(owner);
      JsonNode parts = awaitComplete(asked, 1);
      assertThat(parts.path("nodes")).hasSize(2);
      try (HttpAsk ask = new HttpAsk(asked.httpUri())) {
        JsonNode report = JSON.readTree(ask.get("/report").body());
        assertThat(report.path("resultHash").asText())
            .isEqualTo(ReportBuilder.of(States.of(bench.fleet())).build().resultHash());
        assertThat(report.path("parts"))
            .allSatisfy(
                part ->
                    assertThat(part.path("node").asText())
                        .isEqualTo("127.0.0.1:" + owner.httpUri().getPort()));
      }
      try (HttpAsk ask = new HttpAsk(owner.httpUri())) {
        HttpResponse<String> refused = ask.get("/report");
        assertThat(refused.statusCode()).isEqualTo(421);
        assertThat(refused.body()).contains(asked.httpUri().toString());
        assertThat(ask.get("/metrics").statusCode()).isEqualTo(200);
        assertThat(ask.get("/health/ready").statusCode()).isEqualTo(200);
      }
    }
  }

  @Test
  void whatNobodyGivesIsSaidToBeMissing() throws Exception {
    bench.produceAll();
    PipelineConfig query = bench.config().but().roles(EnumSet.of(Role.QUERY)).build();
    try (Pipeline asked = PipelineService.start(query);
        HttpAsk ask = new HttpAsk(asked.httpUri())) {
      HttpResponse<String> answer = ask.get("/report");
      assertThat(answer.statusCode()).isEqualTo(200);
      assertThat(answer.headers().firstValue("Retstack-Partitions"))
          .contains("owned=; of=3; missing=0,1,2");
      assertThat(answer.headers().firstValue("Retstack-Parts"))
          .contains("0=missing, 1=missing, 2=missing");
      assertThat(JSON.readTree(answer.body()).path("parts"))
          .hasSize(LiveBench.PARTITIONS)
          .allSatisfy(part -> assertThat(part.path("missing").asText()).contains("no member"));
      assertThat(ask.get("/report?format=text").body())
          .contains("partition 2 is missing: no member");
      assertThat(ask.get("/parts?format=text").body()).contains("? no member");
    }
  }

  /** Asks until every partition is there, given by so many members. */
  private static JsonNode awaitComplete(Pipeline member, int members) throws Exception {
    long began = System.nanoTime();
    try (HttpAsk ask = new HttpAsk(member.httpUri())) {
      while (true) {
        JsonNode parts = JSON.readTree(ask.get("/parts").body());
        Set<String> givers = new TreeSet<>();
        parts.path("parts").forEach(part -> givers.add(part.path("node").asText()));
        if (givers.size() == members && !givers.contains("")) {
          return parts;
        }
        Waits.pause(began, WAIT, parts);
      }
    }
  }

  private static Map<String, String> answers(Pipeline member) throws Exception {
    Map<String, String> answers = new TreeMap<>();
    try (HttpAsk ask = new HttpAsk(member.httpUri())) {
      for (String question : QUESTIONS) {
        HttpResponse<String> answer = ask.get(question);
        assertThat(answer.statusCode()).as(question + answer.body()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Retstack-Partitions"))
            .contains("owned=0,1,2; of=3");
        answers.put(question, withoutParts(question, answer.body()));
      }
    }
    return answers;
  }

  /** The answer as it is, but for who gave which part and how often the partition moved. */
  private static String withoutParts(String question, String body) throws Exception {
    if (question.contains("format=")) {
      return body;
    }
    JsonNode json = JSON.readTree(body);
    if (json instanceof ObjectNode object && object.has("parts")) {
      assertThat(object.remove("parts")).hasSize(LiveBench.PARTITIONS);
      for (JsonNode position : new ArrayList<>(object.findParents("epoch"))) {
        ((ObjectNode) position).remove(List.of("epoch", "checkpointedOffset"));
      }
      return JSON.writeValueAsString(object);
    }
    return body;
  }
}
