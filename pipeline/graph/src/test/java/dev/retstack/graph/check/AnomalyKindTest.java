package dev.retstack.graph.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each kind is explained, in the document by the same words as in the output. */
class AnomalyKindTest {
  @ParameterizedTest
  @EnumSource(AnomalyKind.class)
  void theReadmeHasItsDefinitionAnExampleItsCauseAndWhatToDo(AnomalyKind kind) throws IOException {
    String readme = Files.readString(Path.of("ANOMALIES.md"));
    String rule = "| %s | %s | %s | `".formatted(kind, kind.definition(), kind.severity());
    assertThat(readme).contains(rule);
    assertThat(readme).contains("| %s | %s | %s |".formatted(kind, kind.cause(), kind.cure()));
  }
}
