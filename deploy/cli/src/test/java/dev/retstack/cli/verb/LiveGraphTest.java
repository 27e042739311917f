package dev.retstack.cli.verb;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.Applied;
import dev.retstack.cli.Ran;
import dev.retstack.cli.SmallChunks;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The call tree of a pipeline that runs, at a time and now: what the verb says of the same chunks
 * in a trace. The last chunks have not come yet, so that calls are open.
 */
@Timeout(240)
class LiveGraphTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String IMAGE = "zoo-riscv64-mcount";
  private static final String CORE = IMAGE + "-0";

  @TempDir private Path dir;
  private String trace;
  private EmbeddedBroker broker;
  private Pipeline pipeline;

  @BeforeEach
  void aPipelineThatWaitsForTheLastChunks() throws Exception {
    trace = dir.resolve("trace.avro").toString();
    Path whole = SmallChunks.record(dir.resolve("whole.avro"), IMAGE);
    String timeline = Ran.well("graph", whole.toString(), "--timeline", "--format", "json").out();
    long last = JSON.readTree(timeline).path("cores").get(0).path("last").asLong();
    String end = String.valueOf(last / 3 * 2);
    Ran.well("cut", whole.toString(), "--core", CORE, "--to", end, "-o", trace);
    broker = EmbeddedBroker.start(dir.resolve("broker"), 0);
    pipeline = Applied.start(broker.bootstrap(), Path.of(trace));
  }

  @AfterEach
  void stop() {
    if (pipeline != null) {
      pipeline.close();
    }
    if (broker != null) {
      broker.close();
    }
  }

  private Ran ofTrace(String verb, String format, String... more) {
    return run(List.of(verb, trace, "--format", format), more);
  }

  /** With as many calls as a pipeline keeps. */
  private Ran graphOfTrace(String format, String... more) {
    List<String> words = new ArrayList<>(List.of(more));
    words.addAll(List.of("--max-calls", String.valueOf(PipelineConfig.TREE_CALLS_PER_CORE)));
    return ofTrace("graph", format, words.toArray(String[]::new));
  }

  private Ran live(String format, String... more) {
    String http = pipeline.httpUri().toString();
    return run(List.of("graph", "--live", "--http", http, "--format", format), more);
  }

  private static Ran run(List<String> first, String... more) {
    List<String> words = new ArrayList<>(first);
    words.addAll(List.of(more));
    return Ran.retstack(words.toArray(String[]::new));
  }

  private void sameAsOfTheTrace(String format, String... more) {
    Ran live = live(format, more);
    assertThat(live.code()).as(live.err()).isEqualTo(ExitCode.OK);
    assertThat(live.out()).isEqualTo(graphOfTrace(format, more).out());
  }

  @Test
  void itSaysWhatTheTraceSaysAndRefusesWhatMakesNoSense() throws Exception {
    String time = String.valueOf(timeOfACall());
    for (String format : List.of("text", "json", "csv")) {
      sameAsOfTheTrace(format, "--at", time);
      sameAsOfTheTrace(format, "--at", time, "--window", "500");
      sameAsOfTheTrace(format, "--at", time, "--core", CORE, "--depth", "2");
      sameAsOfTheTrace(format, "--at", String.valueOf(Long.MAX_VALUE));
    }
    assertThat(live("text", "--at", time).out()).contains("run_w200() {").contains("w200_");
    assertThat(live("csv", "--at", time, "--depth", "1").out().lines()).hasSize(2);
    JsonNode before = JSON.readTree(live("json", "--at", "0").out());
    assertThat(before).hasSize(1);
    assertThat(before.get(0).path("calls")).as("nothing had begun").isEmpty();
    assertThat(before.get(0).path("core").asText()).isEqualTo(CORE);

    openCalls();
    durations();
    callsThatAreLeftOut();
    timelines(Long.parseLong(time));
    windowsOfOtherVerbs(Long.parseLong(time));
    refusals(time);
  }

  /** Some call in the middle of what came. */
  private long timeOfACall() throws Exception {
    JsonNode roots = JSON.readTree(graphOfTrace("json", "--depth", "2").out()).get(0).path("calls");
    JsonNode calls = roots.get(0).path("children");
    assertThat(calls.size()).isGreaterThan(10);
    return calls.get(calls.size() / 2).path("enter").asLong();
  }

  /** What a report, anomalies, an export and a record of a time say, live and of the trace. */
  private void windowsOfOtherVerbs(long time) throws Exception {
    String http = pipeline.httpUri().toString();
    List<String> window =
        List.of("--core", CORE, "--from", "" + (time - 700), "--to", "" + (time + 700));
    List<String> source = List.of("--live", "--http", http);
    JsonNode live = JSON.readTree(of("report", source, window, "--format", "json").out());
    JsonNode stored = JSON.readTree(of("report", List.of(trace), window, "--format", "json").out());
    assertThat(stored.path("functions")).isNotEmpty();
    for (String field : List.of("resultHash", "functions", "edges", "records", "lost")) {
      assertThat(live.path(field)).as(field).isEqualTo(stored.path(field));
    }
    String session = JSON.readTree(live("json").out()).get(0).path("session").asText();
    assertThat(of("graph", source, window, "--session", session).out())
        .isEqualTo(of("graph", List.of(trace), window).out());
    Ran nobody = live("text", "--core", CORE, "--at", "5", "--session", "nobody");
    assertThat(nobody.code()).as(nobody.err()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(of("anomalies", source, window, "--each").out())
        .isEqualTo(of("anomalies", List.of(trace), window, "--each").out());
    for (String format : List.of("folded", "perfetto")) {
      List<Path> files = List.of(dir.resolve("live." + format), dir.resolve("of." + format));
      of("export", source, window, "--format", format, "-o", files.get(0).toString());
      of("export", List.of(trace), window, "--format", format, "-o", files.get(1).toString());
      assertThat(files.get(0)).isNotEmptyFile().hasSameBinaryContentAs(files.get(1));
    }
    for (List<String> from : List.of(List.of("--http", http), List.<String>of())) {
      String part = dir.resolve("part" + from.size() + ".avro").toString();
      List<String> kafka = List.of("--from-kafka", "--bootstrap", broker.bootstrap(), "-o", part);
      List<String> words = new ArrayList<>(kafka);
      words.addAll(from);
      of("record", words, window);
      for (String verb : List.of("report", "graph", "anomalies")) {
        assertThat(of(verb, List.of(part), window).out())
            .isEqualTo(of(verb, List.of(trace), window).out());
      }
      assertThat(Files.size(Path.of(part))).isLessThan(Files.size(Path.of(trace)) / 2);
      words.addAll(List.of("--core", "nobody"));
      Ran other = run(List.of("record"), words.toArray(String[]::new));
      assertThat(other.code()).as(other.err()).isEqualTo(ExitCode.BAD_INPUT);
      assertThat(other.err()).contains("no ").contains("core");
    }
  }

  /** A window that is small is answered from chunks on both sides; the core's name is needed. */
  private void timelines(long time) throws Exception {
    List<String> window =
        List.of(
            "--timeline", "--core", CORE, "--from", "" + (time - 700), "--to", "" + (time + 700));
    for (String format : List.of("text", "json", "csv")) {
      Ran live = live(format, window.toArray(String[]::new));
      assertThat(live.code()).as(live.err()).isEqualTo(ExitCode.OK);
      Ran stored = ofTrace("graph", format, window.toArray(String[]::new));
      assertThat(live.out()).contains("w200_").isEqualTo(stored.out());
    }
    Ran unknown = live("text", "--timeline", "--core", "nobody");
    assertThat(unknown.code()).as(unknown.err()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(unknown.err()).contains("no core nobody");
  }

  private static Ran of(String verb, List<String> source, List<String> window, String... more) {
    List<String> words = new ArrayList<>(List.of(verb));
    words.addAll(source);
    words.addAll(window);
    words.addAll(List.of(more));
    return Ran.well(words.toArray(String[]::new));
  }

  private void openCalls() throws Exception {
    for (String format : List.of("text", "csv")) {
      sameAsOfTheTrace(format, "--open");
      sameAsOfTheTrace(format, "--open", "--core", CORE);
    }
    assertThat(live("text", "--open").out()).contains("run_w200").contains("calls are open");
    JsonNode live = JSON.readTree(live("json", "--open").out());
    JsonNode stored = JSON.readTree(graphOfTrace("json", "--open").out());
    assertThat(live.path("calls")).isNotEmpty().isEqualTo(stored.path("calls"));
    assertThat(live.path("open")).isEqualTo(stored.path("open"));
    assertThat(live.path("partitions").path("owned")).isNotEmpty();
    coresWithOpenCallsAndAnomalies(live.path("open").asLong());
  }

  /** Columns of cores that other verbs tell as well. */
  private void coresWithOpenCallsAndAnomalies(long calls) throws Exception {
    List<String> source = List.of("--live", "--http", pipeline.httpUri().toString());
    JsonNode live =
        JSON.readTree(of("cores", source, List.of(), "--format", "json").out()).path("cores");
    JsonNode stored =
        JSON.readTree(of("cores", List.of(trace), List.of(), "--format", "json").out());
    assertThat(live).hasSize(1);
    assertThat(live.get(0).path("open").asLong()).isEqualTo(calls);
    long anomalies = 0;
    for (JsonNode sum :
        JSON.readTree(of("anomalies", source, List.of(), "--format", "json").out())) {
      boolean more = !sum.path("severity").asText().equals("INFO");
      anomalies += more ? sum.path("times").asLong() : 0;
    }
    assertThat(live.get(0).path("anomalies").asLong()).isEqualTo(anomalies);
    for (String field : List.of("open", "anomalies", "records")) {
      assertThat(live.get(0).path(field)).isEqualTo(stored.path("cores").get(0).path(field));
    }
    assertThat(of("cores", source, List.of()).out()).contains("ANOMALIES").contains("OPEN");
  }

  /** A tree that has no room for all calls says in every form how many it leaves out. */
  private void callsThatAreLeftOut() throws Exception {
    long calls = 0;
    for (JsonNode row : JSON.readTree(ofTrace("report", "json").out()).path("functions")) {
      calls += row.path("calls").asLong();
    }
    String[] few = {"--max-calls", "50"};
    long kept =
        ofTrace("graph", "csv", few).out().lines().filter(l -> l.contains(",CALL,")).count();
    assertThat(kept).isBetween(1L, 50L);
    long left = calls - kept;
    JsonNode tree = JSON.readTree(ofTrace("graph", "json", few).out()).get(0);
    assertThat(tree.path("notKept").asLong()).isEqualTo(left);
    assertThat(ofTrace("graph", "csv", few).out().lines())
        .last()
        .asString()
        .contains("NOT_KEPT," + left);
    assertThat(ofTrace("graph", "text", few).out()).contains(left + " more calls are counted");
    JsonNode live = JSON.readTree(live("json").out()).get(0);
    JsonNode stored = JSON.readTree(graphOfTrace("json").out()).get(0);
    assertThat(live.path("notKept").asLong()).isPositive();
    assertThat(live.path("notKept")).isEqualTo(stored.path("notKept"));
    JsonNode whole = JSON.readTree(live("json", "--core", CORE, "--from", "0").out()).get(0);
    assertThat(whole.path("notKept").asLong()).isZero();
  }

  /** Durations of a function, live and of the trace, in every form. */
  private void durations() throws Exception {
    JsonNode calls = JSON.readTree(live("json", "--core", CORE).out()).get(0).path("calls");
    String function = calls.get(0).path("children").get(0).path("function").asText();
    List<String> words = List.of("--durations", "--function", function, "--core", CORE);
    for (String format : List.of("text", "csv")) {
      Ran said = live(format, words.toArray(String[]::new));
      assertThat(said.code()).as(said.err()).isEqualTo(ExitCode.OK);
      assertThat(said.out())
          .isEqualTo(ofTrace("graph", format, words.toArray(String[]::new)).out());
    }
    JsonNode live = JSON.readTree(live("json", words.toArray(String[]::new)).out());
    JsonNode stored = JSON.readTree(ofTrace("graph", "json", words.toArray(String[]::new)).out());
    assertThat(live.path("calls").asLong()).isPositive();
    for (String field : List.of("calls", "min", "max", "avg", "p50", "p99", "durations")) {
      assertThat(live.path(field)).as(field).isEqualTo(stored.path(field));
    }
    usage("--function: give --durations with it", "--function", function);
    usage("give one of --durations, --open and --timeline", "--durations", "--open");
  }

  private void refusals(String time) {
    for (List<String> question : List.of(List.of("--at", time), List.of("--open"))) {
      List<String> more = new ArrayList<>(question);
      more.addAll(List.of("--core", "nobody"));
      Ran unknown = live("text", more.toArray(String[]::new));
      assertThat(unknown.code()).as(unknown.err()).isEqualTo(ExitCode.BAD_INPUT);
      assertThat(unknown.out()).isEmpty();
      assertThat(unknown.err())
          .contains("no core nobody")
          .doesNotContain("start one with \"retstack pipeline\"");
    }
    usage("--depth 0: give a number from 1", "--at", time, "--depth", "0");
    usage("--at noon: give a number from 0", "--at", "noon");
    usage("--at -1: give a number from 0", "--at", "-1");
    usage("--window -1: give a number from 0", "--at", "5", "--window", "-1");
    usage("--window 5 needs a time", "--window", "5");
    usage("give --open for the end, or a time, not both", "--open", "--at", "5");
  }

  private void usage(String problem, String... more) {
    Ran ran = live("text", more);
    assertThat(ran.code()).as(ran.err()).isEqualTo(ExitCode.USAGE);
    assertThat(ran.err()).contains(problem);
    assertThat(ran.out()).isEmpty();
  }
}
