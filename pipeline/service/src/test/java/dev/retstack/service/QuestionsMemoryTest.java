package dev.retstack.service;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.support.CoreScript;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.MemberProcess;
import dev.retstack.service.support.Scraped;
import dev.retstack.service.support.Waits;
import dev.retstack.service.transfer.TraceProducer;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Questions to a member of 256 MiB whose state is as large as it may be: each is answered, or
 * refused with the bound, and the member lives. {@code -Dretstack.questions=N} has N cores of each
 * kind, {@code -Dretstack.memory} prints what each question took.
 */
@Order(1)
class QuestionsMemoryTest {
  private static final int CORES = Integer.getInteger("retstack.questions", 150);
  private static final boolean TABLE = Boolean.getBoolean("retstack.memory");
  private static final Waits WAITS = new Waits(Duration.ofMinutes(10));
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final int NAME = 1_000;

  /** Of a core's tree, as many as it keeps. */
  private static final int CALLS = 4_000;

  private static final List<String> QUESTIONS =
      List.of(
          "/top?limit=1000",
          "/cores",
          "/cores?limit=50000",
          "/cores?limit=50000&format=csv",
          "/cores?as=columns&limit=50000",
          "/sessions?limit=50000",
          "/completeness?limit=50000",
          "/parts",
          "/history",
          "/report",
          "/report?format=text&sessions=sum",
          "/stats",
          "/edges?limit=50000",
          "/anomalies?severity=warning&limit=50000&rows=each",
          "/calls/open?limit=50000",
          "/durations?sessions=sum",
          "/stacks?limit=10000",
          "/graph?limit=50000",
          "/graph?limit=50000&format=text",
          "/graph?limit=50000&format=csv",
          "/timeline",
          "/hits?match=leaf",
          "/trace",
          "/parts/own?what=state",
          "/parts/own?what=cores",
          "/parts/own?what=totals",
          "/metrics");

  /** What a fleet is large in. */
  enum Kind {
    /** Calls that a tree keeps. */
    TREES,
    /** Calls that are open, one in the other. */
    DEEP,
    /** Names of cores, sessions and functions. */
    NAMES,
    /** Cores that do nearly nothing. */
    MANY
  }

  private final LiveBench bench = LiveBench.fresh();
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  @ParameterizedTest
  @EnumSource(Kind.class)
  void noMemberDiesOfAQuestion(Kind kind, @TempDir Path folder) throws Exception {
    send(kind);
    try (MemberProcess member = MemberProcess.small(bench, folder);
        LiveClient client = new LiveClient(member.uri())) {
      Scraped[] page = new Scraped[1];
      WAITS.await(
          "all is taken",
          () -> {
            page[0] = new Scraped(client.get("metrics", Map.of()));
            return page[0].sum("retstack_partition_open") == LiveBench.PARTITIONS
                && page[0].sum("retstack_lag_unknown") == 0
                && page[0].sum("retstack_lag_chunks") == 0
                && page[0].sum("retstack_checkpoint_behind_chunks") == 0;
          });
      System.out.printf(
          "%s: %,.0f cores, states hold %,.0f of %,.0f KiB%n",
          kind,
          page[0].sum("retstack_cores"),
          page[0].sum("retstack_state_held_bytes") / 1024,
          page[0].sum("retstack_state_max_bytes") / 1024);
      for (String question : QUESTIONS) {
        Said said = ask(member.uri(), question);
        assertThat(member.isAlive()).as(question).isTrue();
        assertThat(said.status()).as(question + ": " + said).isIn(200, 400, 404, 413, 429, 503);
        if (TABLE) {
          System.out.printf(
              "%-8s %-50s %d %,15d bytes %,8d ms, heap %4d MiB, after a collection %4d %s%n",
              kind,
              question,
              said.status(),
              said.bytes(),
              said.millis(),
              member.heapPeakMiB(),
              member.heapLeastPeakMiB(),
              said.status() == 200 ? "" : said.head().strip());
        }
      }
      List<CompletableFuture<Said>> all = new ArrayList<>();
      ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
      for (String question : QUESTIONS) {
        String fewer = question.replace("limit=50000", "limit=500");
        all.add(CompletableFuture.supplyAsync(() -> unchecked(member.uri(), fewer), threads));
      }
      for (CompletableFuture<Said> one : all) {
        assertThat(one.join().status()).isIn(200, 400, 404, 413, 429, 503);
      }
      assertThat(member.isAlive()).isTrue();
      assertThat(member.said()).doesNotContain("OutOfMemoryError");
    }
  }

  private record Said(int status, long bytes, long millis, String head) {}

  private Said unchecked(URI member, String question) {
    try {
      return ask(member, question);
    } catch (Exception e) {
      throw new IllegalStateException(question, e);
    }
  }

  private Said ask(URI member, String question) throws Exception {
    long start = System.nanoTime();
    HttpRequest request =
        HttpRequest.newBuilder(member.resolve(question)).timeout(PATIENCE).build();
    HttpResponse<InputStream> answer =
        http.send(request, HttpResponse.BodyHandlers.ofInputStream());
    try (InputStream body = answer.body()) {
      byte[] head = body.readNBytes(400);
      long bytes = head.length + body.transferTo(OutputStream.nullOutputStream());
      return new Said(
          answer.statusCode(),
          bytes,
          (System.nanoTime() - start) / 1_000_000,
          new String(head, UTF_8));
    }
  }

  private void send(Kind kind) throws Exception {
    String pad = "n".repeat(kind == Kind.NAMES ? NAME : 1);
    Image image = CoreScript.image("build-" + kind, "main" + pad, "walk" + pad, "leaf" + pad);
    CoreScript script = new CoreScript(image, "like", "like");
    script.enter("main" + pad);
    switch (kind) {
      case TREES -> {
        for (int i = 0; i < CALLS / 2; i++) {
          script.tick(1).enter("walk" + pad).tick(i % 7).enter("leaf" + pad).exit().exit();
        }
      }
      case DEEP -> {
        for (int i = 0; i < CALLS; i++) {
          script.tick(1).enter("walk" + pad);
        }
      }
      case NAMES, MANY -> script.tick(3).enter("leaf" + pad).tick(2).exit();
    }
    Chunk like = script.chunk().take();
    try (TraceProducer producer = new TraceProducer(bench.kafka(), bench.topics())) {
      producer.image(image);
    }
    long bytes = 0;
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(
            bench.kafka().producer(), new ByteArraySerializer(), new ByteArraySerializer())) {
      for (int i = 0; i < CORES; i++) {
        String core = "core-%d-%s".formatted(i, pad);
        Chunk chunk =
            Chunks.seal(
                Chunk.newBuilder(like)
                    .setCore(core)
                    .setSession("session-%d-%s".formatted(i % 100, pad))
                    .build());
        byte[] message = ConfluentFrame.encode(chunk);
        bytes += message.length;
        var _ =
            producer.send(
                new ProducerRecord<>(bench.topics().events(), core.getBytes(UTF_8), message));
      }
    }
    System.out.printf("%s: %,d cores, %,d bytes of chunks%n", kind, CORES, bytes);
  }
}
