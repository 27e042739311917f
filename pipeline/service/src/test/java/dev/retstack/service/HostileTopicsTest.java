package dev.retstack.service;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.schema.wire.Topics;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.Scraped;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

/** A producer that may write to the state topic, and means ill: the other partitions go on. */
class HostileTopicsTest {
  private final LiveBench bench = LiveBench.fresh();
  private final Topics topics = bench.topics();

  @Test
  void aForgedCheckpointIsLeftAloneWithItsPartition() throws Exception {
    String group = topics.prefix();
    send(topics.state(), 0, (group + "/0/0").getBytes(UTF_8), "RSCP and more".getBytes(UTF_8));
    bench.produceAll();
    try (Pipeline pipeline = PipelineService.start(bench.config())) {
      Scraped page =
          bench.awaitScrape(
              pipeline, p -> p.sum("retstack_partition_open") == LiveBench.PARTITIONS - 1);
      assertThat(page.sum("retstack_partition_failures_total")).isZero();
    }
  }

  private void send(String topic, Integer partition, byte[] key, byte[] value) {
    Map<String, Object> settings = new HashMap<>(bench.kafka().producer());
    settings.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, 16 << 20);
    try (var producer =
        new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
      var _ = producer.send(new ProducerRecord<>(topic, partition, key, value)).get();
    } catch (Exception e) {
      throw new AssertionError("the broker takes it", e);
    }
  }
}
