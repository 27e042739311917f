package dev.retstack.graph.report;

import dev.retstack.graph.input.ClockUnit;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** A report would have to add durations of different units. */
public final class MixedUnitsException extends IllegalStateException {
  private static final long serialVersionUID = 1;

  public MixedUnitsException(Set<ClockUnit> units) {
    super(
        "cores count in different units (%s): choose the unit of the report"
            .formatted(
                units.stream()
                    .sorted()
                    .map(unit -> unit.name().toLowerCase(Locale.ROOT))
                    .collect(Collectors.joining(", "))));
  }
}
