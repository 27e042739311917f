package dev.retstack.cli.verb;

import dev.retstack.cli.ExitCode;
import dev.retstack.cli.Shutdown;
import dev.retstack.cli.option.FormatOption;
import dev.retstack.cli.option.KafkaOptions;
import dev.retstack.cli.option.Tables;
import dev.retstack.cli.source.LiveOptions;
import dev.retstack.cli.top.TopMeter;
import dev.retstack.service.table.Format;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code retstack top}: what a running pipeline does now. */
@Command(
    name = "top",
    description = {
      "Show what a running pipeline does now: its members, records per second, lag, the busiest",
      "cores, the most-called functions, losses and defects. On a terminal again and again until",
      "Ctrl-C, once elsewhere. Rates are those of the last interval; SELF-%% is of all time so far.",
      "Of more than 1,000 cores, or functions, those are looked at that run, or have most so far."
    },
    footer = {"  retstack top --once --rows 5", "  retstack top --once --sort self"})
public final class TopVerb extends Verb {
  @Option(names = "--once", description = "Show it once, after one interval.")
  private boolean once;

  @Option(
      names = "--interval",
      defaultValue = "2",
      paramLabel = "SECONDS",
      description = "Time between two looks (default: ${DEFAULT-VALUE}).")
  private double interval;

  @Option(
      names = "--rows",
      defaultValue = "10",
      paramLabel = "N",
      description = "Cores and functions shown (default: ${DEFAULT-VALUE}).")
  private int rows;

  @Option(
      names = "--sort",
      defaultValue = "calls",
      paramLabel = "WHAT",
      description =
          "Which functions are shown: calls, those called most in the interval; self or total,"
              + " those with most of that time so far (default: ${DEFAULT-VALUE}).")
  private String sort;

  @Option(
      names = "--unit",
      paramLabel = "UNIT",
      description =
          "Functions of cores that count in instructions or nanoseconds, if there are both.")
  private String unit;

  @Mixin private LiveOptions live;
  @Mixin private FormatOption format;
  @Mixin private KafkaOptions kafka;

  @Override
  int run() throws IOException, InterruptedException {
    if (!(interval >= 0.1 && interval <= 3600) || rows < 1) {
      throw usage(
          "interval %s, rows %d: give 0.1 to 3600 seconds, and a row".formatted(interval, rows));
    }
    if (format.format() == Format.CSV) {
      throw usage("top is no table: use --format text or json");
    }
    if (!List.of("calls", "self", "total").contains(sort)) {
      throw usage("unknown --sort %s: use calls, self or total".formatted(sort));
    }
    TopMeter meter =
        new TopMeter(
            (resource, parameters) -> live.ask(resource, parameters, kafka, terminal()),
            unit == null ? Map.of() : Map.of("unit", unit),
            sort,
            rows);
    boolean single = once || !terminal().interactive();
    try (Shutdown shutdown = Shutdown.install()) {
      meter.sample();
      do {
        if (shutdown.await(Duration.ofMillis((long) (interval * 1000)))) {
          return ExitCode.OK;
        }
        if (format.format() == Format.JSON) {
          Tables.json(out(), meter.json());
          out().flush();
        } else {
          meter.text(terminal(), !single);
        }
      } while (!single);
    }
    return ExitCode.OK;
  }
}
