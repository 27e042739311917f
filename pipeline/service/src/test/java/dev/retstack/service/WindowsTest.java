package dev.retstack.service;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.retstack.answers.export.FoldedExport;
import dev.retstack.answers.export.GraphView;
import dev.retstack.answers.question.Questions;
import dev.retstack.answers.replay.PyramidPass;
import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.answers.replay.TraceTimeline;
import dev.retstack.answers.support.CoreScript;
import dev.retstack.answers.support.RandomFleet;
import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Format;
import dev.retstack.answers.view.AnomaliesView;
import dev.retstack.answers.view.Coverage;
import dev.retstack.answers.view.ReportView;
import dev.retstack.answers.view.StacksView;
import dev.retstack.answers.view.TimelineView;
import dev.retstack.graph.check.Severity;
import dev.retstack.graph.input.Grouping;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.graph.pyramid.Timeline;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.AnomalySum;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.report.TaskChoice;
import dev.retstack.graph.report.UnitGroups;
import dev.retstack.graph.stacks.StackNode;
import dev.retstack.graph.stacks.StackReport;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.Image;
import dev.retstack.schema.file.TraceFileReader;
import dev.retstack.schema.file.TraceFileWriter;
import dev.retstack.schema.file.TraceIndex;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import dev.retstack.schema.wire.Visible;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicAdmin;
import dev.retstack.service.support.HttpAsk;
import dev.retstack.service.support.TestBroker;
import dev.retstack.service.support.Waits;
import dev.retstack.service.transfer.TraceProducer;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Windows of a running job, read again from the log by its index, against windows of the same
 * chunks in a trace: graph, report, anomalies and an export. {@code -Dretstack.windows=N} asks for
 * so many; {@code -Dretstack.seed=S} other ones.
 */
@Timeout(300)
class WindowsTest {
  private static final int PARTITIONS = 2;
  private static final int CORES = 6;
  private static final int WINDOWS = Integer.getInteger("retstack.windows", 4);
  private static final long SEED = Long.getLong("retstack.seed", 23023);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Waits WAITS = new Waits(Duration.ofMinutes(2));

  @TempDir private Path dir;
  private final List<CoreScript> fleet = RandomFleet.withKeyframes(SEED, CORES, 4_000);
  private final SplittableRandom random = new SplittableRandom(SEED);
  private boolean deleted;
  private int fromChunksSeen;
  private int fromTilesSeen;
  private KafkaSettings kafka;
  private final Topics topics = new Topics(TestBroker.freshPrefix());

  private PipelineConfig config() throws Exception {
    kafka = KafkaSettings.of(TestBroker.bootstrap());
    try (TopicAdmin admin = new TopicAdmin(kafka, Duration.ofSeconds(60))) {
      admin.ensure(topics, PARTITIONS);
    }
    return PipelineConfig.of(kafka)
        .but()
        .topics(topics)
        .groupId(topics.prefix())
        .partitions(PARTITIONS)
        .checkpoints(Duration.ofMillis(200), 20)
        .build();
  }

  private void send(List<Chunk> chunks) throws Exception {
    send(fleet, chunks);
  }

  private void send(List<CoreScript> cores, List<Chunk> chunks) throws Exception {
    try (TraceProducer producer = new TraceProducer(kafka, topics)) {
      for (CoreScript core : cores) {
        producer.image(core.image());
      }
      for (Chunk chunk : chunks) {
        producer.chunk(chunk);
      }
      producer.flush();
    }
  }

  private Path trace(List<Chunk> chunks) throws IOException {
    Path file = dir.resolve("trace.avro");
    try (TraceFileWriter writer = TraceFileWriter.open(file)) {
      for (CoreScript core : fleet) {
        writer.write(core.image());
      }
      for (Chunk chunk : chunks) {
        writer.write(chunk);
      }
    }
    return file;
  }

  private void awaitEnded(Pipeline pipeline) throws Exception {
    WAITS.await(pipeline.awaitCoresEnded(CORES));
  }

  /** Random windows of random cores, narrow and wide, before the beginning and behind the end. */
  private void compareWindows(Pipeline pipeline, Path file, String core, long from, long to)
      throws Exception {
    try (HttpAsk ask = new HttpAsk(pipeline.httpUri())) {
      for (int i = 0; i < WINDOWS; i++) {
        CoreScript of = fleet.get(random.nextInt(CORES));
        String name = core.isEmpty() ? of.core() : core;
        long first = random.nextLong(from, to + 100);
        long width = 1L << random.nextInt(15);
        compare(ask, file, name, first, random.nextInt(5) == 0 ? first : first + width);
      }
    }
  }

