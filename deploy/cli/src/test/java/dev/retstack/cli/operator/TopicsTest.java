package dev.retstack.cli.operator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicAdmin;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourceType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Topics for an operator-run Kafka are those that the pipeline itself makes on a real broker. */
class TopicsTest {
  record Metadata(String name, Map<String, String> labels) {}

  record Topic(String apiVersion, String kind, Metadata metadata, TopicSpec spec) {}

  record TopicSpec(int partitions, int replicas, Map<String, String> config) {}

  record User(String apiVersion, String kind, Metadata metadata, UserSpec spec) {}

  record UserSpec(Map<String, String> authentication, Authorization authorization) {}

  record Authorization(String type, List<Acl> acls) {}

  record Acl(Resource resource, List<String> operations) {}

  record Resource(String type, String name, String patternType) {}

  @Test
  void theyAreThoseThatThePipelineMakes(@TempDir Path dir) throws Exception {
    Map<String, Topic> written = new TreeMap<>();
    for (JsonNode document :
        OperatorFiles.documents(OperatorFiles.deploy("kubernetes/topics.yaml"))) {
      Topic topic = OperatorFiles.YAML.treeToValue(document, Topic.class);
      assertThat(topic.kind()).isEqualTo("KafkaTopic");
      written.put(topic.metadata().name(), topic);
    }
    Topics topics = Topics.standard();
    assertThat(written.keySet()).containsExactlyInAnyOrderElementsOf(topics.all());
    try (EmbeddedBroker broker = EmbeddedBroker.start(dir, 0)) {
      KafkaSettings kafka = KafkaSettings.of(broker.bootstrap());
      try (TopicAdmin admin = new TopicAdmin(kafka, Duration.ofSeconds(60))) {
        admin.ensure(topics, written.get(topics.events()).spec().partitions());
      }
      try (Admin admin = Admin.create(kafka.admin())) {
        for (Topic topic : written.values()) {
          compare(admin, topic);
        }
      }
    }
  }

  private static void compare(Admin admin, Topic topic) throws Exception {
    String name = topic.metadata().name();
    TopicDescription made = admin.describeTopics(List.of(name)).allTopicNames().get().get(name);
    assertThat(topic.spec().partitions()).as(name).isEqualTo(made.partitions().size());
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, name);
    Config config = admin.describeConfigs(List.of(resource)).all().get().get(resource);
    Map<String, String> set = new TreeMap<>();
    for (ConfigEntry entry : config.entries()) {
      if (entry.source() == ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG) {
        set.put(entry.name(), entry.value());
      }
    }
    Map<String, String> wanted = new TreeMap<>(topic.spec().config());
    wanted.remove("min.insync.replicas"); // of the cluster where the pipeline makes the topic
    assertThat(wanted).as(name).isEqualTo(set);
  }

  @Test
  void rightsAreOnesThatKafkaKnowsAndCoverEveryTopic() throws Exception {
    List<String> names = new ArrayList<>();
    for (JsonNode document :
        OperatorFiles.documents(OperatorFiles.deploy("kubernetes/users.yaml"))) {
      User user = OperatorFiles.YAML.treeToValue(document, User.class);
      names.add(user.metadata().name());
      List<String> topics = new ArrayList<>();
      for (Acl acl : user.spec().authorization().acls()) {
        ResourceType type = ResourceType.fromString(camel(acl.resource().type()));
        assertThat(type).as(acl.toString()).isNotEqualTo(ResourceType.UNKNOWN);
        PatternType pattern =
            acl.resource().patternType().equals("prefix")
                ? PatternType.PREFIXED
                : PatternType.fromString(acl.resource().patternType().toUpperCase(Locale.ROOT));
        assertThat(pattern).as(acl.toString()).isIn(PatternType.PREFIXED, PatternType.LITERAL);
        for (String operation : acl.operations()) {
          assertThat(AclOperation.fromString(operation))
              .as(acl.toString())
              .isNotEqualTo(AclOperation.UNKNOWN);
        }
        if (type == ResourceType.TOPIC && pattern == PatternType.LITERAL) {
          topics.add(acl.resource().name());
        }
      }
      assertThat(Topics.standard().all()).containsAll(topics);
      if (!user.metadata().name().equals("retstack-operator")) {
        assertThat(topics).containsExactlyInAnyOrderElementsOf(Topics.standard().all());
      }
    }
    assertThat(names).containsExactly("retstack-pipeline", "retstack-fleet", "retstack-operator");
  }

  private static String camel(String type) {
    return type.equals("transactionalId") ? "TRANSACTIONAL_ID" : type;
  }
}
