package dev.retstack.cli.result;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.http.HttpSettings;
import dev.retstack.answers.viewer.TraceServer;
import dev.retstack.cli.Ran;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.schema.PyramidCore;
import dev.retstack.schema.PyramidPlace;
import dev.retstack.schema.PyramidTiles;
import dev.retstack.schema.file.IndexedTrace;
import dev.retstack.schema.file.TraceClaim;
import dev.retstack.schema.file.TracePyramid;
import dev.retstack.schema.file.TracePyramidWriter;
import dev.retstack.testing.Seeds;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the pages of a trace ask is what the verbs say of it. */
class ViewTest {
  private static final int WINDOWS = Integer.getInteger("retstack.windows", 4);

  @TempDir private static Path dir;
  private static Path trace;

  @BeforeAll
  static void record() {
    trace = dir.resolve("fib.avro");
    run(
        "record",
        "--image",
        "zoo-x86_64-fentry",
        "--cores",
        "2",
        "-o",
        trace.toString(),
        "--",
        "fib",
        "12");
  }

  private record Asker(HttpClient http, URI base) implements AutoCloseable {
    Asker(URI base) {
      this(HttpClient.newHttpClient(), base);
    }

    HttpResponse<String> get(String question) throws IOException, InterruptedException {
      return http.send(
          HttpRequest.newBuilder(base.resolve(question)).build(),
          HttpResponse.BodyHandlers.ofString());
    }

    @Override
    public void close() {
      http.close();
    }
  }

  private static String run(String... command) {
    return Ran.well(command).out();
  }

  private static TraceServer serve(Path file) throws IOException, InterruptedException {
    return TraceServer.start(file, LateSymbols.NONE, HttpSettings.LOCAL);
  }

  private static String get(Asker ask, String question) throws Exception {
    HttpResponse<String> answer = ask.get(question);
    assertThat(answer.statusCode()).as(question + answer.body()).isEqualTo(200);
    return answer.body();
  }

  private static String hash(String json) {
    return json.replaceAll("(?s).*\"resultHash\":\"([0-9a-f]+)\".*", "$1");
  }

  @Test
  void answersAreThoseOfTheVerbs() throws Exception {
    String file = trace.toString();
    SplittableRandom random = new SplittableRandom(Seeds.fresh());
    try (TraceServer server = serve(trace);
        Asker ask = new Asker(server.uri())) {
      String report = get(ask, "/report");
      assertThat(hash(report)).hasSize(64).isEqualTo(hash(run("report", file, "--format", "json")));
      assertThat(get(ask, "/about"))
          .contains("\"kind\":\"trace\"", "\"phase\":\"ready\"", "zoo-x86_64-fentry-1");
      assertThat(get(ask, "/graph?format=text")).isEqualTo(run("graph", file));
      String one = "zoo-x86_64-fentry-1";
      assertThat(get(ask, "/timeline?core=" + one).strip())
          .isEqualTo(run("graph", file, "--core", one, "--timeline", "--format", "json").strip());
      assertThat(get(ask, "/anomalies")).isEqualTo(run("anomalies", file, "--format", "json"));
      assertThat(get(ask, "/top")).contains("\"name\":\"fib\"");
      assertThat(get(ask, "/cores")).contains("HALTED");
      for (int i = 0; i < WINDOWS; i++) {
        String core = "zoo-x86_64-fentry-" + random.nextInt(2);
        String from = String.valueOf(random.nextInt(2000));
        String to = String.valueOf(2000 + random.nextInt(2000));
        String window = "core=" + core + "&from=" + from + "&to=" + to;
        assertThat(get(ask, "/graph?format=text&" + window))
            .isEqualTo(run("graph", file, "--core", core, "--from", from, "--to", to));
        assertThat(hash(get(ask, "/report?" + window)))
            .isEqualTo(
                hash(
                    run(
                        "report",
                        file,
                        "--core",
                        core,
                        "--from",
                        from,
                        "--to",
                        to,
                        "--format",
                        "json")));
      }
    }
  }

  /** A number in a tile is wrong behind checksums that hold: all chunks are read, and deny it. */
  @Test
  @Timeout(120)
  void aWrongPyramidIsFoundWithoutAQuestion() throws Exception {
    Path lying = Files.copy(trace, dir.resolve("lying.avro"));
    List<PyramidCore> cores;
    List<PyramidTiles> tiles = new ArrayList<>();
    try (IndexedTrace whole = IndexedTrace.open(lying)) {
      TracePyramid pyramid = whole.pyramid().orElseThrow();
      cores = pyramid.cores();
      for (PyramidCore core : cores) {
        tiles.add(pyramid.read(core.getLevels().getFirst().getBlocks().getFirst()));
      }
    }
    tiles.getLast().getCallCounts().set(0, 7L);
    try (TraceClaim claim = TraceClaim.of(lying);
        TracePyramidWriter writer = TracePyramidWriter.open(claim)) {
      for (int i = 0; i < cores.size(); i++) {
        List<PyramidPlace> places = cores.get(i).getLevels().getFirst().getBlocks();
        PyramidPlace was = places.getFirst();
        places.set(0, writer.write(tiles.get(i), was.getFrom(), was.getTo()));
      }
      var _ = writer.finish(cores);
    }
    try (TraceServer server = serve(lying);
        TraceServer right = serve(trace);
        Asker ask = new Asker(server.uri());
        Asker askRight = new Asker(right.uri())) {
      String about = get(ask, "/about");
      while (!about.contains("its pyramid is wrong")) {
        about = get(ask, "/about");
      }
      assertThat(about).contains("core " + cores.getLast().getCore(), "retstack index", "7 calls");
      assertThat(get(ask, "/timeline"))
          .isEqualTo(get(askRight, "/timeline").replace("TILES", "CHUNKS"));
    }
  }

