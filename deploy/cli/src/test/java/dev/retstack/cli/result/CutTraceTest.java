package dev.retstack.cli.result;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.http.HttpSettings;
import dev.retstack.answers.viewer.TraceServer;
import dev.retstack.cli.Ran;
import dev.retstack.cli.SmallChunks;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.graph.check.AnomalyMessage;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.testing.Seeds;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A trace that was cut off is less than complete in every answer, wherever it was cut. Without
 * {@code -Dretstack.cuts=all}, one of the places is asked for all answers and the others for the
 * first ones. {@code -Dretstack.seed=} repeats one.
 */
class CutTraceTest {
  private static final boolean ALL = System.getProperty("retstack.cuts", "").equals("all");
  private static final String FIRST = "# " + AnomalyMessage.CUT;
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<String> WINDOW = List.of("--from", "0", "--to", "1000000000");
  private static final int SYNC = 16;

  @TempDir private static Path dir;
  private static Path whole;

  /** Ends of the blocks: header, image, chunks, index, the pyramid's blocks, seal. */
  private static final List<Integer> ENDS = new ArrayList<>();

  private static byte[] bytes;
  private static int chunks;

  @BeforeAll
  static void record() throws Exception {
    whole = SmallChunks.record(dir.resolve("whole.avro"), "zoo-x86_64-fentry");
    Ran.well("index", whole.toString());
    bytes = Files.readAllBytes(whole);
    byte[] sync = Arrays.copyOfRange(bytes, bytes.length - SYNC, bytes.length);
    for (int at = 0; at <= bytes.length - SYNC; at++) {
      if (Arrays.equals(bytes, at, at + SYNC, sync, 0, SYNC)) {
        ENDS.add(at + SYNC);
      }
    }
    JsonNode cores = JSON.readTree(Ran.well("cores", whole.toString(), "--format", "json").out());
    chunks = cores.path("cores").path(0).path("chunks").asInt();
    assertThat(chunks).isGreaterThan(10);
    assertThat(ENDS.size()).as("a pyramid follows the index").isGreaterThan(chunks + 4);
  }

  /** One place of each class, in front of which a whole image stands at least. */
  private static Map<String, Integer> places(Random random) {
    int index = chunks + 2; // number of the block
    int some = 2 + random.nextInt(chunks - 2);
    Map<String, Integer> places = new LinkedHashMap<>();
    places.put("behind the image", ENDS.get(1));
    places.put("in the first chunk", within(2, random));
    places.put("behind the first chunk", ENDS.get(2));
    places.put("in a chunk", within(some + 1, random));
    places.put("behind a chunk", ENDS.get(some + 1));
    places.put("in the last chunk", within(index - 1, random));
    places.put("behind the last chunk", ENDS.get(index - 1));
    places.put("in the index", within(index, random));
    places.put("behind the index", ENDS.get(index));
    places.put("in the pyramid", within(index + 1, random));
    places.put("behind the pyramid", ENDS.get(ENDS.size() - 2));
    places.put("in the seal", within(ENDS.size() - 1, random));
    places.put("before the last byte", bytes.length - 1);
    return places;
  }

  private static int within(int block, Random random) {
    return ENDS.get(block - 1) + 1 + random.nextInt(ENDS.get(block) - ENDS.get(block - 1) - 1);
  }

  @Test
  void everyAnswerSaysSo() throws Exception {
    long seed = Seeds.fresh();
    System.out.println("CutTraceTest: -Dretstack.seed=" + seed);
    Random random = new Random(seed);
    Map<String, Integer> places = places(random);
    int chosen = 1 + random.nextInt(places.size() - 1); // the first has no chunks
    int number = 0;
    for (Map.Entry<String, Integer> place : places.entrySet()) {
      String as = "cut %s, at byte %d, seed %d".formatted(place.getKey(), place.getValue(), seed);
      Path cut = Files.write(dir.resolve("cut.avro"), Arrays.copyOf(bytes, place.getValue()));
      boolean hasChunks = place.getValue() >= ENDS.get(2);
      boolean all = ALL || number++ == chosen;
      said(cut, as, hasChunks, all || !hasChunks);
      if (all && hasChunks) {
        Path merged = dir.resolve("merged.avro");
        Ran merge = Ran.well("merge", cut.toString(), "-o", merged.toString());
        assertThat(merge.err()).as(as).contains("less than complete");
        said(merged, "merged, " + as, true, true);
      }
    }
  }

