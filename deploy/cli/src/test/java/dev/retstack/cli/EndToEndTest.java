package dev.retstack.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.question.View;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.house.Repository;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.PipelineService;
import dev.retstack.service.kafka.KafkaSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Fleet, broker, pipeline, report: one result, whichever way the records went. */
class EndToEndTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int CORES = 8;
  private static final String[] FLEET = {
    "--image", "zoo-x86_64-fentry",
    "--image", "zoo-x86_64-mcount",
    "--image", "zoo-aarch64-mcount",
    "--image", "zoo-riscv64-mcount",
    "--cores", "2"
  };

  @TempDir private Path dir;

  @Test
  void liveFileAndCopiesGiveOneHash() throws Exception {
    Path recorded = dir.resolve("recorded.avro");
    ok(Map.of(), args("record", FLEET, "-o", recorded.toString()));
    String hash = hash(recorded);

    try (EmbeddedBroker broker = EmbeddedBroker.start(dir.resolve("broker"), 0)) {
      Map<String, String> cluster = Map.of("KAFKA_BOOTSTRAP_SERVERS", broker.bootstrap());
      ok(cluster, args("emulate", FLEET, "--flush-ms", "1"));
      assertThat(liveHash(broker, "retstack")).as("fleet to kafka to pipeline").isEqualTo(hash);

      List<String[]> commands = commandsOfTheReadme("## Backup and restore", broker.bootstrap());
      ok(Map.of(), commands.get(0));
      assertThat(hash(dir.resolve("backup.avro"))).as("copy of the events topic").isEqualTo(hash);
      ok(Map.of(), commands.get(1));
      ok(Map.of(), commands.get(2));
      assertThat(commands.get(3)).containsSequence("pipeline", "--bootstrap").contains("restored");
      assertThat(liveHash(broker, "restored")).as("replay into kafka").isEqualTo(hash);

      takesOnlySmallMessages(broker, "restored");
      Ran refused = Ran.with(cluster, args("emulate", FLEET, "--prefix", "restored"));
      assertThat(refused.code()).as(refused.err()).isEqualTo(ExitCode.ENVIRONMENT);
      assertThat(refused.err())
          .contains("were not delivered: kafka refused chunk", "are not in kafka", "take writes")
          .doesNotContain("nothing is lost", "records in restored");
    }
  }

  /** The commands of a section of deploy/README.md, with this broker and files of this test. */
  private List<String[]> commandsOfTheReadme(String head, String bootstrap) throws Exception {
    String readme = Files.readString(Repository.root().resolve("deploy/README.md"));
    String fence = readme.substring(readme.indexOf("```sh\n", readme.indexOf(head)) + 6);
    return fence
        .substring(0, fence.indexOf("```"))
        .lines()
        .map(line -> line.replace("./retstack ", "").replace("kafka-1:9092", bootstrap))
        .map(line -> line.replace("backup.avro", dir.resolve("backup.avro").toString()).split(" "))
        .toList();
  }

  private static void takesOnlySmallMessages(EmbeddedBroker broker, String prefix)
      throws Exception {
    Map<String, Object> settings = Map.of("bootstrap.servers", broker.bootstrap());
    try (Admin admin = Admin.create(settings)) {
      ConfigResource events =
          new ConfigResource(ConfigResource.Type.TOPIC, new Topics(prefix).events());
      AlterConfigOp small =
          new AlterConfigOp(new ConfigEntry("max.message.bytes", "200"), AlterConfigOp.OpType.SET);
      admin.incrementalAlterConfigs(Map.of(events, List.of(small))).all().get();
    }
  }

  /** Starts a pipeline, waits for all cores, asks it over HTTP as well. */
  private String liveHash(EmbeddedBroker broker, String prefix) throws Exception {
    PipelineConfig config =
        PipelineConfig.of(KafkaSettings.of(broker.bootstrap()))
            .but()
            .topics(new Topics(prefix))
            .groupId(prefix + "-test")
            .build();
    try (Pipeline pipeline = PipelineService.start(config)) {
      pipeline.awaitCoresEnded(CORES).toCompletableFuture().get(2, TimeUnit.MINUTES);
      View view = pipeline.view().toCompletableFuture().get(1, TimeUnit.MINUTES);
      String hash = view.report(Optional.empty(), false).resultHash();

      String http = pipeline.httpUri().toString();
      Ran report = ok(Map.of(), "report", "--live", "--http", http, "--format", "json");
      assertThat(JSON.readTree(report.out()).get("resultHash").asText()).isEqualTo(hash);
      Ran graph = ok(Map.of(), "graph", "--live", "--http", http, "--core", "zoo-riscv64-mcount-1");
      assertThat(graph.out()).contains("run_tail() {");
      Ran gate = Ran.retstack("anomalies", "--live", "--http", http, "--fail-on", "error");
      assertThat(gate.code()).isEqualTo(ExitCode.FINDINGS);
      assertThat(gate.out()).contains("FRAME_POINTER_MISMATCH");
      Ran unknown = Ran.retstack("graph", "--live", "--http", http, "--core", "nobody");
      assertThat(unknown.code()).isEqualTo(ExitCode.BAD_INPUT);
      return hash;
    }
  }

  private static String hash(Path trace) throws Exception {
    Ran ran = ok(Map.of(), "report", trace.toString(), "--format", "json");
    return JSON.readTree(ran.out()).get("resultHash").asText();
  }

  private static String[] args(String verb, String[] fleet, String... more) {
    java.util.List<String> all = new java.util.ArrayList<>();
    all.add(verb);
    all.addAll(java.util.List.of(fleet));
    all.addAll(java.util.List.of(more));
    return all.toArray(String[]::new);
  }

  private static Ran ok(Map<String, String> environment, String... args) {
    Ran ran = Ran.with(environment, args);
    assertThat(ran.code()).as(String.join(" ", args) + "\n" + ran.err()).isEqualTo(ExitCode.OK);
    return ran;
  }
}
