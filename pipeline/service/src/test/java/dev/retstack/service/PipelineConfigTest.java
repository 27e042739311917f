package dev.retstack.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.answers.http.HttpSettings;
import dev.retstack.service.kafka.KafkaSettings;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PipelineConfigTest {
  private static final PipelineConfig USUAL =
      PipelineConfig.of(new KafkaSettings("127.0.0.1:9", Map.of()));

  @Test
  void allProblemsAreToldAtOnce() {
    PipelineConfig.Builder wrong =
        USUAL
            .but()
            .groupId(" ")
            .roles(Set.of())
            .stateBytes(0)
            .keepEnded(Duration.ofDays(-1))
            .http(HttpSettings.LOCAL.at("0.0.0.0", 0));
    assertThatThrownBy(wrong::build)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("5 problems\n  ended sessions kept for")
        .hasMessageContaining("\n  states of 0 bytes: give a number from 1 on\n")
        .hasMessageContaining("\n  empty group id: ")
        .hasMessageContaining("\n  no role: give ingest, query or both\n")
        .hasMessageContaining("\n  HTTP host 0.0.0.0 is open to the network without TLS");
  }

  @Test
  void oneProblemIsASentence() {
    assertThatThrownBy(() -> USUAL.but().stateBytes(0).build())
        .hasMessage("states of 0 bytes: give a number from 1 on");
  }

  @Test
  void whatIsBuiltStaysAsItIs() {
    PipelineConfig.Builder builder = USUAL.but().groupId("one");
    PipelineConfig one = builder.build();
    PipelineConfig two = builder.groupId("two").build();
    assertThat(one.groupId()).isEqualTo("one");
    assertThat(two.groupId()).isEqualTo("two");
    assertThat(USUAL.groupId()).isEqualTo(PipelineConfig.DEFAULT_GROUP);
  }
}
