package dev.retstack.cli.verb;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.Ran;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicAdmin;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** What another release left in Kafka: commands end with the version found and the cure. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OtherVersionTest {
  private EmbeddedBroker broker;
  private KafkaSettings kafka;

  @BeforeAll
  void start(@TempDir Path dir) throws Exception {
    broker = EmbeddedBroker.start(dir, 0);
    kafka = KafkaSettings.of(broker.bootstrap());
  }

  @AfterAll
  void stop() {
    broker.close();
  }

  @Test
  void stateEndsAMember() throws Exception {
    Topics topics = new Topics("state");
    try (TopicAdmin admin = new TopicAdmin(kafka, Duration.ofSeconds(60))) {
      admin.ensure(topics, 1);
    }
    byte[] key = (PipelineConfig.DEFAULT_GROUP + "/0/0").getBytes(UTF_8);
    byte[] part = ByteBuffer.allocate(200).put("RSCP".getBytes(UTF_8)).put((byte) 7).array();
    try (var producer =
        new KafkaProducer<>(
            kafka.producer(), new ByteArraySerializer(), new ByteArraySerializer())) {
      producer.send(new ProducerRecord<>(topics.state(), 0, key, part)).get();
    }
    Ran ran = retstack("pipeline", "--http-port", "0", "--prefix", topics.prefix());
    assertThat(ran.code()).as(ran.err()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(ran.err())
        .contains("checkpoint is of version 7, this release reads version 1")
        .contains("begin again with another --group, or run the release that wrote it")
        .doesNotContain("joins its group again");
  }

  @Test
  void topicsEndMembersAndFleets() throws Exception {
    try (Admin admin = Admin.create(kafka.admin())) {
      NewTopic other = new NewTopic("later.events.v2", Optional.of(1), Optional.empty());
      admin.createTopics(List.of(other)).all().get();
    }
    for (Ran ran :
        List.of(
            retstack("pipeline", "--http-port", "0", "--prefix", "later"),
            retstack("emulate", "--image", "zoo-x86_64-fentry", "--prefix", "later"))) {
      assertThat(ran.code()).as(ran.err()).isEqualTo(ExitCode.BAD_INPUT);
      assertThat(ran.err())
          .contains("topic later.events.v2 is of version 2, this release reads version 1")
          .contains("another --prefix");
    }
  }

  private Ran retstack(String... args) {
    String[] all = Arrays.copyOf(args, args.length + 2);
    all[args.length] = "--bootstrap";
    all[args.length + 1] = broker.bootstrap();
    return Ran.retstack(all);
  }
}
