package dev.retstack.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.retstack.simulation.Accuracy.Result;
import dev.retstack.simulation.Accuracy.Shares;
import dev.retstack.simulation.Accuracy.Unit;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a run with losses reports is true, and what it leaves out is counted. */
class AccuracyTest {
  private static final int CALLS = 5_000;

  @Test
  void withoutLossAllIsRight() {
    Result result = Accuracy.measure(1, CALLS, Unit.RECORDS, 0);
    assertThat(result.completeness()).isEqualTo(100);
    assertThat(aspects(result)).allSatisfy(shares -> assertThat(shares.right()).isEqualTo(100));
  }

  @Test
  void whateverIsLostNothingIsWrong() {
    for (Unit unit : Unit.values()) {
      for (double share : new double[] {0.001, 0.05, 0.2, 0.9}) {
        for (long seed = 1; seed <= 3; seed++) {
          Result result = Accuracy.measure(seed, CALLS, unit, share);
          assertThat(aspects(result))
              .as("%s, %s lost, seed %d: %s", unit, share, seed, result)
              .allSatisfy(
                  shares -> {
                    assertThat(shares.wrong()).isZero();
                    assertThat(shares.right() + shares.truncated() + shares.missing())
                        .isCloseTo(100, within(1e-6));
                  });
        }
      }
    }
  }

  /** Calls below the few that a lost record can have replaced go on. */
  @Test
  void oneLostRecordCutsOffFewCalls() {
    Result result = Accuracy.measure(1, CALLS, Unit.RECORDS, 0.01);
    assertThat(result.calls().right()).as("%s", result).isGreaterThan(90);
    assertThat(result.total().right()).as("%s", result).isGreaterThan(50);
  }

  private static List<Shares> aspects(Result result) {
    return List.of(result.calls(), result.edges(), result.total(), result.self());
  }
}
