package dev.retstack.cli.verb;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.Ran;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.cli.command.ExitCode;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Hot addresses of a fleet in Kafka are those of the same records in a trace. */
class HotFromKafkaTest {
  @TempDir private Path folder;

  @Test
  void everyWayOfCountingGivesWhatItGivesOnATrace() throws Exception {
    try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("kafka"), 0)) {
      Map<String, String> kafka = Map.of("KAFKA_BOOTSTRAP_SERVERS", broker.bootstrap());
      String trace = folder.resolve("trace.avro").toString();
      Ran emulated =
          Ran.with(
              kafka,
              "emulate",
              "--image",
              "zoo-riscv64-mcount",
              "--image",
              "zoo-arm-mcount",
              "--cores",
              "2",
              "--",
              "w200",
              "3000");
      assertThat(emulated.code()).as(emulated.err()).isEqualTo(ExitCode.OK);
      assertThat(Ran.with(kafka, "record", "--from-kafka", "-o", trace).code())
          .isEqualTo(ExitCode.OK);
      for (List<String> way :
          List.of(List.of("--seed-table", "--entries", "7"), List.of("--exact", "--per-core"))) {
        Ran stored = Ran.retstack(words("hot " + trace, way));
        Ran live = Ran.with(kafka, words("hot --from-kafka", way));
        assertThat(live.code()).as(live.err()).isEqualTo(ExitCode.OK);
        assertThat(live.out()).isEqualTo(stored.out()).contains("w200_");
      }
    }
  }

  private static String[] words(String first, List<String> rest) {
    return (first + " " + String.join(" ", rest) + " --format json").split(" ");
  }

  @Test
  void oneSourceIsNamed() {
    assertThat(Ran.retstack("hot", "--from-kafka", "--live").err())
        .contains("give one of a trace, --live and --from-kafka");
    assertThat(Ran.retstack("hot").code()).isEqualTo(ExitCode.USAGE);
    for (String ignored :
        List.of("--seed-table", "--per-core", "--ignore=0x1-0x2", "--entries=7")) {
      assertThat(Ran.retstack("hot", "--live", ignored).err())
          .contains("--from-kafka counts in both ways");
    }
  }
}
