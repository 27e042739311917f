package dev.retstack.cli.command;

import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * The minimum and maximum of every option that takes a number, by its longest name. They are stated
 * only here, and checked before any work is done. A maximum is what a machine can do, not what is
 * wise.
 */
public final class Ranges {
  /** Cores of one fleet at most, all groups together. */
  public static final int CORES_MAX = 100_000;

  private static final Range PORT = new Range(0, 65_535);
  private static final Range SECONDS = new Range(1, 86_400);
  private static final Range MEBIBYTES = new Range(0, 1 << 20);
  private static final Range ROWS = new Range(0, Integer.MAX_VALUE);
  private static final Range CALLS_KEPT = new Range(0, 100_000_000);
  private static final Range GUEST_BYTES = new Range(1 << 16, 1L << 40);

  private static final Map<String, Range> OF =
      Map.ofEntries(
          Map.entry("--at", new Range(0, Long.MAX_VALUE)),
          Map.entry("--calls", new Range(1, 1_000_000_000_000L)),
          Map.entry("--checkpoint-chunks", new Range(1, 1_000_000)),
          Map.entry("--checkpoint-seconds", SECONDS),
          Map.entry("--cores", new Range(1, CORES_MAX)),
          Map.entry("--cores-per-partition", new Range(1, 10_000_000)),
          Map.entry("--deadline-ms", new Range(1, 86_400_000)),
          Map.entry("--depth", new Range(1, Integer.MAX_VALUE)),
          Map.entry("--entries", new Range(1, 1 << 20)),
          Map.entry("--flush-ms", new Range(0, 3_600_000)),
          Map.entry("--from", new Range(0, Long.MAX_VALUE)),
          Map.entry("--http-port", PORT),
          Map.entry("--image-places-mib", MEBIBYTES),
          Map.entry("--images-mib", MEBIBYTES),
          Map.entry("--increment", new Range(1, 1_000_000)),
          Map.entry("--interval", new Range(0.1, 86_400)),
          Map.entry("--isolate-restarts", new Range(0, 1_000_000)),
          Map.entry("--last", new Range(1, 10_000_000)),
          Map.entry("--waiting-mib", MEBIBYTES),
          Map.entry("--max-calls", CALLS_KEPT),
          Map.entry("--max-instructions", new Range(1, Long.MAX_VALUE)),
          Map.entry("--max-output", new Range(0, 1L << 50)),
          Map.entry("--memory", GUEST_BYTES),
          Map.entry("--partitions", new Range(1, 10_000)),
          Map.entry("--port", PORT),
          Map.entry("--questions", new Range(1, 10_000_000)),
          Map.entry("--quantum", new Range(0, 1L << 40)),
          Map.entry("--ret-stack", new Range(1, 65_536)),
          Map.entry("--rounds", new Range(1, 10_000)),
          Map.entry("--rows", new Range(1, 10_000)),
          Map.entry("--schedule-seed", new Range(Long.MIN_VALUE, Long.MAX_VALUE)),
          Map.entry("--span-threshold", new Range(0, Long.MAX_VALUE)),
          Map.entry("--stack", GUEST_BYTES),
          Map.entry("--state-functions", new Range(1, 1_000_000_000)),
          Map.entry("--state-mib", new Range(1, 1 << 20)),
          Map.entry("--to", new Range(0, Long.MAX_VALUE)),
          Map.entry("--top", ROWS),
          Map.entry("--totals-seconds", new Range(0, 86_400)),
          Map.entry("--tree-calls", CALLS_KEPT),
          Map.entry("--width", new Range(1, 1 << 30)),
          Map.entry("--window", new Range(0, Long.MAX_VALUE / 2)));

  private static final Set<Type> NUMBERS =
      Set.of(int.class, long.class, double.class, Integer.class, Long.class, Double.class);

  private Ranges() {}

  /** From the least to the most, both allowed. */
  private record Range(BigDecimal least, BigDecimal most) {
    Range(double least, double most) {
      this(BigDecimal.valueOf(least), BigDecimal.valueOf(most));
    }

    Range(long least, long most) {
      this(BigDecimal.valueOf(least), BigDecimal.valueOf(most));
    }

    boolean has(Object value) {
      BigDecimal number = new BigDecimal(value.toString());
      return number.compareTo(least) >= 0 && number.compareTo(most) <= 0;
    }

    String cure() {
      return least.scale() > 0
          ? "give a number from %s to %s".formatted(least, most)
          : "give a number from %,d to %,d".formatted(least.longValue(), most.longValue());
    }
  }

  /** Whether an option takes a number, or several. */
  public static boolean isNumber(OptionSpec option) {
    return option.arity().max() > 0 && NUMBERS.contains(option.typeInfo().getAuxiliaryTypes()[0]);
  }

  /** The range of an option; null where it has none, or takes words in this verb. */
  private static Range of(OptionSpec option) {
    return isNumber(option) ? OF.get(option.longestName()) : null;
  }

  /** The least and the most that an option takes; empty where it has no range. */
  public static List<BigDecimal> bounds(OptionSpec option) {
    Range range = of(option);
    return range == null ? List.of() : List.of(range.least(), range.most());
  }

  /** What is wrong with a value: what the option takes, where it is a number. */
  public static String sentence(ParameterException thrown) {
    String message = thrown.getMessage();
    Range range = thrown.getArgSpec() instanceof OptionSpec option ? of(option) : null;
    return range != null && message.matches("(?s).* is not an? (int|long|double)")
        ? refusal((OptionSpec) thrown.getArgSpec(), thrown.getValue(), range)
        : message;
  }

  private static String refusal(OptionSpec option, String value, Range range) {
    return "%s %s: %s".formatted(option.longestName(), value, range.cure());
  }

  /**
   * Checks what was given.
   *
   * @throws ParameterException with the option, its value and what it takes
   */
  public static void check(ParseResult parsed) {
    CommandLine command = parsed.commandSpec().commandLine();
    for (OptionSpec option : parsed.matchedOptions()) {
      Range range = of(option);
      Object given = option.getValue();
      if (range == null || given == null) {
        continue;
      }
      Collection<?> values = given instanceof Collection<?> many ? many : List.of(given);
      for (Object value : values) {
        if (!range.has(value)) {
          throw new ParameterException(
              command, refusal(option, value.toString(), range), option, value.toString());
        }
      }
    }
    if (parsed.hasSubcommand()) {
      check(parsed.subcommand());
    }
  }
}
