package dev.retstack.cli.operator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.Ran;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.cli.trace.FleetCommandRules;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.PipelineService;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicAdmin;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Writer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A broker that asks who one is, and what one may do: fleet, pipeline and operator work with {@code
 * --kafka-config} and the rights of kubernetes/users.yaml, and with no others.
 */
class SecuredKafkaTest {
  private static final String STORES = "stores-password";
  private static final List<String> NAMES =
      List.of("broker", "retstack-pipeline", "retstack-fleet", "retstack-operator");

  /** Keys and certificates, which are made once. */
  @TempDir private static Path keys;

  @TempDir private Path dir;

  @BeforeAll
  static void certificates() throws Exception {
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    for (String name : NAMES) {
      keytool(
          name,
          "-genkeypair -keyalg EC -validity 2 -storetype PKCS12 -ext SAN=ip:127.0.0.1 -dname CN="
              + name);
      KeyStore own = KeyStore.getInstance(new File(store(name)), STORES.toCharArray());
      trusted.setCertificateEntry(name, own.getCertificate("key"));
    }
    try (OutputStream file = Files.newOutputStream(Path.of(store("trusted")))) {
      trusted.store(file, STORES.toCharArray());
    }
  }

  private static void keytool(String store, String words) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"));
    command.addAll(List.of(words.split(" ", -1)));
    command.addAll(List.of("-alias", "key", "-storepass", STORES));
    command.addAll(List.of("-keystore", store(store)));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
  }

  private static String store(String name) {
    return keys.resolve(name + ".p12").toString();
  }

  @Test
  void scramOverTls() throws Exception {
    Map<String, String> broker = new HashMap<>(stores("broker"));
    broker.put("listener.security.protocol.map", "PLAINTEXT:SASL_SSL,CONTROLLER:PLAINTEXT");
    broker.put("sasl.enabled.mechanisms", "SCRAM-SHA-256");
    broker.put("sasl.mechanism.inter.broker.protocol", "SCRAM-SHA-256");
    broker.put("listener.name.plaintext.scram-sha-256.sasl.jaas.config", login("broker", "broker"));
    broker.put("super.users", "User:broker;User:ANONYMOUS");
    Map<String, Map<String, String>> clients = new HashMap<>();
    for (String name : NAMES) {
      clients.put(name, scram(name, name));
    }
    // the same rights do where the broker assigns
    clients.get("retstack-pipeline").put("group.protocol", "consumer");
    check(broker, clients, "User:", NAMES.stream().map(SecuredKafkaTest::user).toList());
  }

  @Test
  void clientCertificates() throws Exception {
    Map<String, String> broker = new HashMap<>(stores("broker"));
    broker.put("listener.security.protocol.map", "PLAINTEXT:SSL,CONTROLLER:PLAINTEXT");
    broker.put("ssl.client.auth", "required");
    broker.put("super.users", "User:CN=broker;User:ANONYMOUS");
    Map<String, Map<String, String>> clients = new HashMap<>();
    for (String name : NAMES) {
      Map<String, String> client = new HashMap<>(stores(name));
      client.put("security.protocol", "SSL");
      clients.put(name, client);
    }
    check(broker, clients, "User:CN=", List.of());
  }

  private static String user(String name) {
    return "SCRAM-SHA-256=[name=%s,password=%s-secret]".formatted(name, name);
  }

  private static String login(String name, String secretOf) {
    return "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"%s\""
            .formatted(name)
        + " password=\"%s-secret\";".formatted(secretOf);
  }

  private static Map<String, String> scram(String name, String secretOf) {
    Map<String, String> client = new HashMap<>(stores(name));
    client.put("security.protocol", "SASL_SSL");
    client.put("sasl.mechanism", "SCRAM-SHA-256");
    client.put("sasl.jaas.config", login(name, secretOf));
    return client;
  }

  private static Map<String, String> stores(String name) {
    return Map.of(
        "ssl.keystore.location",
        store(name),
        "ssl.keystore.type",
        "PKCS12",
        "ssl.keystore.password",
        STORES,
        "ssl.truststore.location",
        store("trusted"),
        "ssl.truststore.type",
        "PKCS12",
        "ssl.truststore.password",
        STORES);
  }

  private void check(
      Map<String, String> settings,
      Map<String, Map<String, String>> clients,
      String principal,
      List<String> scram)
      throws Exception {
    settings.put(
        "authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer");
    try (EmbeddedBroker broker = EmbeddedBroker.start(dir.resolve("data"), 0, settings, scram)) {
      Map<String, Path> files = new HashMap<>();
      for (String name : NAMES) {
        files.put(name, write(name, clients.get(name)));
      }
      prepare(new KafkaSettings(broker.bootstrap(), clients.get("broker")), principal);
      Path trace = dir.resolve("trace.avro");
      succeeds(Ran.retstack("record", "--image", "zoo-riscv64-mcount", "-o", "" + trace));
      succeeds(run(broker, files.get("retstack-fleet"), "replay", "" + trace, "--into-kafka"));
      poison(new KafkaSettings(broker.bootstrap(), clients.get("retstack-fleet")));
      assertThat(liveHash(new KafkaSettings(broker.bootstrap(), clients.get("retstack-pipeline"))))
          .isEqualTo(hash(Ran.retstack("report", "" + trace, "--format", "json")));

      Ran letters = run(broker, files.get("retstack-operator"), "dead-letters", "list");
      succeeds(letters);
      assertThat(letters.out()).contains("first byte: expected 0");
      String backup = dir.resolve("backup.avro").toString();
      Ran copied =
          run(broker, files.get("retstack-operator"), "record", "--from-kafka", "-o", backup);
      succeeds(copied);
      assertThat(copied.err()).contains("; 1 refused");
      assertThat(hash(Ran.retstack("report", backup, "--format", "json")))
          .isEqualTo(hash(Ran.retstack("report", "" + trace, "--format", "json")));
      Ran forbidden = run(broker, files.get("retstack-fleet"), "dead-letters", "list");
      assertThat(forbidden.code()).as(forbidden.err()).isEqualTo(4);
      assertThat(forbidden.err()).contains("authorized");
      if (!scram.isEmpty()) {
        Path wrong = write("wrong", scram("retstack-operator", "retstack-fleet"));
        Ran refused = run(broker, wrong, "dead-letters", "list");
        assertThat(refused.code()).isEqualTo(4);
        assertThat(refused.err()).contains("uthentication failed").doesNotContain("-secret");
      }
    }
  }

  private static void poison(KafkaSettings fleet) throws Exception {
    try (var producer =
        new KafkaProducer<>(
            fleet.producer(), new ByteArraySerializer(), new ByteArraySerializer())) {
      byte[] value = "no chunk".getBytes(StandardCharsets.UTF_8);
      producer.send(new ProducerRecord<>(Topics.standard().events(), value)).get();
    }
  }

  /** What the cluster's owner does: topics, and the rights of users.yaml. */
  private static void prepare(KafkaSettings owner, String principal) throws Exception {
    try (TopicAdmin admin = new TopicAdmin(owner, Duration.ofSeconds(60))) {
      admin.ensure(Topics.standard(), 2);
    }
    List<AclBinding> rights = new ArrayList<>();
    for (JsonNode document :
        OperatorFiles.documents(OperatorFiles.deploy("kubernetes/users.yaml"))) {
      TopicsTest.User user = OperatorFiles.YAML.treeToValue(document, TopicsTest.User.class);
      for (TopicsTest.Acl acl : user.spec().authorization().acls()) {
        for (String operation : acl.operations()) {
          rights.add(
              new AclBinding(
                  pattern(acl.resource()),
                  new AccessControlEntry(
                      principal + user.metadata().name(),
                      "*",
                      AclOperation.fromString(operation.toUpperCase(Locale.ROOT)),
                      AclPermissionType.ALLOW)));
        }
      }
    }
    try (Admin admin = Admin.create(owner.admin())) {
      admin.createAcls(rights).all().get(60, TimeUnit.SECONDS);
    }
  }

  private static ResourcePattern pattern(TopicsTest.Resource resource) {
    ResourceType type =
        switch (resource.type()) {
          case "topic" -> ResourceType.TOPIC;
          case "group" -> ResourceType.GROUP;
          case "transactionalId" -> ResourceType.TRANSACTIONAL_ID;
          default -> throw new AssertionError(resource);
        };
    boolean prefix = resource.patternType().equals("prefix");
    return new ResourcePattern(
        type, resource.name(), prefix ? PatternType.PREFIXED : PatternType.LITERAL);
  }

  private static String liveHash(KafkaSettings kafka) throws Exception {
    PipelineConfig config =
        PipelineConfig.of(kafka).but().commands(new FleetCommandRules(), true).build();
    try (Pipeline pipeline = PipelineService.start(config)) {
      pipeline.awaitCoresEnded(1).toCompletableFuture().get(2, TimeUnit.MINUTES);
      itReadsCommandsAndMayGiveNone(pipeline.httpUri());
      return pipeline
          .view()
          .toCompletableFuture()
          .get(1, TimeUnit.MINUTES)
          .report(Optional.empty(), false)
          .resultHash();
    }
  }

  /** With the rights of users.yaml a member shows the log; to command it needs one more. */
  private static void itReadsCommandsAndMayGiveNone(URI member) throws Exception {
    try (HttpClient http = HttpClient.newHttpClient()) {
      HttpResponse<String> log =
          http.send(
              HttpRequest.newBuilder(member.resolve("/control/log")).build(),
              HttpResponse.BodyHandlers.ofString());
      assertThat(log.statusCode()).as(log.body()).isEqualTo(200);
      HttpResponse<String> about =
          http.send(
              HttpRequest.newBuilder(member.resolve("/control")).build(),
              HttpResponse.BodyHandlers.ofString());
      HttpResponse<String> refused =
          http.send(
              HttpRequest.newBuilder(member.resolve("/control/commands"))
                  .header("Origin", "http://" + member.getAuthority())
                  .header("Content-Type", "application/json")
                  .header(
                      "Retstack-Page-Token",
                      new ObjectMapper().readTree(about.body()).path("token").asText())
                  .POST(HttpRequest.BodyPublishers.ofString("{\"name\":\"status\"}"))
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      assertThat(refused.statusCode()).as(refused.body()).isEqualTo(502);
      assertThat(refused.body()).contains("authorized", "Write", "retstack.control.v1");
    }
  }

  private static String hash(Ran report) throws Exception {
    succeeds(report);
    return new ObjectMapper().readTree(report.out()).path("resultHash").asText();
  }

  private static void succeeds(Ran ran) {
    assertThat(ran.code()).as(ran.err()).isZero();
  }

  private static Ran run(EmbeddedBroker broker, Path config, String... words) {
    List<String> all = new ArrayList<>(List.of(words));
    all.addAll(List.of("--bootstrap", broker.bootstrap(), "--kafka-config", config.toString()));
    return Ran.retstack(all.toArray(String[]::new));
  }

  private Path write(String name, Map<String, String> settings) throws IOException {
    Properties properties = new Properties();
    properties.putAll(settings);
    Path file = dir.resolve(name + ".properties");
    try (Writer out = Files.newBufferedWriter(file)) {
      properties.store(out, null);
    }
    return file;
  }
}
