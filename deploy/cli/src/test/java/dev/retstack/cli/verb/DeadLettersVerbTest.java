package dev.retstack.cli.verb;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.Ran;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.PipelineService;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicAdmin;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Letters that a real pipeline wrote on a real broker, shown and put back by the command. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DeadLettersVerbTest {
  private static final byte[] BINARY = {0, 1, 2, (byte) 0xff, 'a', '\n'};

  private EmbeddedBroker broker;
  private KafkaSettings kafka;

  @BeforeAll
  void letThePipelineRefuse(@TempDir Path dir) throws Exception {
    broker = EmbeddedBroker.start(dir, 0);
    kafka = KafkaSettings.of(broker.bootstrap());
    Topics topics = Topics.standard();
    try (TopicAdmin admin = new TopicAdmin(kafka, Duration.ofSeconds(60))) {
      admin.ensure(topics, 2);
    }
    try (var producer =
        new KafkaProducer<>(
            kafka.producer(), new ByteArraySerializer(), new ByteArraySerializer())) {
      ProducerRecord<byte[], byte[]> poison =
          new ProducerRecord<>(topics.events(), 1, "core-7".getBytes(UTF_8), BINARY);
      poison.headers().add("session", "s1".getBytes(UTF_8));
      producer.send(poison).get();
      producer.send(new ProducerRecord<>(topics.events(), 1, null, new byte[0])).get();
    }
    PipelineConfig config =
        PipelineConfig.of(kafka).but().checkpoints(Duration.ofMillis(200), 1).build();
    try (Pipeline pipeline = PipelineService.start(config)) {
      while (letters().size() < 2) { // each look asks the broker
        assertThat(pipeline.openPartitions(Duration.ofMinutes(1)).toCompletableFuture())
            .succeedsWithin(Duration.ofMinutes(1));
      }
      pipeline.stop().toCompletableFuture().get(2, TimeUnit.MINUTES);
    }
  }

  @AfterAll
  void stop() {
    broker.close();
  }

  @Test
  void listNamesEachWithItsReason() {
    Ran text = run("list");
    assertThat(text.code()).isZero();
    assertThat(text.out().lines().toList())
        .hasSize(3)
        .first()
        .asString()
        .startsWith("OFFSET")
        .endsWith("REASON");
    assertThat(text.out())
        .contains("retstack.events.v1/1@0", "core-7", "schema id", "message of 0 bytes");
    assertThat(run("list", "--format", "csv").out().lines()).hasSize(3);
    assertThat(run("list", "--last", "1").out()).doesNotContain("core-7").contains("@1");
    assertThat(run("list", "--reason", "0 bytes").out()).doesNotContain("core-7").contains("@1");
  }

  @Test
  void showHasTheBytes() throws Exception {
    long first = letters().getFirst().path("offset").asLong();
    Ran shown = run("show", "" + first);
    assertThat(shown.out())
        .contains("header   session: s1")
        .contains("value    6 bytes")
        .contains("00 01 02 ff 61 0a")
        .contains("....a.");
    JsonNode json = new ObjectMapper().readTree(run("show", "" + first, "--format", "json").out());
    assertThat(json.get(0).path("value").binaryValue()).isEqualTo(BINARY);
    assertThat(json.get(0).path("key").binaryValue()).asString(UTF_8).isEqualTo("core-7");
  }

  @Test
  void reInjectPutsThemBackAsTheyWere() throws Exception {
    long first = letters().getFirst().path("offset").asLong();
    List<ConsumerRecord<byte[], byte[]>> before = records("retstack.events.v1", 1);
    Ran back = run("re-inject", "" + first, "--format", "json");
    assertThat(back.code()).as(back.err()).isZero();
    JsonNode sent = new ObjectMapper().readTree(back.out()).get(0);
    assertThat(sent.path("topic").asText()).isEqualTo("retstack.events.v1");
    assertThat(sent.path("partition").asInt()).isEqualTo(1);
    List<ConsumerRecord<byte[], byte[]>> after = records("retstack.events.v1", 1);
    assertThat(after).hasSize(before.size() + 1);
    ConsumerRecord<byte[], byte[]> original = after.getFirst();
    ConsumerRecord<byte[], byte[]> again = after.getLast();
    assertThat(again.offset()).isEqualTo(sent.path("at").asLong());
    assertThat(again.key()).isEqualTo(original.key());
    assertThat(again.value()).isEqualTo(original.value());
    assertThat(again.headers()).isEqualTo(original.headers());

    Ran elsewhere =
        run("re-inject", "--all", "--reason", "0 bytes", "--into", "retstack.control.v1");
    assertThat(elsewhere.code()).as(elsewhere.err()).isZero();
    assertThat(elsewhere.err()).contains("1 letter sent again");
    assertThat(records("retstack.control.v1", 0).getLast().value()).isEmpty();
  }

  @Test
  void whatMakesNoSenseIsRefusedWithACure() {
    assertThat(run("show", "4711").code()).isEqualTo(3);
    assertThat(run("show", "4711").err()).contains("no dead letter 4711", "dead-letters list");
    assertThat(run("list", "1").err()).contains("use show 1");
    assertThat(run("show").err()).contains("give offsets");
    assertThat(run("re-inject").err()).contains("--all");
    assertThat(run("re-inject", "1", "--all").code()).isEqualTo(2);
    assertThat(run("forget").err()).contains("use list, show or re-inject");
    assertThat(run("list", "--into", "x").err()).contains("belong to re-inject");
  }

  private List<JsonNode> letters() throws Exception {
    List<JsonNode> all = new ArrayList<>();
    new ObjectMapper().readTree(run("list", "--format", "json").out()).forEach(all::add);
    return all;
  }

  private Ran run(String... arguments) {
    List<String> words = new ArrayList<>(List.of("dead-letters"));
    words.addAll(List.of(arguments));
    words.addAll(List.of("--bootstrap", broker.bootstrap()));
    return Ran.with(Map.of(), words.toArray(String[]::new));
  }

  private List<ConsumerRecord<byte[], byte[]>> records(String topic, int partition) {
    List<ConsumerRecord<byte[], byte[]>> found = new ArrayList<>();
    try (var consumer =
        new KafkaConsumer<>(
            kafka.consumer(), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      TopicPartition one = new TopicPartition(topic, partition);
      consumer.assign(List.of(one));
      consumer.seekToBeginning(List.of(one));
      long end = consumer.endOffsets(List.of(one)).get(one);
      while (consumer.position(one) < end) {
        consumer.poll(Duration.ofMillis(100)).forEach(found::add);
      }
    }
    return found;
  }
}