  private long lastTime() {
    return fleet.stream()
        .mapToLong(core -> core.chunks().getLast().getLastTime())
        .max()
        .orElseThrow();
  }

  private void compare(HttpAsk ask, Path file, String core, long from, long to) throws Exception {
    String what = "seed %d, core %s, %d to %d".formatted(SEED, core, from, to);
    String query = "core=%s&from=%d&to=%d".formatted(core, from, to);
    GraphState shown =
        ofTrace(file, new TraceReplay.Window(key -> key.core().equals(core), from, to, false));
    List<CallTree> trees =
        ReportBuilder.of(shown).trees().stream()
            .filter(tree -> tree.core().equals(core))
            .map(tree -> tree.within(from, to))
            .toList();
    List<AnomalyRow> marks =
        ReportBuilder.of(shown).anomalies().stream()
            .filter(row -> row.time() >= from && row.time() <= to)
            .toList();
    for (Format format : Format.values()) {
      String text = GraphView.of(trees, marks, Integer.MAX_VALUE, false).as(format);
      String form = "&format=" + format.name().toLowerCase(Locale.ROOT);
      assertThat(ok(ask, "/graph?" + query + form)).as(what).isEqualTo(Visible.lines(text));
    }
    if (!deleted) { // else the first stretch may begin before what is there
      compareTimeline(ask, file, core, from, to);
    }
    GraphState counted =
        ofTrace(file, new TraceReplay.Window(key -> key.core().equals(core), from, to, true));
    JsonNode report = JSON.readTree(ok(ask, "/report?" + query));
    JsonNode expected =
        JSON.readTree(
            ReportView.of(ReportBuilder.of(counted).build(), Integer.MAX_VALUE).as(Format.JSON));
    for (String field :
        List.of("unit", "records", "lost", "resultHash", "functions", "edges", "stats")) {
      assertThat(report.path(field)).as(what + " " + field).isEqualTo(expected.path(field));
    }
    StackReport stacks =
        StackReport.of(
            ReportBuilder.of(counted).cores(one -> one.key().core().equals(core)),
            new UnitGroups().choose(Optional.empty()),
            TaskChoice.ALL,
            StackNode.Apart.NONE,
            true);
    assertThat(JSON.readTree(ok(ask, "/stacks?" + query)).path("stacks"))
        .as(what)
        .isEqualTo(
            JSON.readTree(
                    StacksView.of(
                            stacks,
                            Optional.of(stacks.all()),
                            Optional.empty(),
                            StacksView.NODES,
                            new Coverage(List.of(), 0))
                        .as(Format.JSON))
                .path("stacks"));
    AnomalySum.Query all =
        new AnomalySum.Query("", "", new TaskChoice(""), Severity.WARNING, Grouping.EACH);
    String anomalies = AnomaliesView.of(ReportBuilder.of(counted).anomalies(all)).as(Format.JSON);
    assertThat(ok(ask, "/anomalies?" + query + "&rows=each"))
        .as(what)
        .isEqualTo(Visible.lines(anomalies));
    Path cut = dir.resolve("cut.avro");
    try (var body = ask.open("/trace?" + query).body()) {
      Files.write(cut, body.readAllBytes());
    }
    assertThat(
            folded(
                ofTrace(
                    cut, new TraceReplay.Window(key -> key.core().equals(core), from, to, true))))
        .as(what)
        .isEqualTo(folded(counted));
  }

  /**
   * As {@code retstack graph --timeline} shows it of the trace: with the pyramid of the trace where
   * the job answers from tiles, and without it where it reads chunks.
   */
  private void compareTimeline(HttpAsk ask, Path file, String core, long from, long to)
      throws Exception {
    boolean whole = random.nextInt(4) == 0;
    Timeline.Question question =
        new Timeline.Question(
            whole ? 0 : from,
            whole ? Long.MAX_VALUE : to,
            1 << random.nextInt(9),
            1 + random.nextInt(8));
    String asked =
        "/timeline?core=%s&from=%d&to=%d&width=%d&depth=%d"
            .formatted(core, question.from(), question.to(), question.width(), question.depth());
    JsonNode live = JSON.readTree(ok(ask, asked));
    boolean fromChunks = live.path("cores").get(0).path("detail").asText().equals("CHUNKS");
    if (fromChunks) {
      fromChunksSeen++;
      Document trace = ofTrace(file, core, question);
      assertThat(ok(ask, asked + "&format=text"))
          .as("seed %d, %s", SEED, asked)
          .isEqualTo(Visible.lines(trace.as(Format.TEXT)));
      assertThat(plain(live, true))
          .as("seed %d, %s", SEED, asked)
          .isEqualTo(plain(JSON.readTree(trace.as(Format.JSON)), true));
    } else {
      fromTilesSeen++;
      Path indexed = dir.resolve("indexed.avro");
      Files.copy(file, indexed, StandardCopyOption.REPLACE_EXISTING);
      PyramidPass.write(indexed, TraceReplay.Progress.SILENT);
      JsonNode trace = JSON.readTree(ofTrace(indexed, core, question).as(Format.JSON));
      assertThat(plain(live, false)).as("seed %d, %s", SEED, asked).isEqualTo(plain(trace, false));
    }
  }

