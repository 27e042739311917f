package dev.retstack.cli.result;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.Applied;
import dev.retstack.cli.Ran;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.service.Pipeline;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A fleet of one program for several ISAs: a function is one row of report, anomalies and top, of
 * the trace and of a job alike, and its images one by one add up to it.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(240)
class GroupsTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<String> IMAGES =
      List.of("zoo-x86_64-fentry", "zoo-riscv64-mcount", "zoo-s390x-mcount", "zoo-s390x-fentry");

  private Path trace;
  private EmbeddedBroker broker;
  private Pipeline pipeline;

  @BeforeAll
  void aFleet(@TempDir Path dir) throws Exception {
    trace = dir.resolve("fleet.avro");
    List<String> record = new ArrayList<>(List.of("record", "-o", trace.toString()));
    IMAGES.forEach(image -> record.addAll(List.of("--image", image)));
    record.addAll(List.of("--cores", "2"));
    Ran.well(record.toArray(String[]::new));
    broker = EmbeddedBroker.start(dir.resolve("broker"), 0);
    pipeline = Applied.start(broker.bootstrap(), trace);
  }

  @AfterAll
  void stop() throws IOException {
    if (pipeline != null) {
      pipeline.close();
    }
    if (broker != null) {
      broker.close();
    }
  }

  private JsonNode json(String verb, String... more) throws IOException {
    return JSON.readTree(of(List.of(verb, trace.toString(), "--format", "json"), more));
  }

  private JsonNode live(String verb, String... more) throws IOException {
    return JSON.readTree(of(List.of(verb, "--live", "--http", http(), "--format", "json"), more));
  }

  private String http() {
    return pipeline.httpUri().toString();
  }

  private static String of(List<String> words, String... more) {
    List<String> all = new ArrayList<>(words);
    all.addAll(Arrays.asList(more));
    return Ran.well(all.toArray(String[]::new)).out();
  }

  private static List<JsonNode> named(JsonNode rows, String field, String name) {
    List<JsonNode> found = new ArrayList<>();
    for (JsonNode row : rows) {
      if (row.path(field).asText().equals(name)) {
        found.add(row);
      }
    }
    return found;
  }

  private static long sum(Iterable<JsonNode> rows, String field) {
    long sum = 0;
    for (JsonNode row : rows) {
      sum += row.path(field).asLong();
    }
    return sum;
  }

  @Test
  void aFunctionOfTheProgramIsOneRow() throws Exception {
    JsonNode grouped = json("report");
    JsonNode apart = json("report", "--by-image");
    List<JsonNode> deep = named(grouped.path("functions"), "name", "deep_down");
    assertThat(deep).hasSize(1);
    assertThat(deep.getFirst().path("program").asText()).isEqualTo("zoo");
    assertThat(deep.getFirst().path("images").asInt()).isEqualTo(IMAGES.size());
    assertThat(deep.getFirst().path("isas").asInt()).isEqualTo(3);
    assertThat(deep.getFirst().has("address")).isFalse();
    List<JsonNode> images = named(apart.path("functions"), "name", "deep_down");
    assertThat(images).hasSize(IMAGES.size());
    assertThat(images).allMatch(row -> row.has("address") && row.path("images").asInt() == 1);
    for (String number : List.of("calls", "total", "self")) {
      assertThat(sum(deep, number)).as(number).isEqualTo(sum(images, number)).isPositive();
      assertThat(sum(grouped.path("functions"), number))
          .as(number)
          .isEqualTo(sum(apart.path("functions"), number));
    }
    assertThat(sum(grouped.path("edges"), "calls"))
        .isEqualTo(sum(apart.path("edges"), "calls"))
        .isPositive();
    assertThat(grouped.path("edges").size()).isLessThan(apart.path("edges").size() / 2);
    assertThat(grouped.path("resultHash")).isEqualTo(apart.path("resultHash"));
    assertThat(of(List.of("report", trace.toString())))
        .containsPattern("deep_down +3 ISAs +zoo, 4 images\n");
  }

  @Test
  void aJobGroupsAsATraceDoes() throws Exception {
    for (String[] how : new String[][] {{}, {"--by-image"}}) {
      JsonNode trace = json("report", how);
      JsonNode job = live("report", how);
      for (String part : List.of("functions", "edges", "resultHash")) {
        assertThat(job.path(part)).as(part).isEqualTo(trace.path(part));
      }
      assertThat(live("anomalies", how)).isEqualTo(json("anomalies", how)).isNotEmpty();
    }
  }

  @Test
  void aDefectOfTheProgramIsOneAnomaly() throws Exception {
    List<JsonNode> grouped = named(json("anomalies"), "kind", "FRAME_POINTER_MISMATCH");
    List<JsonNode> apart = named(json("anomalies", "--by-image"), "kind", "FRAME_POINTER_MISMATCH");
    assertThat(grouped).hasSize(1);
    assertThat(apart).hasSizeGreaterThan(1);
    JsonNode one = grouped.getFirst();
    assertThat(one.path("function").asText()).isEqualTo("corrupt_frame");
    assertThat(one.path("groups").asInt()).isEqualTo(apart.size());
    assertThat(one.path("images").asInt()).isEqualTo(apart.size());
    for (String number : List.of("count", "times", "kept", "cores")) {
      assertThat(one.path(number).asLong()).as(number).isEqualTo(sum(apart, number)).isPositive();
    }
    assertThat(of(List.of("anomalies", trace.toString())))
        .contains(
            "%d times (count %d) at %d places of %d images on %d cores"
                .formatted(
                    one.path("times").asLong(),
                    one.path("count").asLong(),
                    apart.size(),
                    apart.size(),
                    one.path("cores").asLong()));
  }

  /** Addresses are those of images. */
  @Test
  void hotAddressesAreNotGrouped() {
    String text = of(List.of("hot", "--live", "--http", http(), "--exact"));
    for (String image : IMAGES) {
      assertThat(text.lines())
          .filteredOn(line -> line.contains(" deep_down ") && line.contains(image))
          .hasSize(1)
          .noneMatch(line -> line.matches(".* 0x0 .*"));
    }
  }

  @Test
  void topShowsAFunctionOfTheProgramOnce() throws Exception {
    String[] top = {"top", "--http", http(), "--once", "--interval", "0.1", "--rows", "1000"};
    List<String> words = List.of(top);
    String text = of(words);
    assertThat(text.lines().filter(line -> line.startsWith("deep_down "))).hasSize(1);
    assertThat(text).containsPattern("deep_down +3 ISAs +4 ");
    assertThat(of(words, "--by-image").lines().filter(line -> line.startsWith("deep_down ")))
        .hasSize(IMAGES.size());
    JsonNode grouped = JSON.readTree(of(words, "--format", "json")).path("topFunctions");
    JsonNode apart =
        JSON.readTree(of(words, "--by-image", "--format", "json")).path("topFunctions");
    assertThat(sum(grouped, "calls"))
        .isEqualTo(sum(apart, "calls"))
        .isEqualTo(sum(json("report").path("functions"), "calls"));
  }
}
