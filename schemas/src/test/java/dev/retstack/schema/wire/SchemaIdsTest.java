package dev.retstack.schema.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.schema.Chunk;
import org.junit.jupiter.api.Test;

class SchemaIdsTest {
  @Test
  void everyTopicsSchemaHasItsOwnId() {
    var subjects = SchemaIds.subjects(Topics.standard());
    assertThat(subjects).containsKey("retstack.events.v1-value").hasSize(10);
    assertThat(subjects.values().stream().map(SchemaIds::idOf))
        .doesNotHaveDuplicates()
        .allMatch(id -> id > 0);
    subjects.values().forEach(s -> assertThat(SchemaIds.schemaById(SchemaIds.idOf(s))).contains(s));
    assertThat(SchemaIds.schemaById(0)).isEmpty();
  }

  @Test
  void idIsTheHeadOfTheFingerprint() {
    String hex = SchemaIds.fingerprint(Chunk.getClassSchema());
    assertThat(hex).hasSize(64);
    assertThat(SchemaIds.idOf(Chunk.getClassSchema()))
        .isEqualTo(Integer.parseUnsignedInt(hex.substring(0, 8), 16) & Integer.MAX_VALUE);
  }

  @Test
  void topicsAreNamedByPrefixNounAndVersion() {
    assertThat(new Topics("lab").deadLetters()).isEqualTo("lab.dead-letters.v1");
    assertThat(Topics.standard().all()).hasSize(11).doesNotHaveDuplicates();
    assertThatThrownBy(() -> new Topics("a b")).hasMessageContaining("topic prefix 'a b'");
  }
}
