package dev.retstack.cli;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.Terminal;
import dev.retstack.schema.Control;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.ControlStatus;
import dev.retstack.schema.DeadLetter;
import dev.retstack.schema.avro.AvroRecord;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import dev.retstack.schema.wire.Visible;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.PipelineService;
import dev.retstack.service.kafka.KafkaSettings;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * A trace of which every name holds everything that a terminal, an editor, a log reader or a
 * spreadsheet would obey, shown by every verb and at every path of HTTP, in every form. The verbs
 * and the paths are asked for, so that a new one is in this test or fails it.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HostileNamesTest {
  /** Every character that is not plain, but halves of characters, which UTF-8 does not have. */
  private static final String OBEYED = obeyed();

  /** Begins a formula, ends lines, cells, frames and strings, and begins lines of its own. */
  private static final String EVIL =
      "=cmd|'EVIL'!A1,\"x\";y\r\nFORGED line\n-FORGED,1\n" + OBEYED + "\nretstack: FORGED";

  /** Verbs that show nothing of a trace, a cluster or a pipeline, or run programs of ours. */
  private static final Set<String> WITHOUT_NAMES =
      Set.of(
          "bench",
          "broker",
          "completion",
          "demo",
          "doctor",
          "emulate",
          "fleet",
          "isa",
          "pipeline",
          "record",
          "sites");

  private static final ObjectMapper JSON = new ObjectMapper();

  private Path folder;
  private String trace;
  private EmbeddedBroker broker;
  private Pipeline pipeline;
  private final Set<String> seen = new TreeSet<>();

  private static String obeyed() {
    StringBuilder all = new StringBuilder();
    for (int c = 0; c <= Character.MAX_CODE_POINT; c++) {
      boolean half = c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE;
      if (!half && !Visible.isPlain(c)) {
        all.appendCodePoint(c);
      }
    }
    return all.toString();
  }

  @BeforeAll
  void aPipelineThatHasTheTrace(@TempDir Path dir) throws Exception {
    folder = dir;
    List<String> functions = List.of(EVIL, "a" + EVIL, "@" + EVIL, "+" + EVIL, "-" + EVIL);
    trace = HostileTrace.write(dir.resolve("hostile.avro"), EVIL, functions).toString();
    broker = EmbeddedBroker.start(dir.resolve("broker"), 0);
    Ran sent = cluster("replay", trace, "--into-kafka");
    assertThat(sent.code()).as(sent.err()).isZero();
    harmless("replay", sent);
    produce();
    pipeline =
        PipelineService.start(
            PipelineConfig.of(KafkaSettings.of(broker.bootstrap()))
                .but()
                .http("127.0.0.1", 0)
                .checkpoints(java.time.Duration.ofMillis(100), 1)
                .build());
    Applied.await(pipeline, HostileTrace.RECORDS);
  }

  @AfterAll
  void stop() {
    pipeline.close();
    broker.close();
  }

  @Test
  void noVerbPrintsWhatATerminalObeys() throws Exception {
    List<String[]> lines = new ArrayList<>();
    for (String format : List.of("text", "json", "csv")) {
      String live = "--http=" + pipeline.httpUri();
      for (String source : List.of(trace, live)) {
        add(lines, "report", source, "--format", format);
        add(lines, "report", source, "--edges", "--format", format);
        add(lines, "report", trace, "--source", "--format", format);
        add(lines, "graph", source, "--format", format);
        add(lines, "graph", source, "--open", "--format", format);
        add(lines, "cores", source, "--format", format);
        add(lines, "anomalies", source, "--format", format);
      }
      add(lines, "report", trace, "--by-task", "--format", format);
      add(lines, "report", trace, "--by-task", "--edges", "--format", format);
      add(lines, "anomalies", trace, "--by-task", "--format", format);
      add(lines, "graph", trace, "--timeline", "--format", format);
      add(lines, "hot", trace, "--exact", "--per-core", "--format", format);
      add(lines, "hot", trace, "--exact", "--format", format);
      add(lines, "trace", "log", "--format", format);
    }
    for (String format : List.of("text", "json", "lcov")) {
      add(lines, "coverage", trace, "--missing", "--format", format);
    }
    add(lines, "export", trace, "--format", "folded", "-o", "-");
    add(lines, "export", trace, "--format", "folded", "--by-task", "-o", "-");
    add(lines, "report", trace, "--from", "0", "--to", "100");
    String copy = folder.resolve("copy.avro").toString();
    add(lines, "cut", trace, "--from", "0", "--to", "100", "-o", copy);
    add(lines, "cut", trace, "--core", EVIL, "-o", copy);
    add(lines, "cut", trace, "--core", "none", "-o", copy);
    add(lines, "merge", trace, "-o", copy);
    add(lines, "index", copy);
    add(lines, "view", trace, "--port", "70000");
    add(lines, "replay", trace);
    add(lines, "dead-letters", "list");
    add(lines, "dead-letters", "list", "--format", "csv");
    add(lines, "dead-letters", "show", "0");
    add(lines, "dead-letters", "show", "0", "--format", "json");
    String http = pipeline.httpUri().toString();
    add(lines, "top", "--http", http, "--once", "--interval", "0.1");
    add(lines, "top", "--http", http, "--once", "--interval", "0.1", "--format", "json");
    // what is refused is told as well
    add(lines, "graph", trace, "--core", "none");
    add(lines, "graph", trace, "--core", EVIL);
    add(lines, "graph", trace, "--task", EVIL);
    add(lines, "graph", trace, "--task", "none");
    add(lines, "graph", "--http=" + pipeline.httpUri(), "--core", EVIL);
    add(lines, "report", trace, "--task", EVIL);
    add(lines, "report", folder.resolve("no" + EVIL.replace("\0", "") + "where").toString());
    add(lines, "trace", EVIL);
    add(lines, "report", "--" + EVIL, trace);
    lines.add(new String[] {EVIL});
    Map<String, String> out = new HashMap<>();
    for (String[] line : lines) {
      String words = String.join(" ", line);
      seen.add(line[0]);
      Ran ran = cluster(line);
      out.put(words, ran.out());
      harmless(words, ran);
      boolean refused = ran.code() != ExitCode.OK;
      assertThat(refused ? ran.err() : ran.out() + ran.err())
          .as("shows something: %s", words)
          .isNotEmpty();
    }
    String of = " " + trace + " --format text";
    assertThat(out.get("report " + trace + " --source --format text"))
        .containsPattern("EVIL.*EVIL.*retstack: FORGED:1\n");
    assertThat(out.get("graph" + of)).contains("EVIL", "\\x1b", "\\u202e", "\\u2028");
    assertThat(out.get("cores" + of).lines()).as("head and one core").hasSize(2);
    assertThat(out.get("trace log --format text").lines()).as("and one command").hasSize(2);
    Set<String> verbs =
        new TreeSet<>(Main.commandLine(Terminal.system()).getSubcommands().keySet());
    verbs.removeAll(WITHOUT_NAMES);
    assertThat(seen).as("a verb that is in neither list").containsAll(verbs);
  }

  private static void add(List<String[]> lines, String... words) {
    List<String> line = new ArrayList<>(List.of(words));
    if (line.get(1).startsWith("--http=")) {
      line.add("--live");
    }
    lines.add(line.toArray(String[]::new));
  }

  @Test
  void aFileForAnotherToolHasNoSuchNameEither() throws Exception {
    Path file = folder.resolve("out.perfetto");
    assertThat(cluster("export", trace, "--format", "perfetto", "-o", file.toString()).code())
        .isZero();
    String bytes = new String(Files.readAllBytes(file), ISO_8859_1);
    assertThat(bytes).contains("EVIL");
    for (String obeyed : List.of("\u001b", "\u009b", "\u202e", "\u2066", "\u200b", "\u2028")) {
      String around = "EVIL'!A1,\"x\";y"; // single bytes may be numbers
      String raw = new String(obeyed.getBytes(UTF_8), ISO_8859_1);
      assertThat(raw.length() == 1 || !bytes.contains(raw)).as(Visible.line(obeyed)).isTrue();
      assertThat(bytes).doesNotContain(around + "\r").doesNotContain("\nFORGED");
    }
  }

  @Test
  void noPathAnswersWhatATerminalObeys() throws Exception {
    List<String> paths = new ArrayList<>();
    JsonNode document = JSON.readTree(new String(get("/openapi.json"), UTF_8));
    document.path("paths").fieldNames().forEachRemaining(paths::add);
    paths.removeIf(path -> path.contains("{") || path.equals("/parts/own")); // bytes for members
    paths.remove("/anomalies/events"); // which do not end: below
    paths.remove("/trace"); // a file
    assertThat(paths).hasSizeGreaterThan(15);
    for (String path : paths) {
      boolean forms =
          document
              .at("/paths/" + path.replace("/", "~1") + "/get/parameters")
              .toString()
              .contains("\"format\"");
      for (String format : forms ? List.of("text", "json", "csv") : List.of("")) {
        byte[] answer = get(path + (format.isEmpty() ? "" : "?format=" + format));
        harmless(path + " " + format, answer);
        if (format.equals("json")) {
          JSON.readTree(answer);
        }
      }
    }
    assertThat(new String(get("/cores?format=text"), UTF_8)).contains("EVIL").hasLineCount(2);
    String name = "%1b%5b2J%e2%80%ae%c2%9b%0aFORGED";
    for (String asked :
        List.of(
            "/graph?core=" + name,
            "/report?core=" + name,
            "/trace?core=" + name,
            "/subjects/" + name + "/versions/latest")) {
      harmless(asked, get(asked));
    }
    harmless("/events", firstEvent());
  }

  private byte[] get(String path) throws Exception {
    URI uri = URI.create(pipeline.httpUri().toString().replaceAll("/$", "") + path);
    try (HttpClient client = HttpClient.newHttpClient()) {
      var answer = client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofByteArray());
      answer.headers().map().values().forEach(v -> harmless(path, v.toString().getBytes(UTF_8)));
      return answer.body();
    }
  }

  /** The first bytes of an anomaly. */
  private byte[] firstEvent() throws Exception {
    String all = "0:0,1:0,2:0,3:0,4:0,5:0,6:0,7:0";
    int partitions = JSON.readTree(get("/parts?format=json")).path("partitions").path("of").asInt();
    URI uri = URI.create(pipeline.httpUri() + "/anomalies/events");
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(uri.toString().replace("//anomalies", "/anomalies")))
            .header("Last-Event-ID", all.substring(0, 4 * partitions - 1))
            .build();
    try (HttpClient client = HttpClient.newHttpClient()) {
      try (InputStream in = client.send(request, BodyHandlers.ofInputStream()).body()) {
        ByteArrayOutputStream event = new ByteArrayOutputStream();
        while (!event.toString(UTF_8).contains("EVIL") || !event.toString(UTF_8).endsWith("\n\n")) {
          int b = in.read();
          assertThat(b).as("an event comes").isNotNegative();
          event.write(b);
        }
        client.shutdownNow();
        return event.toByteArray();
      }
    }
  }

  /** Nothing but plain characters and ends of lines, and no line is from a name. */
  private static void harmless(String what, byte[] said) {
    String text = new String(said, UTF_8);
    String name = Visible.line(what.length() > 60 ? what.substring(0, 60) : what);
    String rest = text.replace("\r\n", "\n").replace("\n", "").replace("\t", "");
    assertThat(Visible.line(rest)).as(name).isEqualTo(rest);
    assertThat(text.lines().filter(line -> line.matches("-?FORGED.*|retstack: FORGED.*")))
        .as(name)
        .isEmpty();
    if (what.contains("csv")) {
      assertThat(text.lines().filter(line -> line.matches("([^\"]*,)?\"?[=@].*")))
          .as("formulas of " + name)
          .isEmpty();
    }
  }

  private static void harmless(String what, Ran ran) {
    harmless(what, ran.out().getBytes(UTF_8));
    harmless(what, ran.err().getBytes(UTF_8));
  }

  private Ran cluster(String... words) {
    return Ran.with(Map.of("KAFKA_BOOTSTRAP_SERVERS", broker.bootstrap()), words);
  }

  /** Commands, answers and a dead letter, as a stranger may write them. */
  private void produce() throws Exception {
    Topics topics = Topics.standard();
    try (var producer =
        new KafkaProducer<>(
            KafkaSettings.of(broker.bootstrap()).producer(),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      AvroRecord control =
          Control.newBuilder()
              .setId(EVIL)
              .setIssuer(EVIL)
              .setTarget(EVIL)
              .setName(EVIL)
              .setArguments(List.of(EVIL))
              .build();
      AvroRecord result =
          ControlResult.newBuilder()
              .setCommand(EVIL)
              .setCore(EVIL)
              .setIsa(EVIL)
              .setImageName(EVIL)
              .setStatus(ControlStatus.REFUSED)
              .setReasons(List.of(EVIL))
              .setSettings(List.of(EVIL))
              .build();
      AvroRecord letter =
          DeadLetter.newBuilder()
              .setTopic(EVIL)
              .setPartition(0)
              .setOffset(0)
              .setReason(EVIL)
              .setKey(ByteBuffer.wrap(EVIL.getBytes(UTF_8)))
              .build();
      byte[] key = EVIL.getBytes(UTF_8);
      ProducerRecord<byte[], byte[]> dead =
          new ProducerRecord<>(topics.deadLetters(), 0, key, ConfluentFrame.encode(letter));
      dead.headers().add(EVIL, key);
      producer.send(dead).get();
      producer.send(record(topics.control(), control)).get();
      producer.send(record(topics.controlResults(), result)).get();
    }
  }

  private static ProducerRecord<byte[], byte[]> record(String topic, AvroRecord value) {
    return new ProducerRecord<>(topic, 0, EVIL.getBytes(UTF_8), ConfluentFrame.encode(value));
  }

  /** Our own line that is written over still works. */
  @Test
  void whatWeSayToATerminalComesThrough() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    PrintStream stream = new PrintStream(out, false, UTF_8);
    Terminal terminal = new Terminal(stream, stream, true, Map.of());
    terminal.rawErr().print("\r\u001b[K");
    terminal.err().print("caf\u00e9 \u001b[2J");
    terminal.out().write('\u00c3');
    terminal.out().write('\u00a9');
    terminal.out().write('\r');
    terminal.out().print("\n\r");
    terminal.out().println("two\nlines");
    terminal.out().printf("%s%n", "two\nlines");
    terminal.rawOut().flush();
    terminal.rawErr().flush();
    assertThat(out.toString(UTF_8))
        .isEqualTo("\r\u001b[Kcaf\u00e9 \\x1b[2J\u00e9\r\n\\x0dtwo\\x0alines\ntwo\\x0alines\n");
  }
}
