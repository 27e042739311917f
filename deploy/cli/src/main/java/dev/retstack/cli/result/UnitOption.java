package dev.retstack.cli.result;

import dev.retstack.graph.input.ClockUnit;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The unit of the figures to show, where some cores count instructions and others nanoseconds. */
public final class UnitOption {
  @Option(
      names = "--unit",
      paramLabel = "UNIT",
      description =
          "Show the figures of cores that count in this unit: instructions or nanoseconds"
              + " (default: the unit of most records; a line says how many cores have the other).")
  private ClockUnit unit;

  /** The unit that was asked for. */
  public Optional<ClockUnit> unit() {
    return Optional.ofNullable(unit);
  }

  /** Shows this unit from now on. */
  public void set(ClockUnit shown) {
    unit = shown;
  }

  /** Request parameters that ask a pipeline for the same unit. */
  public Map<String, String> parameters() {
    return unit == null ? Map.of() : Map.of("unit", unit.name().toLowerCase(Locale.ROOT));
  }
}