  @Test
  void aCutInTheHeaderOrTheImageIsRefused() throws Exception {
    long seed = Seeds.fresh();
    System.out.println("CutTraceTest: -Dretstack.seed=" + seed);
    Random random = new Random(seed);
    for (int at : List.of(0, random.nextInt(ENDS.get(0)), ENDS.get(0), within(1, random))) {
      Path cut = Files.write(dir.resolve("cut.avro"), Arrays.copyOf(bytes, at));
      for (String verb : List.of("report", "graph", "anomalies", "cores", "hot", "replay")) {
        Ran ran = Ran.retstack(verb, cut.toString());
        assertThat(ran.code()).as("%s, cut at %d, seed %d", verb, at, seed).isNotZero();
        assertThat(ran.out()).as("%s, cut at %d, seed %d", verb, at, seed).isEmpty();
      }
    }
  }

  @Test
  void aPartOfItSaysSoToo() throws Exception {
    Path cut = SmallChunks.thirds(whole, 2, dir.resolve("two.avro"));
    Path part = dir.resolve("part.avro");
    Ran ran =
        Ran.well("cut", cut.toString(), "--from", "100", "--to", "5000", "-o", part.toString());
    assertThat(ran.err()).contains("less than complete");
    assertThat(Ran.well("report", part.toString()).out()).startsWith(FIRST);
    Ran.well("index", part.toString());
    assertThat(Ran.well("report", part.toString()).out()).as("with a pyramid").startsWith(FIRST);
    assertThat(Ran.well("graph", part.toString(), "--timeline").out()).startsWith(FIRST);
    assertThat(Ran.well("report", part.toString(), "--from", "100", "--to", "5000").out())
        .startsWith(FIRST);
  }

  @Test
  void aWholeTraceSaysNothingOfTheKind() {
    for (String[] question : questions(whole, true)) {
      assertThat(Ran.well(question).out()).as(String.join(" ", question)).doesNotContain("cut off");
    }
    assertThat(Ran.well("anomalies", whole.toString(), "--fail-on", "warning").out())
        .contains("no anomalies");
    assertThat(Ran.well("report", whole.toString()).out()).contains("100.00 % complete");
  }

  @Test
  void soDoItsPages() throws Exception {
    Path cut = SmallChunks.thirds(whole, 2, dir.resolve("pages.avro"));
    try (TraceServer server = TraceServer.start(cut, LateSymbols.NONE, HttpSettings.LOCAL);
        HttpClient client = HttpClient.newHttpClient()) {
      for (String path :
          List.of(
              "report",
              "graph",
              "timeline",
              "top",
              "stats",
              "sessions",
              "completeness",
              "cores",
              "edges",
              "calls/open",
              "stacks",
              "durations")) {
        assertThat(get(client, server, path + "?format=text")).as(path).startsWith(FIRST);
      }
      assertThat(get(client, server, "anomalies?format=text")).contains("CUT_TRACE");
      for (String path : List.of("about", "report", "top", "completeness")) {
        assertThat(JSON.readTree(get(client, server, path)).path("cut").asBoolean())
            .as(path)
            .isTrue();
      }
      for (String path : List.of("report", "top", "completeness")) {
        JsonNode answer = JSON.readTree(get(client, server, path));
        assertThat(answer.path("completeness").asDouble()).as(path).isLessThan(100);
      }
      JsonNode complete = JSON.readTree(get(client, server, "completeness"));
      assertThat(complete.path("cores").path(0).path("completeness").asDouble()).isLessThan(100);
    }
  }

  private static String get(HttpClient client, TraceServer server, String path)
      throws IOException, InterruptedException {
    URI uri = server.uri().resolve("/" + path);
    HttpResponse<String> answer =
        client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body();
  }

