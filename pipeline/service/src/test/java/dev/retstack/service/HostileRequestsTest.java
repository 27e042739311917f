package dev.retstack.service;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.http.HttpSettings;
import dev.retstack.service.support.HttpAsk;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.NastyRequests;
import dev.retstack.service.support.RawHttp;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Nothing that comes over a socket stops a member, or is answered with a fault of the server. Heap
 * and threads are those of the whole JVM: no other test may run in it.
 */
@Isolated
class HostileRequestsTest {
  private static final long SEED = Long.getLong("retstack.seed", 20268);
  private static final int REQUESTS = Integer.getInteger("retstack.hostile.requests", 300);
  private static final Duration PATIENCE = Duration.ofSeconds(2);
  private static final long MIB = 1 << 20;
  private static final ObjectMapper JSON = new ObjectMapper();
  private static Pipeline pipeline;

  @BeforeAll
  static void start() throws Exception {
    LiveBench bench = LiveBench.fresh();
    HttpSettings http = HttpSettings.LOCAL.patience(PATIENCE);
    pipeline = PipelineService.start(bench.config().but().http(http).build());
    try (HttpAsk ask = new HttpAsk(pipeline.httpUri())) {
      assertThat(ask.get("/report").statusCode()).isEqualTo(200);
    }
  }

  @AfterAll
  static void stop() {
    pipeline.close();
  }

  @Test
  void everyNastyRequestIsRefusedInWordsOrClosed() throws Exception {
    NastyRequests nasty = new NastyRequests(SEED);
    send(nasty, REQUESTS / 10); // what is made once is made now
    long heap = heap();
    int threads = ManagementFactory.getThreadMXBean().getThreadCount();
    SortedMap<Integer, Integer> statuses = send(nasty, REQUESTS);
    assertThat(statuses.keySet()).as("seed " + SEED).contains(400, 404, 405, 414, 431);
    assertThat(heap() - heap).as("heap, seed " + SEED).isLessThan(64 * MIB);
    assertThat(ManagementFactory.getThreadMXBean().getThreadCount() - threads)
        .as("threads, seed " + SEED)
        .isLessThan(50);
    assertLive();
  }

  private static SortedMap<Integer, Integer> send(NastyRequests nasty, int count) throws Exception {
    SortedMap<Integer, Integer> statuses = new TreeMap<>();
    for (int i = 0; i < count; i++) {
      NastyRequests.Request request = nasty.next();
      String which = "seed %d, request %d: %s".formatted(SEED, i, request.shown());
      try (RawHttp raw = new RawHttp(pipeline.httpUri())) {
        raw.as(which);
        for (RawHttp.Said said : raw.send(request.bytes()).end().all()) {
          assertThat(said.status()).as(which + "\n" + said).isLessThan(500);
          if (said.status() >= 400 && !said.body().isEmpty()) {
            JsonNode refusal = JSON.readTree(said.body());
            boolean registry = refusal.hasNonNull("error_code"); // has words of its own
            assertThat(refusal.path(registry ? "message" : "error").asText())
                .as(which + "\n" + said)
                .isNotBlank();
            assertThat(registry || !refusal.path("cure").asText().isBlank())
                .as(which + "\n" + said)
                .isTrue();
          }
          statuses.merge(said.status(), 1, Integer::sum);
        }
      }
    }
    return statuses;
  }