  @Test
  void manyAskAtOnce() throws Exception {
    try (TraceServer server = serve(trace);
        Asker ask = new Asker(server.uri());
        ExecutorService threads = Executors.newFixedThreadPool(4)) {
      List<Callable<String>> questions = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        String question = List.of("/report", "/timeline", "/graph", "/edges").get(i % 4);
        questions.add(() -> get(ask, question));
      }
      List<String> answers = new ArrayList<>();
      for (Future<String> answer : threads.invokeAll(questions)) {
        answers.add(answer.get());
      }
      for (int i = 4; i < answers.size(); i++) {
        assertThat(answers.get(i)).isEqualTo(answers.get(i % 4));
      }
    }
  }

  /** Its timeline comes from a pyramid in a copy, which is gone in the end. */
  @Test
  void aTraceWithoutPyramidGetsOneMeanwhile() throws Exception {
    Path bare = dir.resolve("bare.avro");
    run(
        "record",
        "--image",
        "zoo-x86_64-fentry",
        "--no-pyramid",
        "-o",
        bare.toString(),
        "--",
        "w200",
        "8000");
    byte[] before = Files.readAllBytes(bare);
    String wanted;
    try (TraceServer server = serve(bare);
        Asker ask = new Asker(server.uri())) {
      assertThat(get(ask, "/report")).contains("w200_001"); // read behind the pyramid
      assertThat(get(ask, "/about")).contains("was made in a copy", "retstack index");
      wanted = get(ask, "/timeline?width=64&depth=8");
    }
    assertThat(Files.readAllBytes(bare)).isEqualTo(before);
    run("index", bare.toString());
    try (TraceServer server = serve(bare);
        Asker ask = new Asker(server.uri())) {
      assertThat(get(ask, "/timeline?width=64&depth=8"))
          .isEqualTo(wanted)
          .contains("\"detail\":\"TILES\"");
    }
  }

  @Test
  void whatIsAskedWronglyIsRefused() throws Exception {
    try (TraceServer server = serve(trace);
        Asker ask = new Asker(server.uri())) {
      assertThat(ask.get("/report?core=zoo-x86_64-fentry-7").statusCode()).isEqualTo(404);
      assertThat(ask.get("/report?core=zoo-x86_64-fentry-7").body())
          .contains("zoo-x86_64-fentry-0");
      assertThat(ask.get("/timeline?width=0").statusCode()).isEqualTo(400);
      assertThat(ask.get("/timeline?from=9&to=3").statusCode()).isEqualTo(400);
      HttpResponse<String> unknown = ask.get("/parts"); // a job's
      assertThat(unknown.statusCode()).isEqualTo(404);
      String paths = unknown.body().replaceAll("(?s).*\"use ([^\"]*)\".*", "$1");
      assertThat(paths.split(" ", -1))
          .contains("/report", "/timeline", "/")
          .doesNotContain("/parts");
      for (String path : paths.replaceAll("[{}]", "").split(" ", -1)) {
        assertThat(ask.get(path).body()).as(path).doesNotContain("no such resource");
      }
      assertThat(get(ask, "/report")).contains("fib");
    }
  }

  @Test
  void whatCannotBeServedIsToldAndNothingRuns() throws Exception {
    Path text = Files.writeString(dir.resolve("text"), "no trace");
    assertThat(Ran.retstack("view", text.toString()).code()).isEqualTo(ExitCode.BAD_INPUT);
    Ran folder = Ran.retstack("view", dir.toString());
    assertThat(folder.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(folder.err()).contains("is no file");
    assertThat(Ran.retstack("view", dir.resolve("none").toString()).code()).isNotZero();
    assertThat(Ran.retstack("view", trace.toString(), "--port", "70000").code())
        .isEqualTo(ExitCode.USAGE);
    try (ServerSocket taken = new ServerSocket(0)) {
      String port = String.valueOf(taken.getLocalPort());
      Ran refused = Ran.retstack("view", trace.toString(), "--port", port);
      assertThat(refused.code()).isEqualTo(ExitCode.ENVIRONMENT);
      assertThat(refused.err()).contains(port, "choose another port");
    }
  }

  /** A trace that was cut off is shown as far as it goes. */
  @Test
  void aTraceThatWasCutOffIsShown() throws Exception {
    Path whole = dir.resolve("long.avro");
    run("record", "--image", "zoo-x86_64-fentry", "-o", whole.toString(), "--", "w200", "6000");
    byte[] all = Files.readAllBytes(whole);
    Path cut = dir.resolve("cut.avro");
    int shown = 0;
    for (int part = 1; part < 8; part++) {
      Files.write(cut, Arrays.copyOf(all, all.length * part / 8));
      Ran ran = Ran.retstack("report", cut.toString(), "--format", "json");
      if (ran.code() != ExitCode.OK || ran.out().contains("\"records\":0,")) {
        assertThat(Ran.retstack("view", cut.toString()).code()).isEqualTo(ExitCode.BAD_INPUT);
        continue;
      }
      shown++;
      try (TraceServer server = serve(cut);
          Asker ask = new Asker(server.uri())) {
        assertThat(hash(get(ask, "/report"))).isEqualTo(hash(ran.out()));
      }
    }
    assertThat(shown).isPositive();
  }
}