  private static List<String[]> questions(Path trace, boolean hasChunks) {
    String file = trace.toString();
    List<String[]> all =
        new ArrayList<>(
            List.of(
                new String[] {"report", file},
                new String[] {"report", file, "--edges"},
                new String[] {"report", file, "--by-task"},
                new String[] {"graph", file, "--depth", "2"},
                new String[] {"graph", file, "--open"},
                new String[] {"graph", file, "--durations"},
                new String[] {"graph", file, "--timeline"},
                new String[] {"cores", file},
                new String[] {"replay", file}));
    if (hasChunks) {
      all.add(new String[] {"hot", file});
      all.add(new String[] {"hot", file, "--exact", "--per-core"});
      all.add(new String[] {"coverage", file});
      all.add(new String[] {"coverage", file, "--format", "lcov"});
      for (String verb : List.of("report", "graph")) {
        all.add(new String[] {verb, file, WINDOW.get(0), "0", WINDOW.get(2), "2000"});
      }
    }
    return all;
  }

  private static boolean isTree(String option) {
    return !List.of("--open", "--durations", "--timeline").contains(option);
  }

  private static void said(Path cut, String as, boolean hasChunks, boolean all) throws IOException {
    List<String[]> questions = questions(cut, hasChunks);
    for (String[] question : all ? questions : questions.subList(0, 1)) {
      Ran ran = Ran.well(question);
      assertThat(ran.out()).as("%s: %s", as, String.join(" ", question)).startsWith(FIRST);
      assertThat(ran.out()).as(as).doesNotContain("100.00 %");
    }
    String file = cut.toString();
    for (String gate : List.of("warning", "error")) {
      Ran ran = Ran.retstack("anomalies", file, "--fail-on", gate);
      assertThat(ran.code()).as("%s: a gate for %s", as, gate).isEqualTo(ExitCode.FINDINGS);
      assertThat(ran.out().lines().findFirst().orElse(""))
          .as(as)
          .contains("CUT_TRACE", AnomalyMessage.CUT);
    }
    if (!all) {
      return;
    }
    for (String verb : List.of("report", "cores", "replay")) {
      JsonNode answer = JSON.readTree(Ran.well(verb, file, "--format", "json").out());
      assertThat(answer.path("cut").asBoolean()).as("%s: %s", as, verb).isTrue();
    }
    for (String verb : List.of("report", "replay")) {
      JsonNode answer = JSON.readTree(Ran.well(verb, file, "--format", "json").out());
      assertThat(answer.path("completeness").asDouble()).as("%s: %s", as, verb).isLessThan(100);
    }
    JsonNode anomalies = JSON.readTree(Ran.well("anomalies", file, "--format", "json").out());
    assertThat(anomalies.path(0).path("kind").asText()).as(as).isEqualTo("CUT_TRACE");
    JsonNode graph = JSON.readTree(Ran.well("graph", file, "--format", "json").out());
    assertThat(graph.path(0).path("cut").asBoolean()).as(as).isTrue();
    assertThat(Ran.well("graph", file, "--format", "csv").out()).as(as).contains(",CUT,");
    assertThat(Ran.well("anomalies", file, "--format", "csv").out()).as(as).contains("CUT_TRACE");
    for (String[] question : questions) {
      List<String> words = new ArrayList<>(List.of(question));
      if (words.contains("lcov") || (words.getFirst().equals("graph") && isTree(words.get(2)))) {
        continue; // another format; a line of a kind
      }
      words.addAll(List.of("--format", "csv"));
      List<String> csv = Ran.well(words.toArray(String[]::new)).out().lines().toList();
      assertThat(csv.getLast()).as("%s: %s", as, words).startsWith(FIRST + ",");
      assertThat(csv.getLast().substring(FIRST.length()))
          .as("%s: as many cells as columns", words)
          .isEqualTo(csv.getFirst().replaceAll("[^,]", ""));
    }
    assertThat(Ran.well("export", file, "--format", "folded", "-o", "-").out())
        .as(as)
        .startsWith("[" + AnomalyMessage.CUT + "] 0\n");
    if (hasChunks) {
      Path perfetto = dir.resolve("cut.perfetto");
      Ran.well("export", file, "--format", "perfetto", "-o", perfetto.toString());
      assertThat(Files.readString(perfetto, java.nio.charset.StandardCharsets.ISO_8859_1))
          .as(as)
          .contains(AnomalyMessage.CUT);
      JsonNode hot = JSON.readTree(Ran.well("hot", file, "--format", "json").out());
      assertThat(hot.path(0).path("cut").asBoolean()).as(as).isTrue();
    }
  }
}
