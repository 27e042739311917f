package dev.retstack.cli.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.retstack.cli.Applied;
import dev.retstack.cli.ClassArchive;
import dev.retstack.cli.Ran;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.cli.house.Repository;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.PipelineService;
import dev.retstack.service.kafka.KafkaSettings;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Figures of the pages for BENCHMARKS.md, of a recorded trace and of a running job. They are as
 * large as the system properties say; nothing is asserted of a time.
 */
@EnabledIfSystemProperty(
    named = "retstack.figures.rounds",
    matches = ".+",
    disabledReason = "long form: ./retstack test --campaign page-figures")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(3600)
class PageFiguresTest {
  /** Rounds of {@code w200} on each core, of some 49 calls each. */
  private static final String ROUNDS = System.getProperty("retstack.figures.rounds", "100");

  private static final int CORES = Integer.getInteger("retstack.figures.cores", 20);
  private static final int FLEET = Integer.getInteger("retstack.figures.fleet", 200);
  private static final int STEPS = Integer.getInteger("retstack.figures.steps", 1);
  private static final int VIEWERS = Integer.getInteger("retstack.figures.viewers", 2);
  private static final int WATCH_MS = Integer.getInteger("retstack.figures.watch", 1000);

  private static final String IMAGE = "zoo-x86_64-fentry";

  /** How often a page that follows asks, as in timeline.js. */
  private static final long POLL_MS = 2000;

  private Browser browser;

  @BeforeAll
  void aBrowser() {
    assumeTrue(
        Browser.isThere(),
        "no chromium and chromedriver in the path: apt-get install chromium chromium-driver");
    browser = Browser.open(URI.create("http://127.0.0.1/"));
    browser.waitsAtMost(Duration.ofMinutes(3)); // Flame of all of a large trace
  }

  @AfterAll
  void close() {
    if (browser != null) {
      browser.close();
    }
  }

  @Test
  void ofARecordedTrace(@TempDir Path dir) throws Exception {
    Path file = dir.resolve("eight.avro");
    Ran.well(
        "record", "-o", file.toString(), "--image", IMAGE, "--cores", "8", "--", "w200", ROUNDS);
    Process view = view(file);
    try (BufferedReader out = view.inputReader()) {
      browser.turnTo(URI.create(out.readLine()));
      measure("a trace, one core", "/?page=timeline&core=" + IMAGE + "-0");
      measure("a trace, eight cores", "/?page=timeline");
      flame("all of a trace", "/?page=flame", view.toHandle());
      flame("one core of it", "/?page=flame&core=" + IMAGE + "-0", view.toHandle());
    } finally {
      view.destroy();
    }
  }

