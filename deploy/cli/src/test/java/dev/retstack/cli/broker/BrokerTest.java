package dev.retstack.cli.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.cli.command.ExitCode;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BrokerTest {
  @TempDir private Path dir;

  @Test
  void keepsItsDataAcrossASecondBrokerAKillAndAStartOnAnotherPort() throws Exception {
    try (BrokerProcess broker = BrokerProcess.start(dir, 0)) {
      try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrap()))) {
        admin.createTopics(List.of(new NewTopic("kept", 1, (short) 1))).all().get();
      }
      leavesTheFirstAlone(broker);
      send(broker.bootstrap(), "kept", "one");
      ProcessHandle child = ProcessHandle.of(broker.pid()).orElseThrow();
      assertThat(child.destroyForcibly()).isTrue();
      child.onExit().get();
    }
    try (EmbeddedBroker again = EmbeddedBroker.start(dir, 0)) {
      assertThatThrownBy(() -> EmbeddedBroker.start(dir, 0)).hasMessageContaining("this process");
      send(again.bootstrap(), "kept", "two");
      assertThat(read(again.bootstrap(), "kept", 2)).containsExactly("one", "two");
    }
  }

  /** A second broker in the folder used to write into the logs of the first, which died of it. */
  private void leavesTheFirstAlone(BrokerProcess first) throws Exception {
    assertThatThrownBy(() -> BrokerProcess.start(dir, 0))
        .isInstanceOf(BrokerException.class)
        .hasMessageContaining("exit " + ExitCode.ENVIRONMENT)
        .hasMessageContaining("in use by another broker")
        .hasMessageContaining("pid " + first.pid() + ", " + first.bootstrap() + ", since 20")
        .hasMessageContaining("--dir");
    Path link = Files.createSymbolicLink(dir.resolve("link"), dir);
    assertThatThrownBy(() -> EmbeddedBroker.start(link, 0)).hasMessageContaining("in use");
  }

  @Test
  void childEndsWithItsInput() throws Exception {
    BrokerProcess broker = BrokerProcess.start(dir, 0);
    ProcessHandle child = ProcessHandle.of(broker.pid()).orElseThrow();
    assertThat(child.isAlive()).isTrue();
    broker.close();
    assertThat(child.isAlive()).isFalse();
    assertThat(broker.log()).exists();
  }

  @Test
  void takenPortIsNamedWithTheCure() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThatThrownBy(() -> EmbeddedBroker.start(dir, taken.getLocalPort()))
          .isInstanceOf(BrokerException.class)
          .hasMessageContaining("port " + taken.getLocalPort() + " is taken")
          .hasMessageContaining("--port");
      assertThatThrownBy(() -> BrokerProcess.start(dir, taken.getLocalPort()))
          .isInstanceOf(BrokerException.class)
          .hasMessageContaining("port " + taken.getLocalPort() + " is taken");
    }
  }

  @Test
  void folderThatIsAFileIsRefused() throws Exception {
    Path file = Files.writeString(dir.resolve("file"), "not a folder");
    assertThatThrownBy(() -> EmbeddedBroker.start(file, 0))
        .isInstanceOf(BrokerException.class)
        .hasMessageContaining("cannot write to")
        .hasMessageContaining("--dir");
  }

  @Test
  void folderOfAnotherNodeIsRefused() throws Exception {
    Path data = Files.createDirectories(dir.resolve("kafka"));
    Files.writeString(
        data.resolve("meta.properties"),
        "version=1\nnode.id=7\ncluster.id=abcdefghijklmnopqrstuv\ndirectory.id=aaaaaaaaaaaaaaaaaaaaaa\n");
    assertThatThrownBy(() -> EmbeddedBroker.start(dir, 0))
        .isInstanceOf(BrokerException.class)
        .hasMessageContaining(data.toString())
        .hasMessageContaining("--dir");
  }

  private static void send(String bootstrap, String topic, String value) throws Exception {
    Map<String, Object> settings = Map.of("bootstrap.servers", bootstrap, "acks", "all");
    try (var producer =
        new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
      producer.send(new ProducerRecord<>(topic, 0, "k", value)).get();
    }
  }

  private static List<String> read(String bootstrap, String topic, int count) {
    List<String> values = new java.util.ArrayList<>();
    Map<String, Object> settings = Map.of("bootstrap.servers", bootstrap);
    try (var consumer =
        new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
      TopicPartition partition = new TopicPartition(topic, 0);
      consumer.assign(List.of(partition));
      consumer.seekToBeginning(List.of(partition));
      while (values.size() < count) {
        for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofSeconds(5))) {
          values.add(record.value());
        }
      }
    }
    return values;
  }
}
