package dev.retstack.cli.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.Ran;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.schema.Anomaly;
import dev.retstack.schema.Span;
import dev.retstack.schema.wire.ConfluentFrame;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Holds what a job says against a replay of all that its fleets sent: the same result, hash for
 * hash; no record lost on the way, none counted twice; each finding published once.
 *
 * @param records of all finished sessions
 * @param hash of the live job and of the replay
 */
record Comparison(long records, String hash, int anomalies, int spans) {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration CATCH_UP = Duration.ofMinutes(5);

  /**
   * Waits until the members have it all, and compares.
   *
   * @param cores of all fleets, all of which have ended
   */
  static Comparison of(Job job, Member asked, int cores) throws Exception {
    String bootstrap = job.brokers().bootstrap();
    String prefix = job.topics().prefix();
    Path file = job.folder().resolve("events.avro");
    Ran.well(
        "record",
        "--from-kafka",
        "-o",
        file.toString(),
        "--bootstrap",
        bootstrap,
        "--prefix",
        prefix);
    JsonNode replayed = report(file.toString());
    long sent = replayed.get("records").asLong();
    awaitAll(asked, sent);
    job.awaitSettled();
    // each core's chunks are numbered up to the one that ends it: with no gap, nothing is lost
    assertThat(asked.ask("/cores", CATCH_UP).get("cores"))
        .hasSize(cores)
        .noneMatch(core -> core.get("end").asText().matches("RUNNING|DEAD"));
    assertThat(replayed.get("lost").asLong()).isZero();
    JsonNode live = whole(job, asked);
    assertThat(live.get("records").asLong()).as("each record counts once").isEqualTo(sent);
    assertThat(live.get("resultHash")).isEqualTo(replayed.get("resultHash"));
    assertThat(live.get("lost").asLong()).isZero();
    assertThat(live.get("untraced")).as("a call untraced").isEqualTo(replayed.get("untraced"));
    assertThat(live.get("completeness")).isEqualTo(replayed.get("completeness"));
    top(job, sent);
    return new Comparison(sent, live.get("resultHash").asText(), anomalies(job, file), spans(job));
  }

  /** What goes on, for people and for programs, of whoever is found at the cluster's address. */
  private static void top(Job job, long records) throws IOException {
    List<String> line =
        new ArrayList<>(List.of("top", "--once", "--interval", "0.1", "--group", job.group()));
    line.addAll(List.of("--bootstrap", job.brokers().bootstrap()));
    line.addAll(List.of("--prefix", job.topics().prefix()));
    Ran text = Ran.well(line.toArray(String[]::new));
    assertThat(text.out())
        .contains("6 of 6 partitions", "0 of 12 cores run", "lag 0 chunks", "dispatch")
        .contains("RECORDS/S", "CALLS/S");
    line.addAll(List.of("--format", "json"));
    JsonNode top = JSON.readTree(Ran.retstack(line.toArray(String[]::new)).out());
    assertThat(top.get("records").asLong()).isEqualTo(records);
    assertThat(top.get("recordsPerSecond").asDouble()).isZero();
    assertThat(top.get("topCores")).isNotEmpty();
    assertThat(top.get("topFunctions")).isNotEmpty();
  }

  /** Those of the replay, each once. */
  private static int anomalies(Job job, Path trace) throws Exception {
    Set<String> once = new HashSet<>();
    List<String> published =
        Published.in(
            job.kafka(),
            job.topics().anomalies(),
            value -> {
              Anomaly one = ConfluentFrame.decode(value, Anomaly.class);
              String what = named(one.getCore(), one.getKind(), one.getTime(), one.getMessage());
              assertThat(once.add(one.getSession() + " " + what)).as("twice: " + one).isTrue();
              return what;
            });
    Ran ran = Ran.retstack("anomalies", "--each", "--format", "json", trace.toString());
    assertThat(ran.code()).as(ran.err()).isIn(ExitCode.OK, ExitCode.FINDINGS);
    List<String> found = new ArrayList<>();
    for (JsonNode one : JSON.readTree(ran.out())) {
      if (one.get("kept").asLong() > 0) {
        String core = one.get("core").asText();
        String kind = one.get("kind").asText();
        found.add(named(core, kind, one.get("time").asLong(), one.get("message").asText()));
      }
    }
    assertThat(published).isNotEmpty().containsExactlyInAnyOrderElementsOf(found);
    return published.size();
  }

  private static String named(String core, String kind, long time, String message) {
    return "%s %s %d %s".formatted(core, kind, time, message);
  }

  /** Each once; of each core in the order of their ends. */
  private static int spans(Job job) throws Exception {
    Map<String, Long> last = new HashMap<>();
    List<String> published =
        Published.in(
            job.kafka(),
            job.topics().spans(),
            value -> {
              Span one = ConfluentFrame.decode(value, Span.class);
              String core = one.getSession() + " " + one.getCore();
              Long before = last.put(core, one.getExit());
              assertThat(one.getExit()).isGreaterThanOrEqualTo(before == null ? 0 : before);
              return "%s %d-%d".formatted(core, one.getEnter(), one.getExit());
            });
    assertThat(published).doesNotHaveDuplicates();
    return published.size();
  }

  /** The report of all members, once none of its parts is on the move any more. */
  private static JsonNode whole(Job job, Member asked) throws Exception {
    long start = System.nanoTime();
    while (true) {
      JsonNode live =
          report(
              "--live",
              "--bootstrap",
              job.brokers().bootstrap(),
              "--prefix",
              job.topics().prefix(),
              "--group",
              job.group());
      assertThat(live.get("parts")).hasSize(Job.PARTITIONS);
      boolean missing = false;
      for (JsonNode part : live.get("parts")) {
        missing |= part.has("missing");
      }
      if (!missing) {
        return live;
      }
      assertThat(System.nanoTime() - start)
          .as("%s", live.get("parts"))
          .isLessThan(CATCH_UP.toNanos());
      asked.endsWithin(500);
    }
  }

  private static JsonNode report(String... source) throws IOException {
    List<String> line = new ArrayList<>(List.of("report", "--format", "json"));
    line.addAll(List.of(source));
    Ran ran = Ran.well(line.toArray(String[]::new));
    return JSON.readTree(ran.out());
  }

  /** Waits until the members together have read so many records, by what one of them says. */
  private static void awaitAll(Member asked, long records) throws Exception {
    long start = System.nanoTime();
    String last = "it never answered";
    while (System.nanoTime() - start < CATCH_UP.toNanos()) {
      try {
        long seen = 0;
        for (JsonNode core : asked.ask("/cores", Duration.ofSeconds(60)).get("cores")) {
          seen += core.get("records").asLong();
        }
        if (seen == records) {
          return;
        }
        last = seen + " records";
      } catch (IOException e) {
        last = String.valueOf(e);
      }
      assertThat(asked.endsWithin(200)).as("the member that is asked").isFalse();
    }
    throw new AssertionError(
        "after %s %s of %d, as %s says".formatted(CATCH_UP, last, records, asked.url()));
  }

  @Override
  public String toString() {
    return "%,d records, %,d anomalies and %,d spans once each, hash equal (%s)"
        .formatted(records, anomalies, spans, hash.substring(0, 8));
  }
}
