package dev.retstack.cli.operator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.retstack.answers.http.HttpTls;
import dev.retstack.answers.http.HttpToken;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.house.Repository;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import kafka.server.KafkaConfig;
import org.apache.kafka.server.config.AbstractKafkaConfig;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compose file, systemd units and container files run commands that there are. */
class UnitsTest {
  record Compose(
      String name,
      @JsonProperty("x-broker") JsonNode broker,
      @JsonProperty("x-broker-environment") JsonNode brokerEnvironment,
      @JsonProperty("x-member") JsonNode member,
      Map<String, JsonNode> services,
      Map<String, Secret> secrets) {}

  record Secret(String file) {}

  record Service(
      String image,
      String hostname,
      String restart,
      @JsonProperty("stop_grace_period") String stopGracePeriod,
      @JsonProperty("depends_on") List<String> dependsOn,
      Map<String, String> environment,
      List<String> command,
      List<String> ports,
      List<String> volumes,
      List<String> secrets) {}

  private static final Path UNITS = OperatorFiles.deploy("systemd");
  private static final String INSTALLED = "/opt/retstack/retstack";
  private static final String SECRETS = OperatorFiles.deploy("secrets.sh").toString();

  /** The user of Prometheus' image. */
  private static final String NOBODY = "65534";

  /** Reads file $1 as user $2 where a container would have it. */
  private static final String MOUNTED =
      """
      set -eu
      mount -t tmpfs -o mode=755 tmpfs /mnt
      touch /mnt/secret
      mount --bind "$1" /mnt/secret
      exec setpriv --reuid="$2" --regid="$2" --clear-groups cat /mnt/secret
      """;

  @Test
  void composeRunsThreeBrokersTwoMembersAndAFleet() throws Exception {
    Path file = OperatorFiles.deploy("compose/compose.yaml");
    Compose compose = OperatorFiles.YAML.readValue(file.toFile(), Compose.class);
    TreeSet<String> names = new TreeSet<>(compose.services().keySet());
    assertThat(names)
        .containsExactly(
            "broker-1", "broker-2", "broker-3", "fleet", "pipeline-1", "pipeline-2", "prometheus");
    TreeSet<String> nodes = new TreeSet<>();
    for (String name : names) {
      JsonNode merged = merged(compose, compose.services().get(name));
      Service service = OperatorFiles.YAML.treeToValue(merged, Service.class);
      assertThat(service.image()).as(name).startsWith("${").doesNotContain("/latest");
      String variable = service.image().replaceAll("\\$\\{([A-Z_]+):.*", "$1");
      assertThat(Files.readString(OperatorFiles.deploy("README.md"))).contains(variable + "=");
      if (service.dependsOn() != null) {
        assertThat(names).containsAll(service.dependsOn());
      }
      if (service.secrets() != null) {
        assertThat(compose.secrets().keySet()).containsAll(service.secrets());
      }
      if (name.startsWith("pipeline") || name.equals("fleet")) {
        assertThat(OperatorFiles.refusal(service.command())).as(name).isEmpty();
        assertThat(service.environment().get("KAFKA_BOOTSTRAP_SERVERS"))
            .isEqualTo("broker-1:9092,broker-2:9092,broker-3:9092");
      }
      if (name.startsWith("broker")) {
        assertThat(nodes.add(service.environment().get("KAFKA_NODE_ID"))).isTrue();
        assertThat(service.environment())
            .containsEntry("KAFKA_ADVERTISED_LISTENERS", "PLAINTEXT://" + name + ":9092")
            .containsEntry("KAFKA_MIN_INSYNC_REPLICAS", "2");
        kafkaTakes(service.environment());
      }
      mounts(file, service);
    }
  }

  /** Images of Kafka make a setting of each KAFKA_*. */
  private static void kafkaTakes(Map<String, String> environment) {
    Map<String, String> settings = new HashMap<>();
    environment.forEach(
        (name, value) -> {
          if (name.startsWith("KAFKA_")) {
            String key = name.substring("KAFKA_".length()).toLowerCase(Locale.ROOT);
            settings.put(key.replace('_', '.'), value);
          }
        });
    assertThat(AbstractKafkaConfig.CONFIG_DEF.names()).containsAll(settings.keySet());
    KafkaConfig.apply(settings, /* doLog= */ false);
  }

  /** Files mounted from the repository are there. */
  private static void mounts(Path compose, Service service) {
    for (String volume : service.volumes() == null ? List.<String>of() : service.volumes()) {
      assertThat(compose.resolveSibling(volume.split(":", -1)[0])).exists();
    }
  }