  /** As the launcher starts it: a server that has answered nothing yet. */
  private static Process view(Path file) throws IOException {
    List<String> command = ClassArchive.java();
    String choose = ". deploy/install/jvm.sh; choose_jvm view \"$1\"; echo $flags";
    Process flags =
        new ProcessBuilder("sh", "-c", choose, "sh", file.toAbsolutePath().toString())
            .directory(Repository.root().toFile())
            .start();
    try (BufferedReader out = flags.inputReader()) {
      command.addAll(List.of("-XX:-UseSerialGC", "-XX:TieredStopAtLevel=4"));
      command.addAll(List.of(out.readLine().split(" ")));
    }
    command.addAll(List.of("dev.retstack.cli.Main", "view", file.toString(), "--no-browser"));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  @Test
  void ofARunningJob(@TempDir Path dir) throws Exception {
    try (EmbeddedBroker broker = EmbeddedBroker.start(dir.resolve("broker"), 0);
        Pipeline pipeline = member(broker)) {
      Thread fleet =
          Thread.ofPlatform()
              .start(
                  () ->
                      Ran.well(
                          "emulate",
                          "--bootstrap",
                          broker.bootstrap(),
                          "--image",
                          IMAGE,
                          "--cores",
                          "" + CORES,
                          "--",
                          "w200",
                          ROUNDS));
      Applied.await(pipeline, 1);
      browser.turnTo(pipeline.httpUri());
      measure("a job that runs", "/?page=timeline&core=" + IMAGE + "-0");
      fleet.join();
      pipeline.awaitCoresEnded(CORES).toCompletableFuture().get(1, TimeUnit.HOURS);
      measure("a job, one core of many", "/?page=timeline&core=" + IMAGE + "-0");
      measure("a job, the first four", "/?page=timeline");
      viewers(pipeline.httpUri());
    }
  }

  private static Pipeline member(EmbeddedBroker broker) throws IOException, InterruptedException {
    return PipelineService.start(
        PipelineConfig.of(KafkaSettings.of(broker.bootstrap())).but().http("127.0.0.1", 0).build());
  }

  /** The pages that list all cores, of a job of a large fleet. */
  @Test
  void ofALargeFleet(@TempDir Path dir) throws Exception {
    Path file = ManyCores.write(dir.resolve("many.avro"), FLEET);
    try (EmbeddedBroker broker = EmbeddedBroker.start(dir.resolve("broker"), 0);
        Pipeline pipeline = member(broker)) {
      Ran.well("replay", file.toString(), "--into-kafka", "--bootstrap", broker.bootstrap());
      Applied.await(pipeline, ManyCores.records(FLEET));
      browser.turnTo(pipeline.httpUri());
      for (String page : List.of("fleet", "control")) {
        long begun = System.nanoTime();
        browser.go("/?page=" + page);
        browser.until(
            "all cores are there",
            () -> browser.text("body").contains("%,d cores".formatted(FLEET)));
        long shown = (System.nanoTime() - begun) / 1_000_000;
        long columns = browser.number("return document.querySelectorAll('main th button').length");
        for (long i = 0; i < columns; i++) {
          long sorted = i;
          browser.script("document.querySelectorAll('main th button')[arguments[0]].click()", i);
          browser.until(
              "it is sorted",
              () ->
                  browser.number("return performance.getEntriesByName('rows-sorted').length")
                      > sorted);
        }
        System.out.printf(
            "pages: %s of a job of %,d cores: shown after %d ms, longest sort %d ms, heap %.1f MB,"
                + " %s%n",
            page,
            FLEET,
            shown,
            browser.longest("rows-sorted"),
            browser.heap() / 1e6,
            browser.script(
                "return performance.getEntriesByType('resource')"
                    + ".filter((one) => /\\/(cores|control|parts)/.test(one.name)).slice(0, 3)"
                    + ".map((one) => `${new URL(one.name).pathname} ${one.decodedBodySize} bytes,"
                    + " ${one.encodedBodySize} packed, ${Math.round(one.responseEnd -"
                    + " one.requestStart)} ms`).join('; ')"));
      }
    }
  }

  /** Tells what the browser measured of steps: of a page that was just opened, and of it later. */
  private void measure(String what, String address) throws IOException {
    browser.go(address);
    browser.until("it is drawn", () -> sight()[1] > 0);
    browser.script("document.querySelector('.stage canvas').focus()");
    long picture =
        browser.number("return performance.getEntriesByName('picture')[0]?.startTime ?? -1");
    System.out.printf(
        "pages: %s: first picture %d ms, heap %.1f MB, first steps: %s%n",
        what, picture, browser.heap() / 1e6, steps());
    System.out.printf("pages: %s, the same steps again: %s%n", what, steps());
  }

  /** Zooms in and pans, back and out again. */
  private Object steps() {
    browser.script("performance.clearMeasures(); performance.clearResourceTimings()");
    for (List<String> keys : List.of(List.of("w", "d"), List.of("a", "s"))) {
      for (int i = 0; i < STEPS; i++) {
        for (String key : keys) {
          long[] before = sight();
          browser.press(key);
          browser.until("another time is in sight", () -> !Arrays.equals(before, sight()));
        }
      }
    }
    assertThat(browser.number("return performance.getEntriesByName('step').length"))
        .isGreaterThanOrEqualTo(4L * STEPS);
    return browser.script(Browser.STEPS);
  }

  /** Tells how long it takes until the icicle is drawn, and what the server does for it. */
  private void flame(String what, String address, ProcessHandle server) {
    long start = System.nanoTime();
    double processors =
        processors(
            server,
            () -> {
              browser.go(address);
              browser.until(
                  "it is drawn",
                  () ->
                      browser.number(
                              "return Number(document.querySelector('.stage canvas')"
                                  + "?.dataset.boxes ?? 0)")
                          > 1);
            });
    double seconds = (System.nanoTime() - start) / 1e9;
    long bytes =
        browser.number(
            "return Math.max(...performance.getEntriesByType('resource')"
                + ".filter((one) => one.name.includes('/stacks'))"
                + ".map((one) => one.decodedBodySize))");
    System.out.printf(
        "pages: flame of %s: %.1f s, %.1f s of processors, %,d bytes, heap %.1f MB%n",
        what, seconds, processors * seconds, bytes, browser.heap() / 1e6);
    assertThat(bytes).isBetween(1L, 1_000_000L);
  }

  private long[] sight() {
    return new long[] {
      browser.number("return Number(document.querySelector('.stage canvas')?.dataset.from ?? -1)"),
      browser.number("return Number(document.querySelector('.stage canvas')?.dataset.to ?? -1)")
    };
  }

  /** CPU time while so many pages follow a core, and while none does; those who ask count too. */
  private static void viewers(URI server) throws InterruptedException {
    ProcessHandle self = ProcessHandle.current();
    double alone =
        processors(self, () -> LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(WATCH_MS)));
    AtomicInteger answers = new AtomicInteger();
    double watched;
    List<ScheduledFuture<?>> viewers = new ArrayList<>();
    try (HttpClient client = HttpClient.newHttpClient();
        ScheduledExecutorService clock = Executors.newScheduledThreadPool(2)) {
      for (int i = 0; i < VIEWERS; i++) {
        String of = "&as=columns&detail=tiles&core=" + IMAGE + "-" + i % CORES;
        ScheduledFuture<?> one =
            clock.scheduleAtFixedRate(
                () -> ask(client, server.resolve("/timeline?width=1280&depth=128" + of), answers),
                i * POLL_MS / VIEWERS,
                POLL_MS,
                TimeUnit.MILLISECONDS);
        viewers.add(one);
      }
      watched =
          processors(self, () -> LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(WATCH_MS)));
      assertThat(viewers).as("viewers whose questions were answered").noneMatch(Future::isDone);
      clock.shutdownNow();
    }
    System.out.printf(
        "pages: %d viewers of %d cores: %d answers in %.1f s, %.3f processors, %.3f without them%n",
        VIEWERS, CORES, answers.get(), WATCH_MS / 1e3, watched, alone);
    assertThat(answers.get()).isPositive();
  }

  private static void ask(HttpClient client, URI question, AtomicInteger answers) {
    HttpResponse<String> answer =
        client.sendAsync(HttpRequest.newBuilder(question).build(), BodyHandlers.ofString()).join();
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    answers.incrementAndGet();
  }

  private static double processors(ProcessHandle of, Runnable does) {
    Duration cpu = of.info().totalCpuDuration().orElseThrow();
    long start = System.nanoTime();
    does.run();
    Duration used = of.info().totalCpuDuration().orElseThrow().minus(cpu);
    return used.toNanos() / (double) (System.nanoTime() - start);
  }
}