  private static Document ofTrace(Path file, String core, Timeline.Question question)
      throws IOException {
    List<TraceTimeline.Answer> answers = new ArrayList<>();
    try (TraceTimeline trace = TraceTimeline.open(file, LateSymbols.NONE)) {
      for (TraceIndex.Core one : trace.cores()) {
        if (core.equals(one.core())) {
          answers.add(trace.answer(one, question, true, TraceReplay.Progress.SILENT));
        }
      }
    }
    return TimelineView.of(answers);
  }

  /**
   * Of calls that are equally long any may be the longest. Of chunks behind a window other ones may
   * be read where some came late: calls that go on end with them.
   */
  private static List<String> plain(JsonNode timeline, boolean fromChunks) {
    JsonNode core = timeline.path("cores").get(0);
    long end = fromChunks ? core.path("to").asLong() : Long.MAX_VALUE;
    List<String> rows = new ArrayList<>();
    rows.add(core.toString());
    for (JsonNode row : timeline.path("rows")) {
      ObjectNode copy = row.deepCopy();
      long exit = Math.min(end, row.path("exit").asLong());
      copy.put("exit", exit);
      if (!row.has("function")) {
        copy.put("exit", exit - row.path("enter").asLong());
        copy.remove(List.of("longest", "selfPc", "enter"));
        if (row.path("to").asLong() == end) {
          copy.remove("exit");
        }
      }
      rows.add(copy.toString());
    }
    return rows;
  }

  private static GraphState ofTrace(Path file, TraceReplay.Window window) throws IOException {
    return TraceReplay.read(file, new GraphState(), window, TraceReplay.Progress.SILENT).state();
  }

  private static String folded(GraphState state) throws IOException {
    StringBuilder text = new StringBuilder();
    FoldedExport.write(ReportBuilder.of(state).trees(), false, true, false, text);
    return text.toString();
  }

  private static String ok(HttpAsk ask, String question) throws Exception {
    HttpResponse<String> answer = ask.get(question);
    assertThat(answer.statusCode()).as(question + " " + answer.body()).isEqualTo(200);
    assertThat(answer.headers().firstValue(Questions.WINDOW)).as(question).isPresent();
    return answer.body();
  }

  /** Chunks of a core in the trace of all that the job gives, by their numbers. */
  private List<Long> sequences(Pipeline pipeline, String core) throws Exception {
    Path all = dir.resolve("all.avro");
    try (HttpAsk ask = new HttpAsk(pipeline.httpUri());
        var body = ask.open("/trace?core=" + core).body()) {
      Files.write(all, body.readAllBytes());
    }
    List<Long> sequences = new ArrayList<>();
    try (var reader = TraceFileReader.open(all)) {
      for (var entry = reader.next(); entry != null; entry = reader.next()) {
        if (entry.getChunk() != null) {
          sequences.add(entry.getChunk().getSequence());
        }
      }
    }
    return sequences;
  }

