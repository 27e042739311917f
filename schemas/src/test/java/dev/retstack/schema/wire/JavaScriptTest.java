package dev.retstack.schema.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.retstack.schema.Anomaly;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.DeadLetter;
import dev.retstack.schema.Image;
import dev.retstack.schema.Profile;
import dev.retstack.schema.Samples;
import dev.retstack.schema.Span;
import dev.retstack.schema.avro.AvroRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** JavaScript has no number above 2^53: what may be an address is text in what we publish. */
class JavaScriptTest {
  /** A return address that a program overwrote with its input. */
  private static final String SMASHED = "0x4141414141414141";

  /** What may be a number: it is counted, timed, or an offset. A new one needs a thought. */
  private static final Map<Schema, Set<String>> NUMBERS =
      Map.of(
          Anomaly.getClassSchema(),
          Set.of("time", "count", "chunk"),
          Span.getClassSchema(),
          Set.of("enter", "exit", "self", "lost", "chunk"),
          Profile.getClassSchema(),
          Set.of("calls", "finished", "total", "self", "min", "max", "offset"),
          DeadLetter.getClassSchema(),
          Set.of("offset", "timestamp"),
          ControlResult.getClassSchema(),
          Set.of("number", "records", "time", "answeredAt"));

  @Test
  void whatThePipelinePublishesHasNoAddressThatIsANumber() {
    NUMBERS.forEach(
        (schema, numbers) ->
            assertThat(
                    schema.getFields().stream()
                        .filter(JavaScriptTest::isLong)
                        .map(Schema.Field::name)
                        .collect(Collectors.toSet()))
                .as(schema.getName())
                .isEqualTo(numbers));
  }

  private static boolean isLong(Schema.Field field) {
    Schema type = field.schema();
    return type.isUnion()
        ? type.getTypes().stream().anyMatch(t -> t.getType() == Schema.Type.LONG)
        : type.getType() == Schema.Type.LONG;
  }

  /** With {@code -Dretstack.avsc=FOLDER}, where {@code npm install avsc} was typed. */
  @Test
  void avscReadsTheAnomalyThatMatters(@TempDir Path folder) throws Exception {
    String modules = System.getProperty("retstack.avsc", "");
    assumeFalse(modules.isEmpty(), "skipped: -Dretstack.avsc=FOLDER names where avsc is installed");
    Anomaly anomaly =
        Anomaly.newBuilder()
            .setSession("s")
            .setCore("core-0")
            .setImage("00ff")
            .setIsa("x86_64")
            .setKind("STACK_SMASHED")
            .setSeverity("ERROR")
            .setTime(77)
            .setExpected("0x401136")
            .setReceived(SMASHED)
            .setChunk(0)
            .build();
    assertThat(read(modules, folder, anomaly, "plain"))
        .contains("\"received\":\"" + SMASHED + "\"")
        .contains("\"time\":77");
    Image image = Samples.image();
    image.setReturnToHandlerStart(0x4141_4141_4141_4141L);
    assertThat(read(modules, folder, image, "plain")).contains("potential precision loss");
    assertThat(read(modules, folder, image, "bigint"))
        .contains("\"returnToHandlerStart\":\"" + 0x4141_4141_4141_4141L + "\"");
  }

  private static String read(String modules, Path folder, AvroRecord record, String way)
      throws IOException, InterruptedException {
    Path script = folder.resolve("consumer.js");
    try (var in = JavaScriptTest.class.getResourceAsStream("consumer.js")) {
      Files.write(script, in.readAllBytes());
    }
    Path schema = Files.writeString(folder.resolve("schema"), record.getSchema().toString());
    Path message = Files.write(folder.resolve("message"), ConfluentFrame.encode(record));
    List<String> command = List.of("node", "" + script, modules, "" + schema, "" + message, way);
    Process node = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(node.getInputStream().readAllBytes(), UTF_8);
    node.waitFor();
    return said;
  }
}
