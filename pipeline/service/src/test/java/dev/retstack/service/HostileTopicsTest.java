package dev.retstack.service;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.answers.support.CoreScript;
import dev.retstack.answers.support.States;
import dev.retstack.graph.report.CoreRow;
import dev.retstack.graph.report.EdgeRow;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.schema.Anomaly;
import dev.retstack.schema.DeadLetter;
import dev.retstack.schema.Image;
import dev.retstack.schema.Symbol;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Headers;
import dev.retstack.schema.wire.ImageKey;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.support.Forger;
import dev.retstack.service.support.HttpAsk;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.Scraped;
import dev.retstack.service.support.TopicReader;
import dev.retstack.service.support.Waits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

/**
 * A producer that may write to the topics, and means ill: others go on. {@code -Dretstack.forged=N}
 * sends N records to each topic, {@code -Dretstack.seed} those of one seed.
 */
class HostileTopicsTest {
  private static final int FORGED = Integer.getInteger("retstack.forged", 150);
  private static final long SEED = Long.getLong("retstack.seed", 20319);
  private static final Waits WAITS = new Waits(Duration.ofMinutes(3));

  /** What topics take at most, with a batch's and a record's own bytes. */
  private static final int LARGEST = (4 << 20) - 200;

  /** Of a symbol's name. */
  private static final int NAME_MAX = 1 << 18;

  private final LiveBench bench = LiveBench.fresh();
  private final Topics topics = bench.topics();
  private final AtomicLong refusedByBroker = new AtomicLong();

  @Test
  void aForgedCheckpointIsLeftAloneWithItsPartition() throws Exception {
    String group = topics.prefix();
    try (var producer = producer()) {
      send(producer, topics.state(), 0, (group + "/0/0").getBytes(UTF_8), "RSCP".getBytes(UTF_8));
    }
    bench.produceAll();
    try (Pipeline pipeline = PipelineService.start(bench.config())) {
      Scraped page =
          bench.awaitScrape(
              pipeline, p -> p.sum("retstack_partition_open") == LiveBench.PARTITIONS - 1);
      assertThat(page.sum("retstack_partition_failures_total")).isZero();
      try (HttpAsk ask = new HttpAsk(pipeline.httpUri())) {
        WAITS.await(
            "it is not ready, and says why",
            () -> ask.get("/health/ready").body().contains("state of partitions 0 cannot be used"));
        var refused = ask.get("/health/ready");
        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(refused.body()).contains("--repair");
      }
    }
    repaired();
  }

  /** Records that are sound, of a state that is none; and one that takes a part away. */
  @Test
  void aStateThatIsNoneIsRebuiltFromItsEvents() throws Exception {
    String group = topics.prefix();
    bench.produceAll();
    try (Pipeline pipeline = PipelineService.start(config(false))) {
      bench.awaitEnded(pipeline);
      bench.awaitRest(pipeline);
      WAITS.await(pipeline.stop());
    }
    final PublishedFollower before = PublishedFollower.of(bench.kafka(), topics);
    assertThat(before.anomalies).isNotEmpty();
    assertThat(before.spans).isNotEmpty();
    List<String> keys = new ArrayList<>();
    for (var record : TopicReader.records(bench.kafka(), topics.state())) {
      String key = new String(record.key(), UTF_8);
      if (record.value() != null && key.contains("/c/")) {
        keys.add(key);
      }
    }
    assertThat(keys).isNotEmpty();
    try (var producer = producer()) {
      for (int p = 0; p < LiveBench.PARTITIONS; p++) {
        String prefix = group + "/" + p + "/";
        keys.stream()
            .filter(key -> key.startsWith(prefix))
            .findFirst()
            .ifPresent(
                key ->
                    send(
                        producer,
                        topics.state(),
                        Integer.parseInt(key.split("/", -1)[1]),
                        key.getBytes(UTF_8),
                        null));
        send(producer, topics.state(), p, (prefix + "c/999").getBytes(UTF_8), new byte[] {1, 2});
      }
    }
    repaired();
    repaired(); // nothing is left to be repaired
    PublishedFollower behind = PublishedFollower.of(bench.kafka(), topics);
    assertThat(behind.anomalies).as("each once").isEqualTo(before.anomalies);
    assertThat(behind.spans).as("each once").isEqualTo(before.spans);
    assertThat(behind.profiles.keySet()).isEqualTo(before.profiles.keySet());
  }