  @Test
  void windowsAreThoseOfATraceAlsoAfterARestartAndWhereAPartitionMoved() throws Exception {
    List<Chunk> all = RandomFleet.byTurns(fleet);
    Path file = trace(all);
    PipelineConfig config = config();
    send(all.subList(0, all.size() / 2));
    try (Pipeline first = PipelineService.start(config)) {
      WAITS.await(
          "chunks", () -> WAITS.await(first.progress()).stream().anyMatch(c -> c.chunks() > 10));
      WAITS.await(first.abort());
    }
    send(all.subList(all.size() / 2, all.size()));
    try (Pipeline second = PipelineService.start(config)) {
      awaitEnded(second);
      compareWindows(second, file, "", 0, lastTime());
      for (CoreScript core : fleet) {
        assertThat(sequences(second, core.core()))
            .as("each chunk once")
            .isEqualTo(core.chunks().stream().map(Chunk::getSequence).toList());
      }
      try (Pipeline third = PipelineService.start(config);
          HttpAsk ask = new HttpAsk(third.httpUri())) {
        WAITS.await(
            "both members own a partition",
            () -> {
              JsonNode parts = JSON.readTree(ask.get("/parts").body()).path("parts");
              return parts.findValuesAsText("node").stream().distinct().count() == 2
                  && parts.findValues("missing").isEmpty();
            });
        compareWindows(third, file, "", 0, lastTime());
        WAITS.await(second.stop());
        WAITS.await(
            "one owns all",
            () ->
                JSON.readTree(ask.get("/parts").body())
                    .path("parts")
                    .findValues("missing")
                    .isEmpty());
        compareWindows(third, file, "", 0, lastTime());
      }
      assertThat(fromChunksSeen).as("timelines from chunks").isPositive();
      assertThat(fromTilesSeen).as("timelines from tiles").isPositive();
    }
  }

  @Test
  void lateDoubledAbortedAndLostChunksAndADeletedBeginning() throws Exception {
    List<Chunk> all = RandomFleet.byTurns(fleet);
    CoreScript gap = fleet.getFirst();
    Chunk lost = gap.chunks().get(gap.chunks().size() / 2);
    all.remove(lost);
    List<Chunk> mixed = new ArrayList<>();
    List<Chunk> late = new ArrayList<>();
    for (Chunk chunk : all) {
      boolean isLast = chunk.getEnd() != CoreEnd.RUNNING;
      int what = random.nextInt(10);
      if (what == 0 && !isLast) {
        late.add(chunk);
      } else {
        mixed.add(chunk);
      }
      if (what == 1) {
        mixed.add(chunk);
      }
      if (late.size() > 4 || (isLast && !late.isEmpty())) {
        mixed.addAll(isLast ? mixed.size() - 1 : mixed.size(), late);
        late.clear();
      }
    }
    assertThat(late).isEmpty();
    List<Chunk> taken = new ArrayList<>();
    Map<String, Long> last = new HashMap<>();
    for (Chunk chunk : mixed) {
      if (chunk.getSequence() > last.getOrDefault(chunk.getCore(), -1L)) {
        taken.add(chunk); // others come again, or late
        last.put(chunk.getCore(), chunk.getSequence());
      }
    }
    PipelineConfig config = config();
    try (Pipeline member = PipelineService.start(config)) {
      send(mixed.subList(0, mixed.size() / 2));
      abort(mixed.subList(mixed.size() / 2 - 20, mixed.size() / 2));
      send(mixed.subList(mixed.size() / 2, mixed.size()));
      awaitEnded(member);
      compareWindows(member, trace(taken), "", 0, lastTime());
      long around = lost.getFirstTime();
      compareWindows(member, trace(taken), gap.core(), around - 500, around + 500);
      deletedBeginning(member, trace(taken));
    }
  }

