package dev.retstack.simulation;

import java.util.List;
import java.util.function.Supplier;

/**
 * Runs what a seed describes. A failure is reported as the shortest sequence of steps that fails.
 */
final class Simulation {
  private Simulation() {}

  static void run(long seed, Supplier<Consumer.Tampering> tampering) {
    Scenario scenario = Scenario.of(seed);
    try {
      new World(scenario, tampering).run(scenario.steps());
    } catch (RuntimeException | AssertionError e) {
      List<Step> fewer =
          new Shrinker<Step>(steps -> new World(scenario, tampering).run(steps))
              .shrink(scenario.steps());
      throw new AssertionError(told(scenario, fewer, tampering, e), e);
    }
  }

  private static String told(
      Scenario scenario,
      List<Step> steps,
      Supplier<Consumer.Tampering> tampering,
      Throwable first) {
    String why = String.valueOf(first.getMessage());
    try {
      new World(scenario, tampering).run(steps);
    } catch (RuntimeException | AssertionError e) {
      why = String.valueOf(e.getMessage());
    }
    StringBuilder text = new StringBuilder(why);
    text.append(
        "\n%d cores, %d partitions, %s"
            .formatted(scenario.cores().size(), scenario.partitions(), scenario.faults()));
    text.append("\n%d of %d steps are enough:".formatted(steps.size(), scenario.steps().size()));
    for (Step step : steps) {
      text.append("\n  ").append(step);
    }
    return text.append("\nthen every partition is read to its end").toString();
  }
}
