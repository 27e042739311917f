package dev.retstack.graph.report;

import dev.retstack.graph.input.ClockUnit;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/**
 * Cores by the unit in which they count. Figures of two units are never added up: an answer is of
 * one unit, and says how many cores it leaves out.
 */
public final class UnitGroups {
  /**
   * The unit of an answer.
   *
   * @param leftOut how many cores count in each of the other units
   */
  public record Choice(ClockUnit unit, Map<ClockUnit, Integer> leftOut) {
    public Choice {
      leftOut = Collections.unmodifiableMap(new EnumMap<>(leftOut));
    }
  }

  private final Map<ClockUnit, Integer> cores = new EnumMap<>(ClockUnit.class);
  private final Map<ClockUnit, Long> weights = new EnumMap<>(ClockUnit.class);

  /**
   * Adds a core.
   *
   * @param weight its records, or what else an answer is made of
   */
  public UnitGroups add(ClockUnit unit, long weight) {
    cores.merge(unit, 1, Integer::sum);
    weights.merge(unit, weight, Long::sum);
    return this;
  }

  /**
   * The unit of an answer: the one that is asked for; else that of most weight, the first of
   * equals; instructions where there is no core.
   */
  public Choice choose(Optional<ClockUnit> asked) {
    ClockUnit unit = asked.orElseGet(this::heaviest);
    Map<ClockUnit, Integer> leftOut = new EnumMap<>(cores);
    leftOut.remove(unit);
    return new Choice(unit, leftOut);
  }

  private ClockUnit heaviest() {
    ClockUnit heaviest = ClockUnit.INSTRUCTIONS;
    long most = -1;
    for (Map.Entry<ClockUnit, Long> one : weights.entrySet()) {
      if (one.getValue() > most) {
        heaviest = one.getKey();
        most = one.getValue();
      }
    }
    return heaviest;
  }
}