  @Test
  void whoSendsAByteNowAndThenIsCutOff() throws Exception {
    List<RawHttp> slow = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      slow.add(new RawHttp(pipeline.httpUri()).send("GET /report HTTP/1.1\r\nHost: localhost\r\n"));
    }
    long start = System.nanoTime();
    RawHttp.Said said;
    Thread dripping =
        Thread.ofVirtual()
            .start(
                () -> {
                  while (!Thread.currentThread().isInterrupted()) {
                    slow.getFirst().send("X-a: 1\r\n");
                    LockSupport.parkNanos(100_000_000); // so slow that only a deadline ends it
                  }
                });
    for (RawHttp raw : slow) {
      said = raw.next();
      assertThat(said.status()).as(said.toString()).isIn(0, 400, 408, 431);
      raw.close();
    }
    dripping.interrupt();
    dripping.join();
    assertThat(System.nanoTime() - start)
        .as("nanoseconds until all were cut off")
        .isLessThan(PATIENCE.multipliedBy(10).toNanos());
    assertLive();
  }

  @Test
  void aBodyThatNeverEndsIsNotReadToItsEnd() throws Exception {
    try (RawHttp raw = new RawHttp(pipeline.httpUri())) {
      raw.send("GET /report HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
      RawHttp.Said said = raw.send("5\r\nabcde\r\n").next();
      assertThat(said.status()).isEqualTo(400);
      assertThat(said.body()).contains("body");
      String chunk = "1000\r\n" + "x".repeat(0x1000) + "\r\n";
      for (int i = 0; i < 100; i++) {
        raw.send(chunk);
      }
      assertThat(raw.next().status()).as("closed").isZero();
    }
    assertLive();
  }

  @Test
  void eachRefusalSaysWhatAndHow() throws Exception {
    assertRefused("GET /" + "x".repeat(5000) + " HTTP/1.1", "", 414, "shorter");
    assertRefused("GET /report HTTP/1.1", "X-Long: " + "y".repeat(9000) + "\r\n", 431, "header");
    assertRefused("BREW /report HTTP/1.1", "", 405, "GET");
    assertRefused("PUT /report HTTP/1.1", "Content-Length: 0\r\n", 405, "GET");
    assertRefused("GET /report%zz HTTP/1.1", "", 400, "");
    assertRefused("GET /report?format=%ff%fe HTTP/1.1", "", 400, "");
    assertRefused("GET /report?core=%zz HTTP/1.1", "", 400, "");
    assertRefused("GET/reportHTTP/1.1", "", 400, "HTTP/1.1");
    assertRefused("GET /report HTTP/7.5", "", 400, "HTTP/1.1");
    assertRefused("GET /nothing HTTP/1.1", "", 404, "/report");
    assertRefused("GET http://a.example/report HTTP/1.1", "", 400, "");
    try (RawHttp raw = new RawHttp(pipeline.httpUri())) {
      RawHttp.Said said = raw.send("GET /report HTTP/1.1\r\nHost: a.example\r\n\r\n").next();
      assertThat(said.status()).as("a page that gave its name our address").isEqualTo(421);
      assertThat(said.body()).contains("127.0.0.1");
    }
    try (RawHttp raw = new RawHttp(pipeline.httpUri())) {
      RawHttp.Said said = raw.send("DELETE /report HTTP/1.1\r\nHost: localhost\r\n\r\n").next();
      assertThat(said.head()).contains("Allow: GET, HEAD");
    }
  }

  private static void assertRefused(String line, String headers, int status, String cure)
      throws Exception {
    try (RawHttp raw = new RawHttp(pipeline.httpUri())) {
      String asked = line + "\r\nHost: localhost\r\n" + headers + "\r\n";
      RawHttp.Said said = raw.send(asked).next();
      String as = line.substring(0, Math.min(60, line.length())) + ": " + said;
      assertThat(said.status()).as(as).isEqualTo(status);
      JsonNode refusal = JSON.readTree(said.body());
      assertThat(refusal.path("error").asText()).as(as).isNotBlank();
      assertThat(refusal.path("cure").asText()).as(as).isNotBlank().contains(cure);
    }
  }

  private static void assertLive() throws Exception {
    try (HttpAsk ask = new HttpAsk(pipeline.httpUri())) {
      assertThat(ask.get("/health/live").statusCode()).isEqualTo(200);
      assertThat(ask.get("/report").statusCode()).isEqualTo(200);
    }
  }

  private static long heap() {
    MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
    memory.gc();
    return memory.getHeapMemoryUsage().getUsed();
  }
}