  /** YAML's merge key: what stands in the service wins. */
  private static JsonNode merged(Compose compose, JsonNode service) {
    ObjectNode result = OperatorFiles.YAML.createObjectNode();
    JsonNode base = service.get("<<");
    if (base != null) {
      String alias = base.isObject() ? "" : base.asText();
      JsonNode found =
          switch (alias) {
            case "broker" -> compose.broker();
            case "member" -> compose.member();
            case "broker-environment" -> compose.brokerEnvironment();
            default -> base;
          };
      result.setAll((ObjectNode) found);
    }
    service
        .properties()
        .forEach(
            field -> {
              if (!field.getKey().equals("<<")) {
                JsonNode value = field.getValue();
                result.set(field.getKey(), value.isObject() ? merged(compose, value) : value);
              }
            });
    return result;
  }

  @Test
  void unitsRunCommandsThatThereAre() throws Exception {
    for (Path unit : units()) {
      String start = value(unit, "ExecStart");
      assertThat(start).startsWith(INSTALLED + " ");
      List<String> words = Arrays.asList(start.replace("%i", "1").split(" ", -1));
      assertThat(OperatorFiles.refusal(words.subList(1, words.size()))).as(start).isEmpty();
      String text = Files.readString(unit);
      Matcher credential = Pattern.compile("\\$\\{CREDENTIALS_DIRECTORY}/(\\S+)").matcher(start);
      while (credential.find()) {
        String name = credential.group(1);
        assertThat(text).contains("LoadCredential=" + name + ":/etc/retstack/secrets/" + name);
      }
    }
  }

  /** A member that meets another version ends with 3, and nothing gets better by a new start. */
  @Test
  void membersAreStartedAgainWhereThatHelps() throws Exception {
    Path unit = UNITS.resolve("retstack-pipeline@.service");
    assertThat(value(unit, "Restart")).isEqualTo("always");
    assertThat(value(unit, "SuccessExitStatus")).isEqualTo("143");
    assertThat(value(unit, "RestartPreventExitStatus")).isEqualTo("2 3");
    assertThat(Files.readString(unit)).doesNotContain("StartLimit");
    Path file = OperatorFiles.deploy("compose/compose.yaml");
    Compose compose = OperatorFiles.YAML.readValue(file.toFile(), Compose.class);
    for (String name : List.of("pipeline-1", "pipeline-2")) {
      JsonNode merged = merged(compose, compose.services().get(name));
      assertThat(merged.path("restart").asText()).as(name).isEqualTo("unless-stopped");
    }
    // of a Deployment's pods no other policy than Always is allowed
    assertThat(Files.readString(OperatorFiles.deploy("kubernetes/pipeline.yaml")))
        .contains("kind: Deployment")
        .doesNotContain("restartPolicy");
  }

  /** Only where Kafka was away may the next run of a fleet do better. */
  @Test
  void fleetsAreStartedAgainWhereThatHelps() throws Exception {
    Path unit = UNITS.resolve("retstack-fleet@.service");
    assertThat(value(unit, "Restart")).isEqualTo("on-failure");
    assertThat(value(unit, "RestartPreventExitStatus"))
        .isEqualTo(
            Stream.of(
                    ExitCode.USAGE,
                    ExitCode.BAD_INPUT,
                    ExitCode.FAULTED,
                    ExitCode.NOTHING_RECORDED,
                    ExitCode.WAITS)
                .map(String::valueOf)
                .collect(Collectors.joining(" ")));
  }

  @Test
  void systemdAcceptsTheUnits(@TempDir Path dir) throws Exception {
    Assumptions.assumeTrue(
        OperatorRun.isInstalled("systemd-analyze"), "systemd-analyze is not installed");
    Files.createSymbolicLink(dir.resolve("retstack"), Repository.root().resolve("retstack"));
    for (Path unit : units()) {
      // the program is looked for where it would be installed, and that has no space
      String here = dir.resolve("retstack").toString();
      Path copy = dir.resolve(unit.getFileName().toString().replace("@", "@1"));
      Files.writeString(copy, Files.readString(unit).replace(INSTALLED, here));
      Process process =
          new ProcessBuilder("systemd-analyze", "verify", "--man=no", copy.toString())
              .redirectErrorStream(true)
              .start();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      int code = process.waitFor();
      assertThat(said.lines().filter(line -> line.contains("retstack"))).as(said).isEmpty();
      assertThat(code).as(said).isZero();
    }
  }

