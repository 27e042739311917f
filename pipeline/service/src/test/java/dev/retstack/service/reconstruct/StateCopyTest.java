package dev.retstack.service.reconstruct;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.graph.aggregate.GraphLimits;
import dev.retstack.graph.aggregate.GraphState;
import dev.retstack.graph.aggregate.TimeRules;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class StateCopyTest {
  private static final TimeRules AWAKE = new TimeRules(false, true, true);

  @Test
  void aStateGoesOnByTheRulesItWasMadeWithOnly() throws IOException {
    byte[] bytes =
        StateCopy.bytes(new GraphState(GraphLimits.DEFAULT, AWAKE), GraphState.VERSIONS.newest());
    assertThat(StateCopy.state(bytes, GraphLimits.DEFAULT, AWAKE).rules()).isEqualTo(AWAKE);
    assertThat(StateCopy.state(new byte[0], GraphLimits.DEFAULT, AWAKE).rules()).isEqualTo(AWAKE);
    assertThatThrownBy(() -> StateCopy.state(bytes, GraphLimits.DEFAULT, TimeRules.DEFAULT))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("without sleep-time, those asked for without nothing")
        .hasMessageContaining("another --group");
  }
}
