package dev.retstack.service;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.question.Questions;
import dev.retstack.answers.support.CoreScript;
import dev.retstack.schema.Image;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicAdmin;
import dev.retstack.service.support.HttpAsk;
import dev.retstack.service.support.Scraped;
import dev.retstack.service.support.TestBroker;
import dev.retstack.service.support.Waits;
import dev.retstack.service.transfer.TraceProducer;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * What a window of one of many cores costs where all are in one partition: bytes that come from the
 * broker, and time. {@code -Dretstack.window.cores=N}, {@code -Dretstack.window.chunks=N} of each
 * core and {@code -Dretstack.window.records=N} of each chunk make it as large as one likes: a core
 * has as many chunks as it would have in a larger partition, and each is smaller.
 */
class WindowCostTest {
  private static final int CORES = Integer.getInteger("retstack.window.cores", 50);
  private static final int CHUNKS = Integer.getInteger("retstack.window.chunks", 60);
  private static final int RECORDS = Integer.getInteger("retstack.window.records", 64);
  private static final int QUESTIONS = Integer.getInteger("retstack.window.questions", 20);
  private static final long SEED = Long.getLong("retstack.seed", 2302);

  /** Of a partition of this size, a window may fetch this much. */
  private static final double PARTITION_BYTES = 10e9;

  private static final double FETCHED_BYTES = 16e6;

  /** What a fetch brings that was not wanted, whatever the partition: a batch here and there. */
  private static final double FETCHES_BYTES = 2e6;

  private static final Pattern COST =
      Pattern.compile("cores=1; chunks=(\\d+); records=(\\d+); fetched=(\\d+); ms=(\\d+)");
  private static final Waits WAITS = new Waits(Duration.ofMinutes(CHUNKS < 100 ? 3 : 60));

  @Test
  void aWindowFetchesLittleOfAPartitionOfManyCores() throws Exception {
    KafkaSettings kafka = KafkaSettings.of(TestBroker.bootstrap());
    Topics topics = new Topics(TestBroker.freshPrefix());
    PipelineConfig config =
        PipelineConfig.of(kafka)
            .but()
            .topics(topics)
            .groupId(topics.prefix())
            .partitions(1)
            .build();
    try (TopicAdmin admin = new TopicAdmin(kafka, Duration.ofSeconds(60))) {
      admin.ensure(topics, 1);
    }
    long last = produce(kafka, topics);
    try (Pipeline member = PipelineService.start(config)) {
      WAITS.await(member.awaitCoresEnded(CORES));
      ask(member, last);
    }
  }

  /** Sends cores by turns, which call the same all the time; returns their last time. */
  private static long produce(KafkaSettings kafka, Topics topics) throws Exception {
    Image image = CoreScript.image("cost" + SEED, "main", "leaf");
    List<CoreScript> fleet = new ArrayList<>();
    for (int i = 0; i < CORES; i++) {
      fleet.add(new CoreScript(image, "session", "core-" + i).withKeyframes().enter("main"));
    }
    SplittableRandom random = new SplittableRandom(SEED);
    long time = 0;
    try (TraceProducer producer = new TraceProducer(kafka, topics)) {
      producer.image(image);
      for (int chunk = 0; chunk < CHUNKS; chunk++) {
        boolean isLast = chunk == CHUNKS - 1;
        for (CoreScript core : fleet) {
          for (int i = 0; i < RECORDS; i += 2) {
            core.tick(1 + random.nextInt(1 << 20)).enter("leaf");
            core.tick(1 + random.nextInt(1 << 20)).exit();
          }
          producer.chunk(isLast ? core.exit().end().take() : core.chunk().take());
          time = core.time();
        }
      }
      producer.flush();
    }
    return time;
  }

  /** Windows from a million ticks up to all, each power of two as likely. */
  private static void timelines(HttpAsk ask, long last, SplittableRandom random, String detail)
      throws Exception {
    long[] micros = new long[QUESTIONS];
    for (int i = 0; i < QUESTIONS; i++) {
      long from = random.nextLong(last);
      int longest = Math.max(21, Long.SIZE - Long.numberOfLeadingZeros(last));
      long to = from + (1L << random.nextInt(20, longest));
      String question =
          "/timeline?format=json&core=core-%d&from=%d&to=%d&width=1000&depth=64&detail=%s"
              .formatted(random.nextInt(CORES), from, to, detail);
      long start = System.nanoTime();
      HttpResponse<String> answer = ask.get(question);
      micros[i] = (System.nanoTime() - start) / 1000;
      assertThat(answer.statusCode()).as(question + answer.body()).isEqualTo(200);
      assertThat(answer.body()).as(question).contains("\"rows\"");
    }
    Arrays.sort(micros);
    System.out.printf(
        "timelines from %s: %d questions, ms median %.1f, 95%% %.1f, most %.1f%n",
        detail,
        QUESTIONS,
        micros[QUESTIONS / 2] / 1e3,
        micros[QUESTIONS * 95 / 100] / 1e3,
        micros[QUESTIONS - 1] / 1e3);
  }

  private static void ask(Pipeline member, long last) throws Exception {
    SplittableRandom random = new SplittableRandom(SEED);
    long[] fetched = new long[QUESTIONS];
    long[] millis = new long[QUESTIONS];
    long chunks = 0;
    Scraped page;
    try (HttpAsk ask = new HttpAsk(member.httpUri())) {
      for (int i = 0; i < QUESTIONS; i++) {
        long from = random.nextLong(last);
        String question =
            "/graph?format=text&core=core-%d&at=%d&window=100000"
                .formatted(random.nextInt(CORES), from);
        long start = System.nanoTime();
        HttpResponse<String> answer = ask.get(question);
        millis[i] = (System.nanoTime() - start) / 1_000_000;
        assertThat(answer.statusCode()).as(question + answer.body()).isEqualTo(200);
        Matcher cost = COST.matcher(answer.headers().firstValue(Questions.WINDOW).orElseThrow());
        assertThat(cost.matches()).isTrue();
        chunks += Long.parseLong(cost.group(1));
        fetched[i] = Long.parseLong(cost.group(3));
      }
      timelines(ask, last, random, "tiles");
      timelines(ask, last, random, "chunks");
      page = new Scraped(ask.get("/metrics").body());
    }
    double bytes = page.sum("retstack_received_bytes_total");
    Arrays.sort(fetched);
    Arrays.sort(millis);
    System.out.printf(
        "windows: seed %d, %d cores of %d chunks, %.1f MB; %d questions, %.1f chunks each: fetched"
            + " median %,d, most %,d bytes; ms median %d, 95%% %d, most %d; checkpoints sent %.1f MB%n",
        SEED,
        CORES,
        CHUNKS,
        bytes / 1e6,
        QUESTIONS,
        (double) chunks / QUESTIONS,
        fetched[QUESTIONS / 2],
        fetched[QUESTIONS - 1],
        millis[QUESTIONS / 2],
        millis[QUESTIONS * 95 / 100],
        millis[QUESTIONS - 1],
        page.sum("retstack_checkpoint_sent_bytes_total") / 1e6);
    assertThat((double) fetched[QUESTIONS - 1])
        .as("seed %d: bytes that the dearest window fetched of %,.0f", SEED, bytes)
        .isLessThan(FETCHES_BYTES + FETCHED_BYTES * bytes / PARTITION_BYTES);
  }
}
