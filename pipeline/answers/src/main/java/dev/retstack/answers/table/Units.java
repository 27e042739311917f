package dev.retstack.answers.table;

import dev.retstack.graph.check.Count;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.report.UnitGroups;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** How numbers are shown in text. */
public final class Units {
  private Units() {}

  /** Name of a unit in words. */
  public static String name(ClockUnit unit) {
    return switch (unit) {
      case INSTRUCTIONS -> "instructions";
      case NANOSECONDS -> "ns";
    };
  }

  /** Short name of a unit at the head of a column. */
  public static String column(ClockUnit unit) {
    return switch (unit) {
      case INSTRUCTIONS -> "insn";
      case NANOSECONDS -> "ns";
    };
  }

  /** Adds to an object how many cores its figures leave out, where there are such. */
  public static Document others(UnitGroups.Choice units, Document document) {
    return units.leftOut().isEmpty() ? document : document.field("otherUnits", units.leftOut());
  }

  /** Adds to an object the unit of its times, and how many cores they leave out. */
  public static Document fields(UnitGroups.Choice units, Document document) {
    return others(units, document.field("unit", units.unit()));
  }

  /** Adds to text a line for each of the other units. */
  public static void lines(UnitGroups.Choice units, Document document) {
    others(units).forEach(other -> document.line("# " + other));
  }

  /** Sentences for the other units, one for each. */
  public static List<String> others(UnitGroups.Choice units) {
    List<String> sentences = new ArrayList<>();
    units
        .leftOut()
        .forEach(
            (unit, cores) -> {
              String name = unit.name().toLowerCase(Locale.ROOT);
              sentences.add(
                  "not in these figures: %s with times in %s (--unit %s)"
                      .formatted(Count.of(cores, "core"), name, name));
            });
    return sentences;
  }

  /** A percentage with two digits. */
  public static String percent(double value) {
    return rounded(value, 2) + " %";
  }

  /**
   * A number of percent, rounded; but what is less than all is never 100, and what is more than
   * nothing never 0.
   */
  public static String rounded(double value, int digits) {
    BigDecimal least = BigDecimal.ONE.movePointLeft(digits);
    BigDecimal shown = BigDecimal.valueOf(value).setScale(digits, RoundingMode.HALF_UP);
    if (value > 0 && value < 100) {
      shown = shown.max(least).min(BigDecimal.valueOf(100).subtract(least));
    }
    return shown.toPlainString();
  }

  /** How much of the calls is there: {@code 0 lost, 12 calls untraced: 99.40 % complete}. */
  public static String complete(long lost, long untraced, double completeness) {
    String left = untraced == 0 ? "" : ", " + Count.of(untraced, "call") + " untraced";
    return "%d lost%s: %s complete".formatted(lost, left, percent(completeness));
  }

  /** An address, or a value of unknown meaning, as people read it. */
  public static String hex(long value) {
    return "0x" + Long.toHexString(value);
  }
}