  private PipelineConfig config(boolean repairs) {
    return bench.config().but().spanThreshold(0).repair(repairs).build();
  }

  /** A member that may rebuild what cannot be used, and one that comes behind it. */
  private void repaired() throws Exception {
    for (boolean repairs : List.of(true, false)) {
      try (Pipeline pipeline = PipelineService.start(config(repairs));
          HttpAsk ask = new HttpAsk(pipeline.httpUri())) {
        bench.awaitEnded(pipeline);
        bench.awaitRest(pipeline);
        checkGood(report(pipeline));
        WAITS.await("it is ready", () -> ask.get("/health/ready").statusCode() == 200);
        WAITS.await(pipeline.stop());
      }
    }
  }

  /** All topics at once, while a fleet runs whose images are announced again with other content. */
  @Test
  void forgedRecordsOnAllTopicsCostNobodyElse() throws Exception {
    bench.produce(0, 0.3);
    try (Pipeline pipeline =
            PipelineService.start(
                bench.config().but().imagePatience(Duration.ofSeconds(1)).build());
        var producer = producer()) {
      WAITS.await("the fleet", () -> report(pipeline).cores().size() == bench.fleet().size());
      for (CoreScript core : bench.fleet()) {
        announce(producer, Image.newBuilder(core.image()).setSymbols(overlapping()).build());
      }
      forge(producer, FORGED / 2);
      bench.produce(0.3, 0.6);
      forge(producer, FORGED - FORGED / 2);
      bench.produce(0.6, 1);
      WAITS.await(
          pipeline.awaitCoresEnded(
              bench.fleet().stream()
                  .map(core -> ChunkApplier.key(core.chunks().getFirst()))
                  .collect(Collectors.toSet())));
      Scraped page =
          bench.awaitScrape(
              pipeline,
              p ->
                  p.sum("retstack_lag_chunks") == 0
                      && p.sum("retstack_checkpoint_behind_chunks") == 0);
      assertThat(page.sum("retstack_partition_failures_total")).isZero();
      assertThat(page.sum("retstack_partition_open")).isEqualTo(LiveBench.PARTITIONS);
      assertThat(page.sum("retstack_partition_epoch")).isEqualTo(LiveBench.PARTITIONS);
      assertThat(page.sum("retstack_images_refused_total")).isPositive();
      assertThat(page.sum("retstack_cores", "state", "BROKEN")).isZero();
      checkGood(report(pipeline));
      try (LiveClient client = new LiveClient(pipeline.httpUri())) {
        assertThat(client.get("cores", Map.of("format", "csv")))
            .contains(bench.fleet().getFirst().core());
      }
      double refused = page.sum("retstack_chunks_total", "outcome", "refused");
      WAITS.await(pipeline.stop());
      long letters = ours();
      assertThat((double) letters).isEqualTo(refused).isPositive();
      System.out.printf(
          "%,d forged records a topic of seed %d: %,d dead letters, %,.0f images refused, %,d"
              + " refused by the broker%n",
          FORGED, SEED, letters, page.sum("retstack_images_refused_total"), refusedByBroker.get());
    }
  }

