package dev.retstack.cli.result;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.http.HttpSettings;
import dev.retstack.answers.viewer.TraceServer;
import dev.retstack.cli.Ran;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.fleet.GuestImages;
import dev.retstack.graph.input.LateSymbols;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two builds of one program, recorded under one name, and one of them twice: their sessions are
 * never added up, unless that is asked for.
 */
class SessionsTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String CORE = "algo-0";

  @TempDir private static Path dir;
  private static String old;
  private static String changed;

  /** The old build and the changed one. */
  private static String builds;

  /** The old build, twice. */
  private static String runs;

  @BeforeAll
  static void record() throws IOException {
    old = record("old", "zoo-x86_64-fentry", "10");
    changed = record("changed", "zoo-x86_64-mcount", "10");
    builds = merged(old, changed, "builds.avro");
    runs = merged(old, record("again", "zoo-x86_64-fentry", "12"), "runs.avro");
  }

  private static String record(String session, String image, String rounds) throws IOException {
    Path build = Files.createDirectory(dir.resolve(session));
    Files.copy(GuestImages.resolve(image), build.resolve("algo"));
    String trace = build.resolve("trace.avro").toString();
    Ran.well(
        "record",
        "--image",
        build.resolve("algo").toString(),
        "--session",
        session,
        "-o",
        trace,
        "--",
        "fib",
        rounds);
    return trace;
  }

  private static String merged(String first, String second, String name) {
    String file = dir.resolve(name).toString();
    Ran.well("merge", first, second, "-o", file);
    return file;
  }

  private static JsonNode json(String... args) throws IOException {
    String[] all = java.util.Arrays.copyOf(args, args.length + 2);
    all[args.length] = "--format";
    all[args.length + 1] = "json";
    return JSON.readTree(Ran.well(all).out());
  }

  /** Calls of fib, by session. */
  private static Map<String, Long> fibs(JsonNode report) {
    Map<String, Long> calls = new TreeMap<>();
    for (JsonNode row : report.path("functions")) {
      if (row.path("name").asText().equals("fib")) {
        calls.merge(row.path("session").asText(), row.path("calls").asLong(), Long::sum);
      }
    }
    return calls;
  }

  @Test
  void aReportHasRowsOfEachSession() throws IOException {
    assertThat(fibs(json("report", old))).as("one session needs no name").containsOnlyKeys("");
    assertThat(fibs(json("report", builds)))
        .containsExactly(Map.entry("changed", 177L), Map.entry("old", 177L));
    assertThat(fibs(json("report", runs)))
        .containsExactly(Map.entry("again", 465L), Map.entry("old", 177L));
    String text = Ran.well("report", runs).out();
    assertThat(text).contains("SESSION").contains("--sum-sessions");
    assertThat(text.lines().filter(line -> line.contains(" fib "))).hasSize(2);
    assertThat(Ran.well("report", runs, "--edges", "--format", "csv").out())
        .startsWith(
            "caller,callee,image,program,callerImage,callerProgram,images,calls,total,session");
    assertThat(json("report", runs).path("edges"))
        .extracting(edge -> edge.path("session").asText())
        .contains("old", "again");
  }

  @Test
  void theyAreAddedUpWhereThatIsAskedFor() throws IOException {
    JsonNode summed = json("report", runs, "--sum-sessions");
    assertThat(fibs(summed)).containsExactly(Map.entry("", 642L));
    assertThat(summed.path("resultHash"))
        .as("the hash is that of all, however it is shown")
        .isEqualTo(json("report", runs).path("resultHash"));
    assertThat(Ran.well("report", runs, "--sum-sessions").out()).doesNotContain("SESSION");
  }

  @Test
  void oneIsChosen() throws IOException {
    for (String session : List.of("old", "changed")) {
      String own = session.equals("old") ? old : changed;
      JsonNode chosen = json("report", builds, "--session", session);
      assertThat(chosen.path("functions")).isEqualTo(json("report", own).path("functions"));
      assertThat(chosen.path("edges")).isEqualTo(json("report", own).path("edges"));
      assertThat(json("report", builds, "--session", session, "--core", CORE).path("functions"))
          .isEqualTo(json("report", own).path("functions"));
      for (String verb : List.of("graph", "anomalies")) {
        assertThat(json(verb, builds, "--session", session)).as(verb).isEqualTo(json(verb, own));
      }
      assertThat(json("cores", builds, "--session", session)).isEqualTo(json("cores", own));
      assertThat(json("hot", builds, "--session", session)).isEqualTo(json("hot", own));
      assertThat(Ran.well("graph", builds, "--timeline", "--session", session).out())
          .isEqualTo(Ran.well("graph", own, "--timeline").out());
      assertThat(json("coverage", builds, "--session", session).path("hit"))
          .isEqualTo(json("coverage", own).path("hit"));
      assertThat(folded(builds, "--session", session)).isEqualTo(folded(own));
      String part = dir.resolve("part.avro").toString();
      Ran.well("cut", builds, "--session", session, "-o", part);
      assertThat(json("report", part).path("resultHash"))
          .isEqualTo(json("report", own).path("resultHash"));
    }
  }

  @Test
  void coverageIsThatOfEachUnlessTheSumIsAskedFor() throws IOException {
    JsonNode images = json("coverage", runs).path("images");
    assertThat(images)
        .extracting(row -> row.path("session").asText())
        .containsExactly("again", "old");
    assertThat(images.get(1).path("rows"))
        .isEqualTo(json("coverage", old).path("images").get(0).path("rows"));
    JsonNode summed = json("coverage", runs, "--sum-sessions").path("images");
    assertThat(summed).hasSize(1);
    assertThat(summed.get(0).has("session")).isFalse();
    assertThat(summed.get(0).path("cores").asInt()).isEqualTo(2);
    assertThat(Ran.well("coverage", runs, "--missing").out())
        .contains("SESSION", "algo · session old");
    assertThat(json("coverage", old).path("images").get(0).has("session")).isFalse();
    Ran refused = Ran.retstack("coverage", runs, "--format", "lcov");
    assertThat(refused.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(refused.err()).contains("2 sessions").contains("--session", "--sum-sessions");
    assertThat(Ran.well("coverage", runs, "--format", "lcov", "--sum-sessions").out())
        .contains("SF:");
  }

  @Test
  void replaySaysOfHowManyItIsTheSum() throws IOException {
    assertThat(json("replay", runs).path("sessions").asInt()).isEqualTo(2);
    JsonNode one = json("replay", runs, "--session", "old");
    assertThat(one).isEqualTo(json("replay", old));
    assertThat(one.path("sessions").asInt()).isEqualTo(1);
    assertThat(json("replay", runs).path("functions")).isEqualTo(one.path("functions"));
  }

  @Test
  void oneThatIsNotThereIsRefusedWithThoseThatAre() {
    for (String verb :
        List.of("report", "graph", "anomalies", "cores", "hot", "coverage", "replay")) {
      Ran ran = Ran.retstack(verb, builds, "--session", "oldest");
      assertThat(ran.code()).as(verb).isEqualTo(ExitCode.BAD_INPUT);
      assertThat(ran.err())
          .as(verb)
          .contains("no session oldest in this trace: it has changed, old");
    }
  }

  private static String folded(String trace, String... more) {
    String[] args = {"export", trace, "--format", "folded", "-o", "-"};
    String[] all = java.util.Arrays.copyOf(args, args.length + more.length);
    System.arraycopy(more, 0, all, args.length, more.length);
    return Ran.well(all).out();
  }

  @Test
  void namesSayWhich() throws IOException {
    assertThat(folded(builds)).contains("algo · session old;", "algo · session changed;");
    assertThat(folded(builds, "--sum-sessions")).doesNotContain("session");
    assertThat(Ran.well("graph", builds, "--timeline").out())
        .contains("core algo-0 · session old:", "core algo-0 · session changed:");
    assertThat(Ran.well("graph", builds, "--format", "csv").out())
        .contains("algo-0 · session old,", "algo-0 · session changed,");
    assertThat(Ran.well("hot", builds).out())
        .contains("# all cores · session old:", "# all cores · session changed:");
    assertThat(Ran.well("hot", builds, "--per-core").out())
        .contains("# core algo-0 · session old:");
    assertThat(json("hot", runs, "--exact", "--sum-sessions")).hasSize(1);
    assertThat(Ran.well("graph", old, "--timeline").out()).doesNotContain("session");
  }

  @Test
  void durationsAreThoseOfOneSessionOrOfTheSum() throws IOException {
    Ran refused = Ran.retstack("graph", runs, "--durations", "--function", "fib");
    assertThat(refused.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(refused.err()).contains("2 sessions").contains("--session", "--sum-sessions");
    String[] one = {"graph", runs, "--durations", "--function", "fib", "--session", "old"};
    assertThat(json(one).path("calls").asLong()).isEqualTo(177);
    one[5] = "--sum-sessions";
    assertThat(json(java.util.Arrays.copyOf(one, 6)).path("calls").asLong()).isEqualTo(642);
  }

  @Test
  void pagesAskForOneOfThem() throws Exception {
    try (TraceServer server =
            TraceServer.start(Path.of(builds), LateSymbols.NONE, HttpSettings.LOCAL);
        HttpClient client = HttpClient.newHttpClient()) {
      JsonNode first = get(client, server, "report?core=algo-0&session=old");
      JsonNode second = get(client, server, "report?core=algo-0&session=changed");
      assertThat(first.path("functions")).isEqualTo(json("report", old).path("functions"));
      assertThat(second.path("functions")).isEqualTo(json("report", changed).path("functions"));
      assertThat(fibs(get(client, server, "report"))).containsOnlyKeys("old", "changed");
      assertThat(fibs(get(client, server, "report?sessions=sum"))).containsOnlyKeys("");
      assertThat(fibs(get(client, server, "top?limit=1000"))).containsOnlyKeys("old", "changed");
      assertThat(fibs(get(client, server, "top?limit=1000&sessions=sum"))).containsOnlyKeys("");
      assertThat(get(client, server, "stacks").path("stacks").toString())
          .contains("session old", "session changed");
      assertThat(get(client, server, "stacks?session=old").path("stacks").toString())
          .doesNotContain("session");
      assertThat(get(client, server, "stacks?sessions=sum").path("stacks").toString())
          .doesNotContain("session");
    }
  }

  private static JsonNode get(HttpClient client, TraceServer server, String path)
      throws IOException, InterruptedException {
    URI uri = server.uri().resolve("/" + path);
    HttpResponse<String> answer =
        client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return JSON.readTree(answer.body());
  }
}
