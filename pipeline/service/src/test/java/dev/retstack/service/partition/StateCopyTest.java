package dev.retstack.service.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.answers.state.StateCopy;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.snapshot.StateChanges;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.totals.TimeRules;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class StateCopyTest {
  private static final TimeRules AWAKE = new TimeRules(true, true, true);

  @Test
  void aStateGoesOnByTheRulesItWasMadeWithOnly() throws IOException {
    Map<String, byte[]> parts = new HashMap<>();
    new GraphState(GraphLimits.DEFAULT, AWAKE)
        .writeChanges(
            new StateChanges() {
              @Override
              public void put(String key, byte[] part) {
                parts.put(key, part);
              }

              @Override
              public void remove(String key) {
                parts.remove(key);
              }
            });
    assertThat(state(parts, AWAKE).rules()).isEqualTo(AWAKE);
    assertThat(state(Map.of(), AWAKE).rules()).isEqualTo(AWAKE);
    assertThatThrownBy(() -> state(parts, TimeRules.DEFAULT))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("without nothing, those asked for without sleep-time")
        .hasMessageContaining("another --group");
  }

  private static GraphState state(Map<String, byte[]> parts, TimeRules rules) throws IOException {
    return StateCopy.state(
        parts, GraphLimits.DEFAULT, rules, StateBudget.UNLIMITED, LateSymbols.NONE);
  }
}