  /** A letter holds more than the record that it tells of, and anomalies hold names. */
  @Test
  void whatDoesNotFitIntoARecordStopsNobody() throws Exception {
    byte[] compressed = new byte[16 << 20];
    List<Symbol> symbols = new ArrayList<>();
    symbols.add(symbol("main", 0x401000, 0x40));
    for (int i = 1; i < 12; i++) {
      symbols.add(symbol(i + "n".repeat(NAME_MAX - 2), 0x401000 + 0x40L * i, 0x40));
    }
    Image image =
        Image.newBuilder(CoreScript.image("long-names", "main")).setSymbols(symbols).build();
    CoreScript deep = new CoreScript(image, "long", "names");
    deep.enter("main");
    for (int i = 0; i < 60; i++) {
      deep.tick(1).enter(symbols.get(1 + i % 11).getName());
    }
    deep.tick(1).exit(16).tick(1).exit(32).unwind(20).exit().end();
    try (Pipeline pipeline = PipelineService.start(spans());
        var producer = producer()) {
      announce(producer, image);
      send(producer, topics.events(), 1, null, new Forger(SEED, List.of()).bytes(LARGEST));
      Map<String, Object> packing = new HashMap<>(settings());
      packing.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, "gzip");
      try (var packs =
          new KafkaProducer<>(packing, new ByteArraySerializer(), new ByteArraySerializer())) {
        send(packs, topics.events(), 2, new byte[3 << 20], compressed);
      }
      for (var chunk : deep.chunks()) {
        send(producer, topics.events(), 0, "names".getBytes(UTF_8), ConfluentFrame.encode(chunk));
      }
      bench.produceAll();
      WAITS.await(
          pipeline.awaitCoresEnded(
              Stream.concat(bench.fleet().stream(), Stream.of(deep))
                  .map(core -> ChunkApplier.key(core.chunks().getFirst()))
                  .collect(Collectors.toSet())));
      Scraped page =
          bench.awaitScrape(pipeline, p -> p.sum("retstack_checkpoint_behind_chunks") == 0);
      assertThat(page.sum("retstack_partition_failures_total")).isZero();
      checkGood(report(pipeline));
      WAITS.await(pipeline.stop());
    }
    List<DeadLetter> letters = letters();
    assertThat(letters)
        .hasSize(2)
        .allSatisfy(
            letter -> {
              assertThat(letter.getReason())
                  .contains("too many for a letter, read them at their offset");
              assertThat(letter.getValue().remaining()).isZero();
            });
    List<Anomaly> anomalies = new ArrayList<>();
    for (byte[] value : TopicReader.values(bench.kafka(), topics.anomalies())) {
      anomalies.add(ConfluentFrame.decode(value, Anomaly.class));
    }
    assertThat(anomalies)
        .filteredOn(anomaly -> anomaly.getSession().equals("long"))
        .isNotEmpty()
        .anySatisfy(anomaly -> assertThat(anomaly.getStack()).hasSizeGreaterThan(16))
        .allSatisfy(anomaly -> assertThat(anomaly.getFunction().length()).isLessThan(5_000));
  }

  private PipelineConfig spans() {
    return bench.config().but().spanThreshold(0).build();
  }

  private void forge(KafkaProducer<byte[], byte[]> producer, int count) throws Exception {
    CoreScript good = bench.fleet().getFirst();
    Forger forger =
        new Forger(
            SEED + count,
            List.of(
                topics.prefix(),
                "other-group/0/0",
                topics.prefix() + "/99/0",
                good.session(),
                good.core(),
                "forged-0",
                "forged-1",
                "http://127.0.0.1:1/"));
    Map<String, Schema> schemas = topics.valueSchemas();
    for (int i = 0; i < 2; i++) {
      String name = "forged-" + i;
      Image image =
          Image.newBuilder(CoreScript.image(name, "main")).setSymbols(overlapping()).build();
      announce(producer, image);
    }
    announce(producer, million());
    for (int i = 0; i < count; i++) {
      for (String topic : topics.all()) {
        Integer partition = isPartitioned(topic) ? i % LiveBench.PARTITIONS : Integer.valueOf(0);
        byte[] key = forger.key(isTable(topic));
        send(producer, topic, partition, key, forger.value(schemas.get(topic)));
        if (i % 100 == 0) {
          send(producer, topic, partition, key, forger.bytes(LARGEST));
        }
      }
      send(producer, topics.events(), i % LiveBench.PARTITIONS, forger.key(false), forger.chunk());
    }
    producer.flush();
  }

  private void announce(KafkaProducer<byte[], byte[]> producer, Image image) {
    byte[] message = ConfluentFrame.encode(image);
    send(producer, topics.images(), 0, ImageKey.of(image.getBuildId(), message), message);
  }

  private boolean isPartitioned(String topic) {
    return List.of(
            topics.events(), topics.spans(), topics.anomalies(), topics.profiles(), topics.state())
        .contains(topic);
  }

  /** Whose records a broker refuses without a key, and all that come with them. */
  private boolean isTable(String topic) {
    return List.of(
            topics.images(), topics.profiles(), topics.state(), topics.nodes(), topics.fleets())
        .contains(topic);
  }

  private static List<Symbol> overlapping() {
    return List.of(
        symbol("wrong", 0x401000, -1),
        symbol("over", 0x401000, 0x100),
        symbol("within", 0x401010, Long.MIN_VALUE),
        symbol("", 0, Long.MAX_VALUE),
        symbol("last", -1, 2));
  }

  private static Symbol symbol(String name, long address, long size) {
    return new Symbol(name, address, size);
  }

  /** As many symbols as a message can hold: a million takes four MiB. */
  private static Image million() {
    List<Symbol> symbols = new ArrayList<>();
    for (int i = 0; i < 1_000_000; i++) {
      symbols.add(symbol("", i % 60, 0));
    }
    return Image.newBuilder(CoreScript.image("million")).setSymbols(symbols).build();
  }

  private static Report report(Pipeline pipeline) throws Exception {
    return WAITS.await(pipeline.view()).report(Optional.empty(), true);
  }

  /** The fleet's own rows are those of a replay of it alone. */
  private void checkGood(Report report) {
    Report expected = ReportBuilder.of(States.of(bench.fleet())).build();
    Set<String> images =
        bench.fleet().stream().map(core -> core.image().getBuildId()).collect(Collectors.toSet());
    String session = bench.fleet().getFirst().session();
    assertThat(report.functions())
        .filteredOn((FunctionRow row) -> images.contains(row.imageId()))
        .containsExactlyInAnyOrderElementsOf(expected.functions());
    assertThat(report.edges())
        .filteredOn((EdgeRow row) -> images.contains(row.imageId()))
        .containsExactlyInAnyOrderElementsOf(expected.edges());
    assertThat(report.cores())
        .filteredOn((CoreRow row) -> row.session().equals(session))
        .containsExactlyInAnyOrderElementsOf(expected.cores());
  }

  private List<DeadLetter> letters() throws Exception {
    List<DeadLetter> letters = new ArrayList<>();
    for (byte[] value : TopicReader.values(bench.kafka(), topics.deadLetters())) {
      letters.add(ConfluentFrame.decode(value, DeadLetter.class));
    }
    return letters;
  }

  /** Letters of the pipeline among those that were forged: theirs names the topic and says why. */
  private long ours() throws Exception {
    Set<String> found = new HashSet<>();
    for (var record : TopicReader.records(bench.kafka(), topics.deadLetters())) {
      if (record.headers().lastHeader(Headers.SCHEMA_FINGERPRINT) != null) {
        DeadLetter letter = ConfluentFrame.decode(record.value(), DeadLetter.class);
        assertThat(letter.getTopic()).isEqualTo(topics.events());
        assertThat(letter.getReason()).isNotBlank();
        assertThat(found.add(letter.getPartition() + "/" + letter.getOffset())).isTrue();
      }
    }
    return found.size();
  }

  private Map<String, Object> settings() {
    Map<String, Object> settings = new HashMap<>(bench.kafka().producer());
    settings.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, 64 << 20);
    settings.put(ProducerConfig.BUFFER_MEMORY_CONFIG, 128L << 20);
    return settings;
  }

  private KafkaProducer<byte[], byte[]> producer() {
    return new KafkaProducer<>(settings(), new ByteArraySerializer(), new ByteArraySerializer());
  }

  /** Sent one by one, so that what is sent first stands first; what a broker refuses is counted. */
  private void send(
      KafkaProducer<byte[], byte[]> producer,
      String topic,
      Integer partition,
      byte[] key,
      byte[] value) {
    var _ =
        producer.send(
            new ProducerRecord<>(topic, partition, key, value),
            (_, error) -> {
              if (error != null) {
                refusedByBroker.incrementAndGet();
              }
            });
  }
}
