package dev.retstack.cli.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.csv.CsvMapper;
import com.fasterxml.jackson.dataformat.csv.CsvSchema;
import dev.retstack.answers.http.HttpSettings;
import dev.retstack.answers.http.HttpToken;
import dev.retstack.answers.viewer.TraceServer;
import dev.retstack.cli.Applied;
import dev.retstack.cli.HostileTrace;
import dev.retstack.cli.NamedProgram;
import dev.retstack.cli.Ran;
import dev.retstack.cli.SmallChunks;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.wire.Topics;
import dev.retstack.schema.wire.Visible;
import dev.retstack.service.Pipeline;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

/**
 * The pages of a running job and of a recorded trace in a real browser: their numbers are those of
 * the command line, keys do what the mouse does, and names of hostile images stay text.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Timeout(240)
class PagesTest {
  /** Also for call trees of a deep recursion. */
  private static final ObjectMapper JSON =
      new ObjectMapper(
          JsonFactory.builder()
              .streamReadConstraints(
                  StreamReadConstraints.builder().maxNestingDepth(1 << 18).build())
              .build());

  /** Each page in both lights, and figures of many steps. */
  private static final boolean ALL = "all".equals(System.getProperty("retstack.pages"));

  private static final String LONG = "zoo-riscv64-mcount-0";
  private static final String ZOO = "zoo-x86_64-fentry-0";
  private static final List<String> PAGES =
      List.of(
          "timeline", "functions", "anomalies", "calls", "fleet", "flame", "compare", "control");

  /** Markup, controls, changes of the writing direction, and much of it. */
  private static final String EVIL =
      "<img src=x onerror=\"window.evil=1\"><script>window.evil=1</script>\u001b[2J\u202e\u2066\u200b\u2028"
          + "\u05d0\u05d1 ${evil} {{evil}} javascript:evil";

  /** The longest name that an image may have. */
  private static final String HUGE = EVIL + "m".repeat(Chunks.TEXT_MAX - EVIL.length());

  /** Bytes of the largest answer about stacks. */
  private static final String BYTES =
      "return Math.max(...performance.getEntriesByType('resource')"
          + ".filter((one) => one.name.includes('/stacks')).map((one) => one.encodedBodySize))";

  /** What the pages show: the same cores, from one and from the other. */
  enum Source {
    JOB,
    TRACE
  }

  private Path folder;
  private EmbeddedBroker broker;
  private Pipeline pipeline;
  private TraceServer viewer;
  private Path whole;
  private Browser browser;
  private Source source;
  private String http;

  @BeforeAll
  void aJobAndABrowser(@TempDir Path dir) throws Exception {
    assumeTrue(
        Browser.isThere(),
        "no chromium and chromedriver in the path: apt-get install chromium chromium-driver");
    folder = dir;
    broker = EmbeddedBroker.start(dir.resolve("broker"), 0);
    List<Path> traces =
        List.of(
            record(
                dir,
                "zoo",
                "--image",
                "zoo-x86_64-fentry",
                "--image",
                "zoo-aarch64-patchable",
                "--cores",
                "2",
                "-A",
                "fib@arg1/d"),
            record(dir, "long", "--image", "zoo-riscv64-mcount", "--", "w200", "2000"),
            record(
                dir,
                "rtos",
                "--image",
                "rtos-arm-mcount",
                "--timer",
                "900:rtos_interrupt",
                "--timer",
                "7100:rtos_interrupt",
                "--task-variable",
                "rtos_current",
                "--",
                "rtos"),
            HostileTrace.write(
                dir.resolve("hostile.avro"), EVIL, List.of(EVIL, HUGE, "a" + EVIL, "b" + EVIL)));
    whole = dir.resolve("whole.avro");
    List<String> merge = new ArrayList<>(List.of("merge", "-o", whole.toString()));
    traces.forEach(trace -> merge.add(trace.toString()));
    run(merge);
    pipeline = Applied.start(broker.bootstrap(), traces.toArray(Path[]::new));
    viewer = TraceServer.start(whole, LateSymbols.NONE, HttpSettings.LOCAL);
    browser = Browser.open(pipeline.httpUri());
  }

  @BeforeEach
  void theJob() {
    turnTo(Source.JOB);
  }

  private void turnTo(Source to) {
    source = to;
    URI server = to == Source.JOB ? pipeline.httpUri() : viewer.uri();
    http = server.toString().replaceAll("/$", "");
    browser.turnTo(server);
  }

  @AfterAll
  void stop() throws IOException {
    if (browser != null) {
      browser.close();
    }
    if (viewer != null) {
      viewer.close();
    }
    if (pipeline != null) {
      pipeline.close();
    }
    if (broker != null) {
      broker.close();
    }
  }

  private void send(Path trace) {
    Ran.well("replay", trace.toString(), "--into-kafka", "--bootstrap", broker.bootstrap());
  }

  private static Path record(Path dir, String name, String... more) {
    Path file = dir.resolve(name + ".avro");
    List<String> words = new ArrayList<>(List.of("record", "-o", file.toString()));
    words.addAll(Arrays.asList(more));
    run(words);
    return file;
  }

  private static String run(List<String> words) {
    return Ran.well(words.toArray(String[]::new)).out();
  }

  /** What the command says of this job, or of this trace. */
  private String said(String verb, String... more) {
    List<String> words = new ArrayList<>(List.of(verb));
    words.addAll(
        source == Source.JOB ? List.of("--live", "--http", http) : List.of(whole.toString()));
    words.addAll(Arrays.asList(more));
    return run(words);
  }

  private JsonNode report(String core, long from, long to) throws IOException {
    return JSON.readTree(
        said("report", "--core", core, "--from", "" + from, "--to", "" + to, "--format", "json"));
  }

  private static String grouped(JsonNode number) {
    return "%,d".formatted(number.asLong());
  }

  private static List<List<String>> bySelf(JsonNode report) {
    List<JsonNode> functions = new ArrayList<>();
    report.path("functions").forEach(functions::add);
    functions.sort(
        Comparator.comparingLong((JsonNode row) -> row.path("self").asLong()).reversed());
    return functions.stream()
        .map(
            row ->
                List.of(
                    row.path("name").asText(),
                    grouped(row.path("calls")),
                    grouped(row.path("self")),
                    grouped(row.path("total"))))
        .toList();
  }

  private void openTimeline(String core) {
    browser.go("/?page=timeline&core=" + core);
    browser.until("it is drawn", () -> drawn() > 0);
    browser.script("document.querySelector('.stage canvas').focus()");
  }

  private long drawn() {
    return browser.number(
        "return Number(document.querySelector('.stage canvas')?.dataset.drawn ?? 0)");
  }

  private long[] sight() {
    return new long[] {
      browser.number("return Number(document.querySelector('.stage canvas').dataset.from ?? -1)"),
      browser.number("return Number(document.querySelector('.stage canvas').dataset.to ?? -1)")
    };
  }

  private long span() {
    return sight()[1] - sight()[0];
  }

  private void changes(Runnable does) {
    long[] before = sight();
    does.run();
    browser.until("another time is in sight", () -> !Arrays.equals(before, sight()));
  }

  @Test
  void coarseTilesAreDrawnFirstAndThenItsCalls() {
    openTimeline(LONG);
    long middle = sight()[0] + span() / 2;
    browser.go("/?page=timeline&core=%s&from=%d&to=%d".formatted(LONG, middle, middle + 40));
    browser.until(
        "the calls have come",
        () -> browser.number("return performance.getEntriesByName('step-fine').length") == 1);
    assertThat(
            browser.number("return Number(document.querySelector('.stage canvas').dataset.calls)"))
        .isBetween(1L, 40L);
  }

  @Test
  void theTimelineZoomsPansAndSelectsByKeysAndMouse() throws Exception {
    openTimeline(LONG);
    long whole = span();
    assertThat(whole).isGreaterThan(10_000);
    browser.screenshot("timeline");
    for (int i = 0; i < 4; i++) {
      changes(() -> browser.press("w"));
    }
    assertThat(span()).isLessThan(whole / 3);
    long begin = sight()[0];
    changes(() -> browser.press("d"));
    assertThat(sight()[0]).isGreaterThan(begin);
    changes(() -> browser.press("a"));
    changes(() -> browser.press("s"));
    assertThat(browser.address()).contains("from=" + sight()[0]).contains("to=" + sight()[1]);

    WebElement canvas = browser.element(".stage canvas");
    long before = span();
    changes(
        () ->
            browser.script(
                "arguments[0].dispatchEvent(new WheelEvent('wheel', {deltaY: -60, ctrlKey: true,"
                    + " clientX: 600, clientY: 300, bubbles: true, cancelable: true}))",
                canvas));
    assertThat(span()).isLessThan(before);
    long at = sight()[0];
    changes(
        () ->
            browser
                .mouse()
                .moveToElement(canvas, 100, 150)
                .clickAndHold()
                .moveByOffset(-200, 0)
                .release()
                .perform());
    assertThat(sight()[0]).isGreaterThan(at);
    int ruler = 12 - canvas.getSize().height / 2;
    browser
        .mouse()
        .moveToElement(canvas, -300, ruler)
        .clickAndHold()
        .moveByOffset(400, 0)
        .release()
        .perform();
    selectionIsTheReport();
    changes(() -> browser.press("0"));
    assertThat(span()).isGreaterThanOrEqualTo(whole);

    openTimeline(LONG);
    for (int i = 0; i < 12; i++) {
      changes(() -> browser.press("w"));
    }
    browser.press(Keys.ARROW_RIGHT);
    browser.press(Keys.ARROW_DOWN);
    browser.press(Keys.ARROW_DOWN);
    browser.press(Keys.ENTER);
    selectionIsTheReport();
    browser.screenshot("timeline-selection");
    browser.assertAccessible("timeline with a selection");
    browser.press(Keys.ESCAPE);
    browser.until("nothing is selected", () -> browser.text(".panel h2").isEmpty());
    browser.shift(Keys.ARROW_RIGHT);
    selectionIsTheReport();
    browser.assertClean("timeline");
  }

  @Test
  void theTimelineFollowsWhileRecordsCome(@TempDir Path dir) throws Exception {
    String image = "zoo-aarch64-mcount";
    Path whole = SmallChunks.record(dir.resolve("whole.avro"), image);
    send(SmallChunks.thirds(whole, 1, dir.resolve("first.avro")));
    browser.until("the core has come", () -> lastTime(image + "-0") > 0);
    openTimeline(image + "-0");
    for (int i = 0; i < 4; i++) {
      changes(() -> browser.press("w"));
    }
    long span = span();
    browser.press("l");
    assertThat(browser.element("[aria-keyshortcuts=L]").getDomAttribute("aria-pressed"))
        .isEqualTo("true");
    long before = lastTime(image + "-0");
    for (int thirds = 2; thirds <= 3; thirds++) {
      long known = before;
      send(
          thirds == 3
              ? whole
              : SmallChunks.thirds(whole, thirds, dir.resolve("part%d.avro".formatted(thirds))));
      browser.until("more has come", () -> lastTime(image + "-0") > known);
      browser.until("it is in sight", () -> sight()[1] > lastTime(image + "-0"));
      before = lastTime(image + "-0");
      assertThat(span()).as("as much time as before").isBetween(span - 2, span + 2);
      assertThat(sight()[0]).as("what was in sight has gone by").isGreaterThan(known);
      long calls = 0;
      for (JsonNode row : report(image + "-0", sight()[0], sight()[1]).path("functions")) {
        calls += row.path("calls").asLong();
      }
      assertThat(calls).as("calls in sight").isPositive();
    }
    browser.screenshot("timeline-follows");
    changes(() -> browser.press("a"));
    assertThat(browser.element("[aria-keyshortcuts=L]").getDomAttribute("aria-pressed"))
        .as("who looks elsewhere is left there")
        .isEqualTo("false");
    browser.assertClean("timeline that follows");
  }

  /** The clock of a core as the command tells it; 0 where it has sent nothing. */
  private long lastTime(String core) {
    try {
      for (JsonNode row : JSON.readTree(said("cores", "--format", "json")).path("cores")) {
        if (row.path("core").asText().equals(core)) {
          return row.path("time").asLong();
        }
      }
      return 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The panel's table is what the command says of that time. */
  private void selectionIsTheReport() throws IOException {
    browser.until(
        "a report is there", () -> !browser.rows("Functions of the selection", 4).isEmpty());
    String[] words = browser.text(".panel h2").replace(",", "").split(" ", -1);
    JsonNode report = report(LONG, Long.parseLong(words[0]), Long.parseLong(words[2]));
    assertThat(browser.rows("Functions of the selection", 4))
        .containsExactlyInAnyOrderElementsOf(bySelf(report).subList(0, shown(report)));
  }

  private int shown(JsonNode report) {
    return Math.min(
        report.path("functions").size(), browser.rows("Functions of the selection", 4).size());
  }

  /** As much of a name as each page shows. */
  private static String cut(String name) {
    return name.substring(0, Math.min(name.length(), 30));
  }

  @ParameterizedTest
  @EnumSource
  void aSearchOnTheTimelineCountsWhatTheReportCounts(Source shown) throws Exception {
    turnTo(shown);
    openTimeline(LONG);
    for (int i = 0; i < 6; i++) {
      changes(() -> browser.press("w"));
    }
    browser.press("/");
    browser.press("w200_00\\d$");
    browser.until("calls are counted", () -> browser.text(".bar").contains("calls of"));
    long calls = 0;
    long functions = 0;
    for (JsonNode row : report(LONG, 0, Long.MAX_VALUE).path("functions")) {
      boolean matches = row.path("name").asText().matches(".*w200_00\\d");
      calls += matches ? row.path("calls").asLong() : 0;
      functions += matches ? 1 : 0;
    }
    assertThat(functions).isPositive();
    assertThat(browser.text(".bar"))
        .contains("%,d calls of %,d function".formatted(calls, functions));
    assertThat(browser.address()).contains("search=w200_00");
    if (shown == Source.TRACE) { // the trees of a job keep the first calls
      enterGoesFromHitToHit(calls);
    }
    browser.screenshot("timeline-search");
  }

  /** Over all of the trace, from what is in sight on: each is the call that its number says. */
  private void enterGoesFromHitToHit(long calls) throws IOException {
    List<Long> enters = new ArrayList<>();
    for (JsonNode call : callsOf(LONG)) {
      if (call.path("function").asText().matches(".*w200_00\\d")) {
        enters.add(call.path("enter").asLong());
      }
    }
    Collections.sort(enters);
    assertThat(enters).hasSize(Math.toIntExact(calls));
    long begin = sight()[0];
    int first = (int) enters.stream().filter(enter -> enter < begin).count();
    for (int i = 0; i < 3; i++) {
      browser.press(Keys.ENTER);
      theHitAtHandIs((first + i) % enters.size(), enters);
    }
    browser.shift(Keys.ENTER);
    theHitAtHandIs((first + 1) % enters.size(), enters);
    browser.script("document.querySelector('.stage canvas').focus()");
    browser.press("n");
    theHitAtHandIs((first + 2) % enters.size(), enters);
    changes(() -> browser.press("0"));
    browser.shift("n");
    theHitAtHandIs((first + 1) % enters.size(), enters);
  }

  private void theHitAtHandIs(int at, List<Long> enters) {
    String says = "%,d of %,d · at %,d".formatted(at + 1, enters.size(), enters.get(at));
    browser.until(says, () -> browser.text(".bar").contains(says));
    browser.until(
        "it is in sight", () -> sight()[0] <= enters.get(at) && sight()[1] >= enters.get(at));
  }

  /** All calls of a core, of all its tasks. */
  private List<JsonNode> callsOf(String core) throws IOException {
    List<JsonNode> all = new ArrayList<>();
    Deque<JsonNode> todo = new ArrayDeque<>();
    for (JsonNode tree : JSON.readTree(said("graph", "--core", core, "--format", "json"))) {
      tree.path("calls").forEach(todo::add);
    }
    while (!todo.isEmpty()) {
      JsonNode call = todo.remove();
      all.add(call);
      call.path("children").forEach(todo::add);
    }
    return all;
  }

  @ParameterizedTest
  @EnumSource
  void thePagesOpenWhereTheFirstCallIs(Source shown) throws Exception {
    turnTo(shown);
    long first = Long.MAX_VALUE;
    for (JsonNode call : callsOf(ZOO)) {
      first = Math.min(first, call.path("enter").asLong());
    }
    openTimeline(ZOO);
    assertThat(sight()[0]).as("to a stretch").isBetween(first - span() / 600, first);
    browser.go("/?page=calls&core=" + ZOO);
    String text =
        String.valueOf(browser.script("return document.querySelector('pre').textContent"));
    assertThat(text.lines().filter(line -> !line.startsWith("#")).findFirst().orElseThrow())
        .contains(String.valueOf(first));
  }

  /** A deep recursion has its rows where it is, and none where it is not in sight. */
  @Test
  void rowsAreThoseInSightAndWhatIsFoldedStaysSo() {
    openTimeline(ZOO);
    long tall = tall();
    assertThat(tall).as("its recursion can be read").isGreaterThan(64 * 18L / 2);
    long end = sight()[1];
    browser.go("/?page=timeline&core=%s&from=%d&to=%d".formatted(ZOO, end - end / 20, end));
    browser.until("it is drawn", () -> drawn() > 0);
    assertThat(tall()).as("it is not in sight").isBetween(40L, 64 * 18L / 2);

    openTimeline(ZOO);
    browser.shift("o");
    browser.until("the core is folded", () -> tall() < 64);
    assertThat(browser.address()).contains("fold=");
    browser.go(browser.address());
    browser.until("it is folded again", () -> tall() > 0 && tall() < 64);
    WebElement canvas = browser.element(".stage canvas");
    browser
        .mouse()
        .moveToElement(canvas, 20 - canvas.getSize().width / 2, 36 - canvas.getSize().height / 2)
        .click()
        .perform();
    browser.until("it is unfolded", () -> tall() == tall);
    assertThat(browser.address()).doesNotContain("fold=");

    openTimeline("rtos-arm-mcount-0");
    browser.press(Keys.ARROW_RIGHT);
    browser.press("o");
    browser.until("a task is folded", () -> browser.address().contains("fold="));
    // the first picture has fewer lines than the one after it
    long[] last = {0, 0};
    browser.until(
        "its lines have come",
        () -> {
          long now = tall();
          last[1] = now == last[0] ? last[1] + 1 : 0;
          last[0] = now;
          return last[1] >= 10;
        });
    browser.press("o");
    browser.until("it is unfolded", () -> tall() > last[0]);
    assertThat(browser.address()).doesNotContain("fold=");
    browser.press("o");
    browser.until("it is folded again", () -> tall() == last[0]);
    browser.assertClean("folded");
  }

  /** Pixels that the picture takes, in sight or not. */
  private long tall() {
    return browser.number(
        "return Number(document.querySelector('.stage canvas')?.dataset.tall ?? 0)");
  }

  @Test
  void theMapMovesWhatIsInSight() throws Exception {
    openTimeline(LONG);
    for (int i = 0; i < 4; i++) {
      changes(() -> browser.press("w"));
    }
    browser.until("the map is there", () -> !mapped().equals("null"));
    long span = span();
    long begin = sight()[0];
    WebElement map = browser.element(".map canvas");
    int width = map.getSize().width;
    String[] part = mapped().split(" ", -1);
    int middle = (Integer.parseInt(part[0]) + Integer.parseInt(part[1])) / 2 - width / 2;
    changes(
        () ->
            browser
                .mouse()
                .moveToElement(map, middle, 0)
                .clickAndHold()
                .moveByOffset(200, 0)
                .release()
                .perform());
    assertThat(sight()[0]).isGreaterThan(begin + span / 2);
    assertThat(span()).isBetween(span - 2, span + 2);
    changes(() -> browser.mouse().moveToElement(map, 20 - width / 2, 0).click().perform());
    assertThat(sight()[0]).isLessThan(begin);
    browser.screenshot("timeline-map");
    browser.assertAccessible("timeline with its map");
  }

  private String mapped() {
    return String.valueOf(
        browser.script("return document.querySelector('.map canvas')?.dataset.sight ?? null"));
  }

  @ParameterizedTest
  @EnumSource
  void aCallTellsItsArguments(Source shown) {
    turnTo(shown);
    browser.go("/?page=timeline&search=%5Efib%24&core=" + ZOO);
    browser.until("calls are counted", () -> browser.text(".bar").contains("calls of"));
    browser.press("/");
    browser.press(Keys.ENTER);
    browser.until("its argument", () -> browser.text("#status").matches(".*fib\\(\\d+\\).*"));
    browser.assertClean("arguments");
  }

  @ParameterizedTest
  @EnumSource
  void anAnomalyLeadsToItsPlaceAndBack(Source shown) throws Exception {
    turnTo(shown);
    browser.go("/?page=anomalies&core=" + ZOO);
    JsonNode said = JSON.readTree(said("anomalies", "--core", ZOO, "--format", "json"));
    assertThat(said).isNotEmpty();
    assertThat(browser.number("return document.querySelectorAll('.card').length"))
        .isEqualTo(said.size());
    JsonNode first = said.get(0);
    assertThat(browser.text(".card"))
        .contains(first.path("kind").asText(), first.path("cause").asText())
        .contains(first.path("cure").asText(), grouped(first.path("time")));
    if (first.path("kind").asText().contains("MISMATCH")) {
      assertThat(browser.text(".card"))
          .contains(first.path("expected").asText(), first.path("received").asText());
    }
    browser.screenshot("anomalies");
    browser.click("On the timeline");
    browser.until("the timeline is there", () -> drawn() > 0);
    long time = first.path("time").asLong();
    assertThat(sight()[0]).isLessThanOrEqualTo(time);
    assertThat(sight()[1]).isGreaterThanOrEqualTo(time);
    browser.script("document.querySelector('.stage canvas').focus()");
    browser.press("m");
    browser.until("it is named", () -> browser.text("#status").contains("anomal"));
    browser.press(Keys.ENTER);
    browser.until("back at the anomalies", () -> !browser.text(".card").isEmpty());
    assertThat(browser.text(".groups")).contains(first.path("kind").asText());
    browser.assertClean("anomalies");
  }

  /** The program zoo runs on two ISAs in one session here, and on others in others. */
  @ParameterizedTest
  @EnumSource
  void aFunctionOfSeveralImagesIsOneRowUntilTheyArePutApart(Source shown) throws Exception {
    turnTo(shown);
    browser.go("/?page=functions&search=%5Ew200_001%24");
    List<JsonNode> functions = named("w200_001");
    List<JsonNode> grouped =
        functions.stream().filter(row -> row.path("images").asInt() == 2).toList();
    assertThat(grouped).hasSize(1);
    browser.until(
        "the rows are there", () -> browser.rows("Functions", 12).size() == functions.size());
    assertThat(browser.rows("Functions", 12))
        .anySatisfy(
            row ->
                assertThat(row)
                    .contains(
                        grouped(grouped.getFirst().path("calls")), "2 ISAs", "zoo, 2 images"));
    browser.screenshot("functions-grouped");
    browser.element("table[aria-label=Functions] tbody tr:not(.space)").click();
    browser.until("its callers", () -> !browser.rows("Caller", 1).isEmpty());
    assertThat(browser.rows("Caller", 1)).as("one for all images").doesNotHaveDuplicates();
    choose("of each image");
    int images = named("w200_001", "--by-image").size();
    assertThat(images).isEqualTo(functions.size() + 1);
    browser.until("a row of each", () -> browser.rows("Functions", 12).size() == images);
    assertThat(browser.rows("Functions", 12).stream().flatMap(List::stream))
        .contains("x86_64", "aarch64");
    assertThat(browser.address()).contains("rows=by-image");
    browser.screenshot("functions-by-image");
    browser.go("/?page=anomalies");
    browser.until("groups", () -> !browser.text(".card").isEmpty());
    assertThat(browser.number("return document.querySelectorAll('.card').length"))
        .isEqualTo(JSON.readTree(said("anomalies", "--format", "json")).size());
    browser.screenshot("anomalies-grouped");
    choose("of each image");
    int apart = JSON.readTree(said("anomalies", "--by-image", "--format", "json")).size();
    browser.until(
        "a card of each",
        () -> browser.number("return document.querySelectorAll('.card').length") == apart);
    browser.assertClean("functions and anomalies of images");
  }

  /** What the report says of a function: a row of each session. */
  private List<JsonNode> named(String name, String... more) throws IOException {
    List<String> words = new ArrayList<>(List.of("--format", "json"));
    words.addAll(Arrays.asList(more));
    List<JsonNode> rows = new ArrayList<>();
    for (JsonNode row :
        JSON.readTree(said("report", words.toArray(String[]::new))).path("functions")) {
      if (row.path("name").asText().equals(name)) {
        rows.add(row);
      }
    }
    return rows;
  }

  private void choose(String option) {
    for (WebElement one : browser.element(".bar").findElements(By.tagName("option"))) {
      if (one.getText().equals(option)) {
        one.click();
        return;
      }
    }
    throw new AssertionError("no option " + option);
  }

  @ParameterizedTest
  @EnumSource
  void functionsAreThoseOfTheReport(Source shown) throws Exception {
    turnTo(shown);
    browser.go("/?page=functions&core=" + ZOO);
    JsonNode report = report(ZOO, 0, Long.MAX_VALUE);
    List<List<String>> rows = browser.rows("Functions", 4);
    assertThat(rows).hasSizeGreaterThan(15);
    List<List<String>> all = bySelf(report);
    assertThat(all).containsAll(rows);
    assertThat(rows.getFirst().get(2)).isEqualTo(all.getFirst().get(2));
    assertThat(browser.text(".facts"))
        .contains(grouped(report.path("records")) + " records")
        .contains("%,d functions".formatted(report.path("functions").size()));
    browser.script("document.querySelector('.table').focus()");
    browser.press(Keys.END);
    browser.until("the last row", () -> browser.rows("Functions", 4).contains(all.getLast()));
    browser.press(Keys.HOME, Keys.ENTER);
    browser.until("its callers", () -> !browser.rows("Caller", 3).isEmpty());
    String name = browser.rows("Functions", 1).getFirst().getFirst();
    List<List<String>> callers = new ArrayList<>();
    for (JsonNode edge : report.path("edges")) {
      if (edge.path("callee").asText().equals(name)) {
        callers.add(
            List.of(
                edge.path("caller").asText(),
                grouped(edge.path("calls")),
                grouped(edge.path("total"))));
      }
    }
    assertThat(browser.rows("Caller", 3)).containsExactlyInAnyOrderElementsOf(callers);
    durationsAreThoseOfTheCalls(name);
    browser.screenshot("functions");
    browser.assertClean("functions");
    browser.press("/");
    browser.press("quick");
    browser.until(
        "only those", () -> browser.rows("Functions", 1).equals(List.of(List.of("quicksort"))));
  }

  /** Percentiles are exact up to a sixteenth. */
  private void durationsAreThoseOfTheCalls(String function) throws IOException {
    browser.until("its durations", () -> !browser.text(".durations").isEmpty());
    List<Long> took = new ArrayList<>();
    Deque<JsonNode> todo = new ArrayDeque<>();
    for (JsonNode tree : JSON.readTree(said("graph", "--core", ZOO, "--format", "json"))) {
      tree.path("calls").forEach(todo::add);
    }
    while (!todo.isEmpty()) {
      JsonNode call = todo.remove();
      if (call.path("function").asText().equals(function) && call.path("exit").isNumber()) {
        took.add(call.path("exit").asLong() - call.path("enter").asLong());
      }
      call.path("children").forEach(todo::add);
    }
    Collections.sort(took);
    List<String> shown = List.of(browser.text(".durations").replace(",", "").split("\\s+", -1));
    for (int percent : List.of(50, 90, 95, 99)) {
      long exact = took.get((int) Math.ceil(took.size() * percent / 100.0) - 1);
      long said = Long.parseLong(shown.get(shown.indexOf("p" + percent) + 1));
      assertThat(said).as("p%d", percent).isBetween(exact, exact + exact / 16);
    }
    assertThat(shown).containsSequence("Least", took.getFirst().toString());
    assertThat(shown).containsSequence("Most", took.getLast().toString());
    assertThat(browser.text(".side")).contains("%,d calls.".formatted(took.size()));
  }

  @ParameterizedTest
  @EnumSource
  void callsAreTheTextOfTheCommandAndArePaged(Source shown) throws Exception {
    turnTo(shown);
    browser.go("/?page=calls&core=" + ZOO + "&from=1000&to=3000");
    String text =
        String.valueOf(browser.script("return document.querySelector('pre').textContent"));
    assertThat(text)
        .isEqualTo(said("graph", "--core", ZOO, "--from", "1000", "--to", "3000"))
        .contains("() {");
    browser.screenshot("calls");
    browser.press("]");
    browser.until("the time after", () -> browser.text(".bar").contains("time 3,000 to 5,000"));
    assertThat(browser.address()).contains("from=3000&to=5000");
    browser.press("[");
    browser.until("the time before", () -> browser.text(".bar").contains("time 1,000 to 3,000"));
    browser.press("c");
    browser.until("the command", () -> browser.text("#line").contains("--from 1000 --to 3000"));
    String begin = source == Source.JOB ? "--live --http http://127.0.0.1:" : whole.toString();
    assertThat(browser.text("#line")).startsWith("retstack graph " + begin);
    browser.press(Keys.ESCAPE);
    browser.assertClean("calls");
  }

  @Test
  void everyPageIsAccessibleInLightAndDarkAndTheFleetIsNarrow() throws Exception {
    for (boolean dark : List.of(false, true)) {
      browser.prefersDark(dark);
      for (int i = 0; i < PAGES.size(); i++) {
        String page = PAGES.get(i);
        if (!ALL && i % 2 == (dark ? 0 : 1)) {
          continue; // in the other light
        }
        browser.go("/?page=" + page + (page.equals("timeline") ? "&core=rtos-arm-mcount-0" : ""));
        browser.assertAccessible(page + (dark ? " dark" : ""));
        browser.assertClean(page);
        browser.screenshot(page + (dark ? "-dark" : "-whole"));
      }
    }
    browser.prefersDark(false);
    browser.size(390, 844);
    for (String page : List.of("fleet", "anomalies")) {
      browser.go("/?page=" + page);
      assertThat(browser.number("return document.documentElement.scrollWidth")).isEqualTo(390);
      assertThat(browser.number("return document.querySelector('.table')?.scrollWidth ?? 0"))
          .as("columns that are there can be seen")
          .isLessThanOrEqualTo(390);
      browser.screenshot(page + "-390");
    }
    aPhoneHasRoomForThePage();
    browser.size(1280, 800);
    browser.go("/?page=fleet");
    JsonNode cores = JSON.readTree(said("cores", "--format", "json")).path("cores");
    assertThat(browser.rows("Cores", 1)).hasSize(cores.size());
    List<String> heads = heads("Cores");
    assertThat(
            browser.rows("Cores", heads.size()).stream()
                .map(row -> cells(row, heads, "Records", "Anomalies", "Depth", "Lag", "Image"))
                .map(row -> row.stream().map(PagesTest::cut).toList())
                .toList())
        .containsExactlyInAnyOrderElementsOf(
            cores
                .valueStream()
                .map(
                    core ->
                        List.of(
                            grouped(core.path("records")),
                            grouped(core.path("anomalies")),
                            grouped(core.path("open")),
                            "0", // all of it was awaited
                            cut(core.path("imageName").asText())))
                .toList());
    browser.press("?");
    browser.until("keys are named", () -> browser.text("dialog").contains("command for the same"));
    browser.press(Keys.ESCAPE);
  }

  /** The head is one line, what is in it is reached, and a table that is cut fades out there. */
  private void aPhoneHasRoomForThePage() throws IOException {
    browser.go("/?page=functions");
    assertThat(browser.number("return document.getElementById('top').offsetHeight"))
        .isLessThanOrEqualTo(48);
    assertThat(browser.element("#command").isDisplayed()).isFalse();
    browser.element("#more").click();
    assertThat(browser.element("#command").isDisplayed()).isTrue();
    browser.assertAccessible("tools on a phone");
    browser.until(
        "it says that it is cut",
        () -> browser.number("return document.querySelectorAll('.table.cut-right').length") == 1);
    browser.script("document.querySelector('.table').scrollLeft = 10000");
    browser.until(
        "it says where",
        () ->
            browser.number("return document.querySelectorAll('.table.cut-left').length") == 1
                && browser.number("return document.querySelectorAll('.table.cut-right').length")
                    == 0);
    browser.screenshot("functions-390");
  }

  /**
   * Each value that a curve tells, read by keys, is that of HTTP; together they are the records of
   * the cores.
   */
  @Test
  void theCurvesOfTheFleetAreThePastOfTheJob() throws Exception {
    browser.go("/?page=fleet");
    try (HttpClient client = HttpClient.newHttpClient()) {
      double applied =
          get(client, "/metrics")
              .body()
              .lines()
              .filter(line -> line.startsWith("retstack_applied_records_total{"))
              .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
              .sum();
      browser.until(
          "all records are in slots that are over", () -> sum(past(), "records") == applied);
    }
    long known = past().size();
    browser.until(
        "the page knows them",
        () -> Long.parseLong(plot("Records over time", "aria-valuemax")) >= known - 1);
    JsonNode past = past();
    assertThat(sum(past, "lost")).isPositive();
    browser.script("document.querySelector('.plot').focus()");
    browser.press(Keys.HOME);
    List<String> seen = new ArrayList<>();
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < known; i++) {
      for (String curve : List.of("Records", "Lag", "Lost", "Checkpoints")) {
        seen.add(plot(curve + " over time", "aria-valuetext"));
      }
      JsonNode slot = past.get(i);
      expected.add(rate(slot.path("records")));
      expected.add(slot.has("lag") ? grouped(slot.path("lag")) : "unknown");
      expected.add(slot.has("lost") ? grouped(slot.path("lost")) : "unknown");
      expected.add(rate(slot.path("checkpointBytes")));
      browser.press(Keys.ARROW_RIGHT);
    }
    assertThat(seen.stream().map(text -> text.split(" ", 2)[0]).toList()).isEqualTo(expected);
    browser.screenshot("fleet-curves");
    browser.press(Keys.ESCAPE);
    assertThat(plot("Records over time", "aria-valuetext")).doesNotContain(" at ");
    assertThat(browser.text(".curves"))
        .contains("records/s", "chunks behind", "records in all", "bytes/s", "% CPU");
    browser.assertAccessible("curves");
    browser.assertClean("curves");
  }

  /** What a curve says to those who do not see it. */
  private String plot(String label, String attribute) {
    return browser.element(".plot[aria-label='%s']".formatted(label)).getDomAttribute(attribute);
  }

  private JsonNode past() {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return JSON.readTree(get(client, "/history").body()).path("history");
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static long sum(JsonNode slots, String field) {
    return slots.valueStream().mapToLong(slot -> slot.path(field).asLong()).sum();
  }

  /** A second of what was counted in five. */
  private static String rate(JsonNode counted) {
    return "%,d".formatted(Math.round(counted.asLong() / 5.0));
  }

  /** The icicle and the differences of a trace, which has neither a fleet nor a control. */
  @Test
  void thePagesOfATraceShowItsCores() throws Exception {
    turnTo(Source.TRACE);
    for (String page : List.of("Fleet", "Control")) {
      browser.go("/?page=" + page.toLowerCase(Locale.ROOT));
      assertThat(browser.text("#about")).startsWith("Trace ");
      assertThat(browser.text("#nav")).contains("Timeline", "Compare").doesNotContain(page);
      assertThat(browser.text("main")).contains("A recorded trace has no page " + page);
      browser.assertAccessible(page);
      browser.element("main .notice a").click();
      browser.until("it leads back", () -> browser.address().contains("page=timeline"));
    }
    browser.go("/?page=flame&core=" + LONG);
    browser.until("it is drawn", () -> boxes() > 100);
    assertThat(browser.text("#status"))
        .startsWith("%,d calls".formatted(calls(report(LONG, 0, Long.MAX_VALUE))));
    browser.screenshot("trace-flame");
    theFlameOfAllIsTheReport();
    theSandwichHasTheEdgesOfTheReport("sort_partition");
    whatIsLeftOutOpens();
    browser.go("/?page=compare&core=zoo-x86_64-fentry-0&core2=zoo-x86_64-fentry-1");
    assertThat(browser.text("#status")).startsWith("0 of ");
    assertThat(browser.text(".facts")).contains("B − A: 0 % time, 0 % calls");
    theDifferencesAreInPercentToo();
    theDifferencesAreThoseOfTheTrees();
    browser.assertClean("the pages of a trace");
  }

  /** Where a picture begins a little before 0, too. */
  @Test
  void noTimeIsMinusZero() {
    String numbers =
        """
        const file = performance.getEntriesByType('resource')
          .map((one) => one.name).find((name) => name.endsWith('/format.js'));
        return import(file).then(({ number, time }) =>
          [number(-0), number(-0.3), number(-7), time(-0, 'INSTRUCTIONS'), time(-0, 'NANOSECONDS')]);
        """;
    browser.go("/?page=timeline");
    assertThat(browser.script(numbers)).isEqualTo(List.of("0", "0", "-7", "0 insn", "0 ns"));
  }

  @Test
  @Order(Integer.MAX_VALUE) // the others need the broker
  void theLagIsUnknownWhileTheBrokerIsAway() throws Exception {
    int port = Integer.parseInt(broker.bootstrap().replaceFirst(".*:", ""));
    browser.go("/?page=fleet");
    int lag = heads("Cores").indexOf("Lag");
    assertThat(column("Cores", lag)).isNotEmpty().containsOnly("0");
    broker.close();
    browser.until("it says so", () -> column("Cores", lag).contains("unknown"));
    broker = EmbeddedBroker.start(folder.resolve("broker"), port);
    browser.until("it is known again", () -> !column("Cores", lag).contains("unknown"));
    browser.forgetLog();
  }

  @Test
  void tenThousandCoresAreSortedAndFiltered(@TempDir Path dir) throws Exception {
    int many = 10_000;
    Path file = ManyCores.write(dir.resolve("many.avro"), many);
    try (Pipeline job = Applied.start(broker.bootstrap(), new Topics("many"), file)) {
      browser.turnTo(job.httpUri());
      browser.go("/?page=fleet");
      assertThat(browser.text(".facts")).contains("10,000 cores");
      List<String> heads = heads("Cores");
      for (String head : List.of("Anomalies", "Depth")) {
        sortBy(heads.indexOf(head));
        assertThat(column("Cores", heads.indexOf(head)))
            .hasSizeBetween(20, 100)
            .containsOnly(head.equals("Depth") ? "4" : "6");
        sortBy(heads.indexOf(head));
        assertThat(column("Cores", heads.indexOf(head))).containsOnly("0");
      }
      browser.press("/");
      browser.press("core-0777");
      browser.until("few are left", () -> browser.text("#status").startsWith("10 of 10,000"));
      browser.script("document.querySelector('select').focus()");
      browser.press("with anomalies");
      browser.until("fewer are left", () -> browser.text("#status").startsWith("8 of 10,000"));
      assertThat(browser.address()).contains("only=anomalies").contains("search=core-0777");
      assertThat(browser.rows("Cores", 1)).hasSize(8).doesNotContain(List.of("core-07770"));
      long rows = browser.number("return document.querySelectorAll('tbody tr').length");
      assertThat(rows).isLessThan(100);
      browser.screenshot("fleet-10000");
      browser.assertAccessible("fleet of 10,000");
      browser.assertClean("fleet of 10,000");
      long[] took = {browser.longest("rows-sorted"), browser.longest("rows-filtered")};
      System.out.printf(
          "fleet of 10,000 cores: longest sort %d ms, longest filter %d ms, answer %d bytes%n",
          took[0],
          took[1],
          browser.number(
              "return performance.getEntriesByType('resource')"
                  + ".filter((one) => one.name.includes('/cores'))[0].encodedBodySize"));
    }
  }

  private void sortBy(int column) {
    browser.script(
        "document.querySelectorAll('table[aria-label=Cores] th button')[arguments[0]].click()",
        column);
  }

  private List<String> heads(String table) {
    @SuppressWarnings("unchecked")
    List<String> heads =
        (List<String>)
            browser.script(
                "return [...document.querySelectorAll(`table[aria-label=\"${arguments[0]}\"] th`)]"
                    + ".map((head) => head.innerText.replace(/[▲▼]/g, '').trim())",
                table);
    return heads;
  }

  private static List<String> cells(List<String> row, List<String> heads, String... wanted) {
    return Stream.of(wanted).map(head -> row.get(heads.indexOf(head))).toList();
  }

  private List<String> column(String table, int at) {
    return browser.rows(table, at + 1).stream().map(row -> row.get(at)).toList();
  }

  private void theFlameOfAllIsTheReport() throws Exception {
    stacksAreTheReport("", JSON.readTree(said("report", "--format", "json")));
    JsonNode ofLong = report(LONG, 0, Long.MAX_VALUE);
    stacksAreTheReport("&core=" + LONG, ofLong);
    long last = 0;
    for (JsonNode tree : JSON.readTree(said("graph", "--core", LONG, "--format", "json"))) {
      for (JsonNode call : tree.path("calls")) {
        last = Math.max(last, call.path("exit").asLong());
      }
    }
    assertThat(last).isPositive();
    stacksAreTheReport(
        "&core=%s&from=%d&to=%d".formatted(LONG, last / 3, last / 2),
        report(LONG, last / 3, last / 2));
    browser.go("/?page=flame");
    browser.until("it is drawn", () -> boxes() > 100);
    browser.script("document.querySelector('.stage canvas').focus()");
    browser.press(Keys.ARROW_DOWN);
    browser.until("the greatest is chosen", () -> browser.text("#status").contains(" of all"));
    assertThat(browser.text(".bar .left")).as("all calls are shown").doesNotContain("later");
    browser.go("/?page=flame&apart=task");
    browser.until("it is drawn apart", () -> boxes() > 100);
    assertThat(browser.number(BYTES)).as("bytes of the answer").isLessThan(1_000_000);
  }

  /** A box [left out] stands for what is in the node around it: that opens. */
  private void whatIsLeftOutOpens() throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      List<Map<String, String>> few = rows(get(client, "/stacks?limit=20&format=csv").body());
      Map<String, String> leftOut =
          few.stream().filter(row -> !row.get("in").isEmpty()).findFirst().orElseThrow();
      Map<String, String> around = few.get(Integer.parseInt(leftOut.get("parent")));
      String in = leftOut.get("in");
      Map<String, String> root = rows(get(client, "/stacks?format=csv&in=" + in).body()).getFirst();
      for (String column : List.of("function", "calls", "total", "self")) {
        assertThat(root.get(column)).as(column).isEqualTo(around.get(column));
      }
      HttpResponse<String> nowhere = get(client, "/stacks?in=xyz");
      assertThat(nowhere.statusCode()).isEqualTo(400);
      assertThat(nowhere.body()).contains("in=xyz is no place of a stack");
      browser.go("/?page=flame&inside=" + in);
      browser.until("it is drawn", () -> boxes() > 1);
      browser.script("document.querySelector('.stage canvas').focus()");
      browser.press(Keys.ESCAPE);
      browser.until("the whole again", () -> !browser.address().contains("inside="));
      browser.go("/?page=flame&inside=1");
      browser.until("the whole where it is not there", () -> boxes() > 100);
      assertThat(browser.address()).doesNotContain("inside=");
    }
  }

  /** Calls and self time of each function are those of the report, whatever its callers are. */
  private void stacksAreTheReport(String of, JsonNode report) throws Exception {
    Map<String, List<Long>> stacks = new TreeMap<>();
    try (HttpClient client = HttpClient.newHttpClient()) {
      JsonNode all = JSON.readTree(get(client, "/stacks?limit=1" + of).body());
      assertThat(all.path("notKept").asLong()).isZero();
      String csv = get(client, "/stacks?limit=1000000&format=csv" + of).body();
      for (Map<String, String> row : rows(csv)) {
        if (!row.get("parent").isEmpty()) { // all of them together are no function
          long calls = Long.parseLong(row.get("calls"));
          long self = Long.parseLong(row.get("self"));
          stacks.merge(row.get("function"), List.of(calls, self), PagesTest::plus);
        }
      }
    }
    Map<String, List<Long>> functions = new TreeMap<>();
    for (JsonNode row : report.path("functions")) {
      functions.merge(
          Visible.lines(row.path("name").asText()), // as CSV has them
          List.of(row.path("calls").asLong(), row.path("self").asLong()),
          PagesTest::plus);
    }
    assertThat(stacks).as("stacks %s", of).containsAllEntriesOf(functions);
  }

  private static List<Map<String, String>> rows(String csv) throws IOException {
    return new CsvMapper()
        .readerForMapOf(String.class)
        .with(CsvSchema.emptySchema().withHeader())
        .<Map<String, String>>readValues(csv)
        .readAll();
  }

  private static List<Long> plus(List<Long> a, List<Long> b) {
    return List.of(a.get(0) + b.get(0), a.get(1) + b.get(1));
  }

  private static long calls(JsonNode report) {
    return report
        .path("functions")
        .valueStream()
        .mapToLong(row -> row.path("calls").asLong())
        .sum();
  }

  private void theSandwichHasTheEdgesOfTheReport(String function) throws IOException {
    browser.go("/?page=flame&core=" + ZOO + "&of=" + function);
    for (boolean callers : List.of(true, false)) {
      List<List<String>> edges = new ArrayList<>();
      for (JsonNode edge : report(ZOO, 0, Long.MAX_VALUE).path("edges")) {
        if (edge.path(callers ? "callee" : "caller").asText().equals(function)) {
          String other = edge.path(callers ? "caller" : "callee").asText();
          edges.add(List.of(other, grouped(edge.path("calls"))));
        }
      }
      assertThat(edges).isNotEmpty();
      assertThat(browser.rows(callers ? "Caller" : "Callee", 2))
          .containsExactlyInAnyOrderElementsOf(edges);
    }
    browser.script("document.querySelector('.stage canvas').focus()");
    browser.press(Keys.ARROW_UP);
    browser.until("a caller is chosen", () -> browser.text("#status").contains("brings "));
    browser.screenshot("trace-sandwich");
    browser.assertAccessible("sandwich");
    browser.assertClean("sandwich");
    browser.press(Keys.ARROW_DOWN);
    browser.press(Keys.ESCAPE);
    browser.until("the whole again", () -> !browser.address().contains("of="));
  }

  private void theDifferencesAreInPercentToo() throws IOException {
    browser.go("/?page=compare&core=" + ZOO + "&core2=" + LONG);
    List<String> heads = heads("Differences");
    JsonNode first = report(ZOO, 0, Long.MAX_VALUE);
    long self = first.path("functions").valueStream().mapToLong(r -> r.path("self").asLong()).sum();
    assertThat(self).isPositive();
    assertThat(browser.text(".facts")).contains("A: ", "%,d calls".formatted(calls(first)), " %");
    for (List<String> row : browser.rows("Differences", heads.size())) {
      List<String> both = cells(row, heads, "Self A", "Self B", "B − A, %");
      long a = Long.parseLong(both.get(0).replace(",", ""));
      long b = Long.parseLong(both.get(1).replace(",", ""));
      if (a == 0 || b == 0) {
        assertThat(both.get(2)).isEqualTo(a == b ? "0 %" : a == 0 ? "only B" : "only A");
      } else {
        double share = Double.parseDouble(both.get(2).replaceAll("[+ %,]", "").replace('−', '-'));
        double exact = 100.0 * (b - a) / a;
        double spare = 0.011 + Math.abs(exact) / 999;
        assertThat(share).isBetween(exact - spare, exact + spare);
      }
    }
  }

  @Test
  void oneCoreIsComparedAfterAMerge(@TempDir Path dir) throws Exception {
    Path one = record(dir, "one", "--image", "zoo-x86_64-fentry");
    try (TraceServer server = TraceServer.start(one, LateSymbols.NONE, HttpSettings.LOCAL)) {
      browser.turnTo(server.uri());
      browser.open("/?page=compare");
      browser.until(
          "it says how", () -> browser.text("main").contains("retstack merge old.avro new.avro"));
      browser.assertAccessible("nothing to compare");
    }
  }

  /** The name that is shown stays; a search, an address and a card know the others, too. */
  @Test
  void aFunctionIsFoundByItsOtherNames(@TempDir Path dir) throws Exception {
    Path named = record(dir, "named", "--image", NamedProgram.build(dir).toString());
    try (TraceServer server = TraceServer.start(named, LateSymbols.NONE, HttpSettings.LOCAL)) {
      browser.turnTo(server.uri());
      browser.go("/?page=functions&search=%5Euno%24");
      browser.until(
          "only that", () -> browser.rows("Functions", 1).equals(List.of(List.of("one"))));
      browser.go("/?page=functions&open=frail");
      browser.until("it is open", () -> browser.text(".side h2").equals("strong"));
      assertThat(browser.text(".side dl")).contains("Also named", "frail");
      browser.go("/?page=timeline&search=%5Euno%24");
      browser.until("its calls are found", () -> browser.text(".panel, main").contains("4 calls"));
      browser.go("/?page=flame&search=%5Euno%24");
      browser.until("its boxes are found", () -> browser.text("main").contains("4 calls in"));
      browser.go("/?page=flame&of=uno");
      browser.until("its callers", () -> browser.text(".side h2").equals("one"));
      browser.assertClean("other names");
    }
  }

  private void theDifferencesAreThoseOfTheTrees() throws IOException {
    browser.go("/?page=compare&as=icicle&core=" + ZOO + "&core2=" + LONG);
    browser.until("it is drawn", () -> boxes() > 100);
    browser.script("document.querySelector('.stage canvas').focus()");
    browser.press(Keys.ARROW_DOWN);
    browser.until("the greatest is chosen", () -> browser.text("#status").contains("B − A"));
    String[] said = browser.text("#status").replace(",", "").split(" · ", -1);
    for (boolean first : List.of(true, false)) {
      String core = first ? ZOO : LONG;
      long calls = 0;
      for (JsonNode tree : JSON.readTree(said("graph", "--core", core, "--format", "json"))) {
        for (JsonNode call : tree.path("calls")) {
          calls += call.path("function").asText().equals(said[0]) ? 1 : 0;
        }
      }
      assertThat(said[first ? 1 : 2]).startsWith("%s: %d call".formatted(first ? "A" : "B", calls));
    }
    browser.screenshot("trace-differences");
    browser.assertAccessible("differences");
    browser.assertClean("differences");
    browser.prefersDark(true);
    browser.screenshot("trace-differences-dark");
    browser.prefersDark(false);
  }

  @Test
  void aPageAsksForTheTokenAndKeepsItInItsTab(@TempDir Path dir) throws Exception {
    String secret = "a-token-of-the-test-" + System.nanoTime();
    HttpToken token = HttpToken.read(Files.writeString(dir.resolve("token"), secret));
    try (TraceServer guarded =
        TraceServer.start(whole, LateSymbols.NONE, HttpSettings.LOCAL.token(token))) {
      browser.turnTo(guarded.uri());
      browser.open("/?page=functions");
      browser.until("it asks", () -> browser.text("dialog").contains("needs a token"));
      browser.assertAccessible("token");
      browser.press("a-token-that-is-wrong", Keys.ENTER);
      browser.until("it asks again", () -> browser.text("dialog").contains("needs a token"));
      browser.press(secret, Keys.ENTER);
      browser.until("they are there", () -> !browser.rows("Functions", 1).isEmpty());
      browser.go("/?page=anomalies");
      assertThat(browser.text("dialog")).isEmpty();
      assertThat(browser.script("return [localStorage.getItem('retstack-token'), document.cookie]"))
          .isEqualTo(Arrays.asList(null, ""));
    } finally {
      browser.forgetLog(); // a refused question is an error to Chromium
    }
  }

  private long boxes() {
    return browser.number(
        "return Number(document.querySelector('.stage canvas')?.dataset.boxes ?? 0)");
  }

  @Test
  void hostileNamesStayText() {
    String core = URLEncoder.encode(EVIL, StandardCharsets.UTF_8).replace("+", "%20");
    for (String page : PAGES) {
      browser.go("/?page=" + page + "&core=" + core);
      assertThat(browser.script("return window.evil ?? null")).as(page).isNull();
      assertThat(browser.number("return document.querySelectorAll('img, main script').length"))
          .as(page)
          .isZero();
      String text = browser.text("body");
      assertThat(text).as(page).contains("<img src=x").doesNotContain("no core");
      Object obeyed =
          browser.script(
              "return [...document.querySelectorAll('body *')].flatMap((one) =>"
                  + " [one.title ?? '', ...[...one.childNodes].filter((kid) => kid.nodeType === 3)"
                  + ".map((kid) => kid.data)]).filter((text) => text.length > 200000 ||"
                  + " /[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u200b-\\u200f\\u2028-\\u202e"
                  + "\\u2066-\\u2069]/.test(text)).map((text) => text.slice(0, 80))");
      assertThat((List<?>) obeyed).as(page).isEmpty();
      browser.assertClean(page);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aHostileSourceLineIsText(Source shown) throws Exception {
    turnTo(shown);
    String evil = URLEncoder.encode(EVIL, StandardCharsets.UTF_8).replace("+", "%20");
    for (String place : List.of("functions&open=", "flame&of=")) {
      browser.go("/?page=" + place + evil + "&core=" + evil);
      browser.until("its source: " + place, () -> browser.text(".side").contains("Source"));
      assertThat(browser.text(".side"))
          .as(place)
          .containsPattern(
              "Source:?\\s+<img src=x onerror=\"window.evil=1\">.*javascript:evil:1\n");
      assertThat(browser.script("return window.evil ?? null")).as(place).isNull();
      browser.assertClean(place);
    }
    browser.assertAccessible("source line");
  }

  @Test
  void filesAreKeptForGoodAndThePolicyIsStrict() throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpResponse<String> page = get(client, "/");
      assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
          .contains("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'")
          .doesNotContain("unsafe");
      assertThat(page.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
      assertThat(page.headers().firstValue("Access-Control-Allow-Origin")).isEmpty();
      String tag = page.headers().firstValue("ETag").orElseThrow();
      String version = tag.replace("\"", "");
      String script = "/web/" + version + "/app.js";
      assertThat(page.body()).contains(script);
      HttpRequest packed =
          HttpRequest.newBuilder(URI.create(http + script))
              .header("Accept-Encoding", "br, gzip;q=0.5")
              .build();
      HttpResponse<InputStream> file = client.send(packed, BodyHandlers.ofInputStream());
      assertThat(file.headers().firstValue("Content-Encoding")).contains("gzip");
      HttpResponse<String> plain = get(client, script, "Accept-Encoding", "gzip;q=0, *");
      assertThat(plain.headers().firstValue("Content-Encoding")).isEmpty();
      try (InputStream unpacked = new GZIPInputStream(file.body())) {
        assertThat(new String(unpacked.readAllBytes(), StandardCharsets.UTF_8))
            .isEqualTo(plain.body());
      }
      assertThat(file.headers().firstValue("Cache-Control").orElseThrow()).contains("immutable");
      assertThat(get(client, script, "If-None-Match", tag).statusCode()).isEqualTo(304);
      for (String none : List.of("/web/0/app.js", "/web/" + version + "/none.js", "/web/x")) {
        HttpResponse<String> refused = get(client, none);
        assertThat(refused.statusCode()).as(none).isEqualTo(404);
        assertThat(JSON.readTree(refused.body()).path("cure").asText()).isNotEmpty();
      }
    }
  }

  private HttpResponse<String> get(HttpClient client, String path, String... header)
      throws Exception {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(http + path));
    if (header.length > 0) {
      request.headers(header);
    }
    return client.send(request.build(), BodyHandlers.ofString());
  }

  @Test
  void theFilesAreSmall() {
    browser.go("/");
    assertThat(
            browser.number(
                "return performance.getEntriesByType('resource').filter((one) =>"
                    + " one.name.includes('/web/')).reduce((sum, one) => sum + one.decodedBodySize, 0)"))
        .isBetween(50_000L, 500_000L);
  }
}