  /** Sends chunks once more in a transaction that is aborted. */
  private void abort(List<Chunk> chunks) throws Exception {
    Map<String, Object> settings = kafka.producer();
    settings.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, topics.prefix() + "-aborted");
    try (var producer =
        new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
      producer.initTransactions();
      producer.beginTransaction();
      for (Chunk chunk : chunks) {
        var _ =
            producer.send(
                new ProducerRecord<>(
                    topics.events(),
                    chunk.getCore().getBytes(UTF_8),
                    ConfluentFrame.encode(chunk)));
      }
      producer.flush();
      producer.abortTransaction();
    }
  }

  /**
   * Retention cuts half of the log off: what is left is as before, the other half names its end.
   */
  private void deletedBeginning(Pipeline member, Path file) throws Exception {
    Map<TopicPartition, RecordsToDelete> half = new HashMap<>();
    try (TopicAdmin ends = new TopicAdmin(kafka, Duration.ofSeconds(60));
        Admin admin = Admin.create(kafka.admin())) {
      ends.endOffsets(topics.events())
          .forEach((at, end) -> half.put(at, RecordsToDelete.beforeOffset(end / 2)));
      admin.deleteRecords(half).all().get();
    }
    CoreScript core = fleet.getLast();
    try (HttpAsk ask = new HttpAsk(member.httpUri())) {
      for (String path : List.of("/graph", "/report", "/anomalies", "/trace")) {
        HttpResponse<String> gone = ask.get(path + "?core=" + core.core() + "&from=10&to=20");
        assertThat(gone.statusCode()).as(gone.body()).isEqualTo(410);
        assertThat(gone.body())
            .contains("the first time still there is")
            .contains("retention.ms")
            .contains(topics.events());
      }
      JsonNode tiles = JSON.readTree(ok(ask, "/timeline?core=" + core.core() + "&from=10&to=20"));
      assertThat(tiles.path("cores").get(0).path("detail").asText())
          .as("tiles outlive the log")
          .isEqualTo("TILES");
      assertThat(tiles.path("rows")).isNotEmpty();
      String said =
          JSON.readTree(ask.get("/report?core=" + core.core() + "&from=10").body())
              .path("error")
              .asText();
      long first = Long.parseLong(said.replaceFirst("(?s).*still there is (\\d+).*", "$1"));
      assertThat(first).isBetween(lastTime() / 4, lastTime());
      assertThat(core.chunks().stream().map(Chunk::getFirstTime)).contains(first);
      deleted = true;
      compare(ask, file, core.core(), first, first + 300);
      assertThat(ask.get("/report?core=%s&from=%d".formatted(core.core(), first - 1)).statusCode())
          .isEqualTo(410);
      assertThat(ask.get("/report?core=" + core.core()).statusCode())
          .as("without a first time it begins with what is there")
          .isEqualTo(200);
      compareWindows(member, file, core.core(), first, lastTime());
    }
  }

  @Test
  void whatMakesNoSenseIsRefusedWithACure() throws Exception {
    PipelineConfig config = config();
    send(RandomFleet.byTurns(fleet));
    try (Pipeline member = PipelineService.start(config);
        HttpAsk ask = new HttpAsk(member.httpUri())) {
      awaitEnded(member);
      refused(ask, 404, "/graph?core=cor-3&from=1", "no core cor-3", "did you mean core-3");
      refused(ask, 404, "/trace?core=core-1&session=nobody", "no core core-1 of session nobody");
      refused(ask, 404, "/report?session=sesion-" + SEED, "did you mean session-" + SEED);
      refused(ask, 400, "/graph?core=core-1&from=9&to=8", "from 9 is behind to 8");
      refused(ask, 400, "/report?core=core-1&from=-1", "from -1", "from 0 to");
      refused(ask, 400, "/report?core=core-1&from=9223372036854775808", "is not a number");
      refused(ask, 400, "/anomalies?core=core-1&at=5&to=8", "two times are given");
      refused(ask, 400, "/anomalies?core=core-1&window=5", "window 5 without a time", "give at");
      refused(ask, 400, "/anomalies?session=s", "without a time");
      refused(ask, 400, "/trace?format=json", "no parameter 'format' of /trace");
      for (String huge :
          List.of(
              "/graph?core=core-1&at=9223372036854775807&window=9223372036854775807",
              "/report?from=0&to=9223372036854775807",
              "/graph?core=core-1&from=9223372036854775807")) {
        assertThat(ask.get(huge).statusCode()).as(huge).isEqualTo(200);
      }
    }
  }

  /** One core fits into an answer, two together do not. */
  @Test
  void chunksOfAllCoresOfAWindowAreBoundedTogether() throws Exception {
    List<CoreScript> large = List.of(large("core-1"), large("core-2"));
    PipelineConfig config = config();
    send(large, RandomFleet.byTurns(large));
    try (Pipeline member = PipelineService.start(config);
        HttpAsk ask = new HttpAsk(member.httpUri())) {
      WAITS.await(member.awaitCoresEnded(large.size()));
      assertThat(ask.get("/report?from=0&core=core-2").statusCode()).isEqualTo(200);
      refused(ask, 413, "/report?from=0", "16,777,216 bytes of chunks", "narrower");
    }
  }

  /** A core with chunks of 8.5 MiB, since its calls take any time. */
  private CoreScript large(String name) {
    Image image = CoreScript.image("large", "main", "f");
    CoreScript core = new CoreScript(image, "large", name).withKeyframes().enter("main");
    for (long bytes = 0; bytes < 17 << 19; ) {
      for (int i = 0; i < 10_000; i++) {
        core.tick(random.nextLong(1L << 42)).enter("f");
        core.tick(random.nextLong(1L << 42)).exit();
      }
      core.chunk();
      bytes += core.chunks().getLast().getPayload().remaining();
    }
    return core.exit().end();
  }

  private static void refused(HttpAsk ask, int status, String question, String... words)
      throws Exception {
    HttpResponse<String> answer = ask.get(question);
    assertThat(answer.statusCode()).as(question + answer.body()).isEqualTo(status);
    assertThat(answer.body()).as(question).contains(words).contains("\"cure\"");
  }
}
