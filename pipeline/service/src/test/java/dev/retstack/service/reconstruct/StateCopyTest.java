package dev.retstack.service.reconstruct;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.graph.aggregate.GraphLimits;
import dev.retstack.graph.aggregate.GraphState;
import dev.retstack.graph.aggregate.TimeRules;
import dev.retstack.graph.reconstruct.StateBudget;
import dev.retstack.graph.snapshot.ByteInput;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class StateCopyTest {
  private static final TimeRules AWAKE = new TimeRules(false, true, true);

  @Test
  void aStateGoesOnByTheRulesItWasMadeWithOnly() throws IOException {
    byte[] bytes = StateCopy.bytes(new GraphState(GraphLimits.DEFAULT, AWAKE));
    assertThat(
            StateCopy.state(new ByteInput(bytes), GraphLimits.DEFAULT, AWAKE, StateBudget.UNLIMITED)
                .rules())
        .isEqualTo(AWAKE);
    assertThat(
            StateCopy.state(
                    new ByteInput(new byte[0]), GraphLimits.DEFAULT, AWAKE, StateBudget.UNLIMITED)
                .rules())
        .isEqualTo(AWAKE);
    assertThatThrownBy(
            () ->
                StateCopy.state(
                    new ByteInput(bytes),
                    GraphLimits.DEFAULT,
                    TimeRules.DEFAULT,
                    StateBudget.UNLIMITED))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("without sleep-time, those asked for without nothing")
        .hasMessageContaining("another --group");
  }
}