  @Test
  void theContainerFileNamesItsBasesAndCopiesWhatThereIs() throws Exception {
    List<String> stages = new ArrayList<>();
    for (String line : Files.readAllLines(OperatorFiles.deploy("container/Containerfile"))) {
      List<String> words = Arrays.asList(line.strip().split("\\s+", -1));
      switch (words.getFirst()) {
        case "FROM" -> {
          String base = words.get(1);
          assertThat(base.startsWith("${") || stages.contains(base)).as(line).isTrue();
          stages.add(words.get(3));
        }
        case "COPY" -> {
          String source = words.get(1);
          if (source.startsWith("--from=")) {
            assertThat(stages).as(line).contains(source.substring("--from=".length()));
          } else {
            assertThat(Repository.root().resolve(source)).as(line).exists();
          }
        }
        default ->
            assertThat(line).matches("|#.*|\\s+.*|(ARG|WORKDIR|RUN|USER|ENTRYPOINT|CMD|ENV) .*");
      }
    }
    assertThat(stages).contains("pipeline", "emulator");
  }

  @Test
  void secretsAreMadeOnceAndForTheNames(@TempDir Path dir) throws Exception {
    OperatorRun.succeeds(dir, Map.of(), SECRETS, "secrets", "node-7");
    String token = Files.readString(dir.resolve("secrets/token"));
    assertThat(token).hasSize(64);
    OperatorRun.succeeds(dir, Map.of(), SECRETS, "secrets");
    assertThat(dir.resolve("secrets/token")).hasContent(token);
    assertThat(dir.resolve("secrets/ca.pem")).content().contains("BEGIN CERTIFICATE");
    HttpTls.read(dir.resolve("secrets/http.p12"), dir.resolve("secrets/password"));
    HttpToken.read(dir.resolve("secrets/token"));
  }

  @Test
  void secretsAreNotMadeWhereOthersMayEnter(@TempDir Path dir) throws Exception {
    Path open = Files.createDirectory(dir.resolve("open"));
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxr-xr-x"));
    assertThat(OperatorRun.ends(4, dir, Map.of(), SECRETS, "open"))
        .isEqualTo(
            "secrets.sh: others may enter open: chmod 700 open, or name a folder that does not exist\n");
    assertThat(open).isEmptyDirectory();
  }

  /** Compose mounts the file of a secret as it is: its owner and mode are those of the host. */
  @Test
  void containersReadTheirSecretsAndOtherUsersOfTheHostDoNot(@TempDir Path dir) throws Exception {
    OperatorRun.succeeds(dir, Map.of(), SECRETS, "secrets");
    Path folder = dir.resolve("secrets");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)))
        .isEqualTo("rwx------");
    Path file = OperatorFiles.deploy("compose/compose.yaml");
    Compose compose = OperatorFiles.YAML.readValue(file.toFile(), Compose.class);
    OperatorRun.assumeOtherUsers();
    String own = userOfTheImage();
    int read = 0;
    for (String name : compose.services().keySet()) {
      String user = name.equals("prometheus") ? NOBODY : own;
      for (JsonNode secret : merged(compose, compose.services().get(name)).path("secrets")) {
        String source = compose.secrets().get(secret.asText()).file();
        Path made = folder.resolve(source.substring(source.lastIndexOf('/') + 1));
        OperatorRun.succeeds(
            dir, Map.of(), "unshare", "--mount", "sh", "-c", MOUNTED, "sh", "" + made, user);
        read++;
      }
    }
    assertThat(read).isEqualTo(8);
    OperatorRun.succeeds(dir, Map.of(), "chmod", "755", "" + dir);
    OperatorRun.ends(
        1, dir, Map.of(), "setpriv", "--reuid=" + own, "--clear-groups", "cat", folder + "/token");
  }

  private static String userOfTheImage() throws IOException {
    return Files.readAllLines(OperatorFiles.deploy("container/Containerfile")).stream()
        .filter(line -> line.startsWith("USER "))
        .map(line -> line.replaceFirst("USER ([0-9]+):.*", "$1"))
        .findFirst()
        .orElseThrow();
  }

  private static List<Path> units() throws IOException {
    try (Stream<Path> files = Files.list(UNITS)) {
      List<Path> units = files.filter(file -> file.toString().endsWith(".service")).toList();
      assertThat(units).hasSize(2);
      return units;
    }
  }

  private static String value(Path unit, String key) throws IOException {
    List<String> found = UnitProcess.values(unit, key);
    assertThat(found).as(unit + " " + key).hasSize(1);
    return found.getFirst();
  }
}
