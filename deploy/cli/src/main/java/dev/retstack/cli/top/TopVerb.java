package dev.retstack.cli.top;

import com.fasterxml.jackson.databind.JsonNode;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.FormatOption;
import dev.retstack.cli.command.Output;
import dev.retstack.cli.command.Shutdown;
import dev.retstack.cli.command.Verb;
import dev.retstack.cli.kafka.KafkaOptions;
import dev.retstack.cli.result.LiveOptions;
import dev.retstack.service.table.Format;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code retstack top}: what a running pipeline does now. */
@Command(
    name = "top",
    description = {
      "Show what a running pipeline does now.",
      "Shown are members, records per second, lag, the busiest cores, the most-called"
          + " functions, losses and defects. On a terminal it repeats until Ctrl-C; elsewhere"
          + " it prints once.",
      "Rates are those of the last interval; SELF-%% is of all time so far. Of more than"
          + " 1,000 cores or functions, only those are looked at that run, or that have most so"
          + " far."
    },
    footer = {"  retstack top --once --rows 5", "  retstack top --once --sort self"})
public final class TopVerb extends Verb {
  private static final String CLEAR = "\u001b[H\u001b[2J\u001b[3J";

  /** Rows that are asked for: the busiest now are found among those that have most in all. */
  private static final int ASKED = 1000;

  @Option(names = "--once", description = "Print once, after one interval.")
  private boolean once;

  @Option(
      names = "--interval",
      defaultValue = "2",
      paramLabel = "SECONDS",
      description = "Time between two samples (default: ${DEFAULT-VALUE}).")
  private double interval;

  @Option(
      names = "--rows",
      defaultValue = "10",
      paramLabel = "N",
      description = "Number of cores and of functions shown (default: ${DEFAULT-VALUE}).")
  private int rows;

  @Option(
      names = "--sort",
      defaultValue = "calls",
      paramLabel = "WHAT",
      description =
          "Which functions are shown: calls, those called most in the interval; self or"
              + " total, those with most of that time so far (default: ${DEFAULT-VALUE}).")
  private String sort;

  @Option(
      names = "--unit",
      paramLabel = "UNIT",
      description =
          "Show the functions of cores that count in instructions, or in nanoseconds, if"
              + " there are both.")
  private String unit;

  @Mixin private LiveOptions live;
  @Mixin private FormatOption format;
  @Mixin private KafkaOptions kafka;

  @Override
  protected int run() throws IOException, InterruptedException {
    if (!(interval >= 0.1 && interval <= 3600) || rows < 1) {
      throw usage(
          "interval %s, rows %d: give 0.1 to 3600 seconds, and at least one row"
              .formatted(interval, rows));
    }
    if (format.format() == Format.CSV) {
      throw usage("top has no CSV: use --format text or json");
    }
    if (!List.of("calls", "self", "total").contains(sort)) {
      throw usage("unknown --sort %s: use calls, self or total".formatted(sort));
    }
    boolean single = once || !terminal().interactive();
    try (Shutdown shutdown = Shutdown.install()) {
      TopSample before = sample();
      do {
        if (shutdown.await(Duration.ofMillis((long) (interval * 1000)))) {
          return ExitCode.OK;
        }
        TopSample now = sample();
        if (!single && format.format() == Format.TEXT) {
          terminal().rawOut().print(CLEAR);
        }
        Output.write(out(), format.format(), new TopRates(before, now, sort, rows).document());
        out().flush();
        before = now;
      } while (!single);
    }
    return ExitCode.OK;
  }

  private TopSample sample() throws IOException, InterruptedException {
    Map<String, String> which = new HashMap<>();
    which.put("sort", sort);
    which.put("limit", String.valueOf(Math.max(rows, ASKED)));
    if (unit != null) {
      which.put("unit", unit);
    }
    JsonNode parts = ask("parts", Map.of());
    long nanos = System.nanoTime();
    return TopSample.of(nanos, parts, ask("top", which));
  }

  private JsonNode ask(String resource, Map<String, String> parameters)
      throws IOException, InterruptedException {
    return LiveOptions.read(live.ask(resource, parameters, kafka, terminal()));
  }
}
