package dev.retstack.cli.top;

import com.fasterxml.jackson.databind.JsonNode;
import dev.retstack.answers.table.Format;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.FormatOption;
import dev.retstack.cli.command.Output;
import dev.retstack.cli.command.Shutdown;
import dev.retstack.cli.command.Verb;
import dev.retstack.cli.kafka.KafkaOptions;
import dev.retstack.cli.result.GroupOption;
import dev.retstack.cli.result.LiveOptions;
import dev.retstack.cli.result.UnitOption;
import dev.retstack.graph.input.Grouping;
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
          + " functions, losses and defects. On a terminal it repeats until Ctrl-C, in as much room"
          + " as its window has; elsewhere it prints once.",
      "Rates are those of the last interval; SELF-%% is of all time so far. Of more than"
          + " 1,000 cores or functions, only those are looked at that run, or that have most so"
          + " far."
    },
    footer = {"  retstack top --once --rows 5", "  retstack top --once --sort self"})
public final class TopVerb extends Verb {
  /** In this time a window that was made larger or smaller is drawn anew. */
  private static final Duration LOOK = Duration.ofSeconds(1);

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
      description = "Number of cores and of functions shown at most (default: ${DEFAULT-VALUE}).")
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
      names = "--sum-sessions",
      description =
          "Add up the calls of several sessions (default: each session has rows that name it).")
  private boolean sumSessions;

  @Mixin private GroupOption group;
  @Mixin private UnitOption unit;
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
    Duration rest = Duration.ofMillis((long) (interval * 1000));
    try (Shutdown shutdown = Shutdown.install()) {
      TopSample before = sample();
      if (!single && format.format() == Format.TEXT) {
        inWindow(before, rest, shutdown);
        return ExitCode.OK;
      }
      do {
        if (shutdown.await(rest)) {
          return ExitCode.OK;
        }
        TopSample now = sample();
        Output.write(out(), format.format(), new TopRates(before, now, sort).document(rows));
        out().flush();
        before = now;
      } while (!single);
    }
    return ExitCode.OK;
  }

  /** Shows the table until the process is asked to stop. */
  private void inWindow(TopSample first, Duration rest, Shutdown shutdown)
      throws IOException, InterruptedException {
    Screen screen = new Screen(terminal());
    TopSample before = first;
    boolean stopped = shutdown.await(rest);
    while (!stopped) {
      TopSample now = sample();
      TopRates rates = new TopRates(before, now, sort);
      Screen.Size drawn = null;
      long end = System.nanoTime() + rest.toNanos();
      long left = rest.toNanos();
      while (left > 0 && !stopped) {
        Screen.Size size = screen.size();
        if (!size.equals(drawn)) {
          screen.draw(rates.lines(rows, size), size);
          drawn = size;
        }
        stopped = shutdown.await(Duration.ofNanos(Math.min(left, LOOK.toNanos())));
        left = end - System.nanoTime();
      }
      before = now;
    }
  }

  private TopSample sample() throws IOException, InterruptedException {
    Map<String, String> which = new HashMap<>(group.parameters());
    which.put("sort", sort);
    which.put("limit", String.valueOf(Math.max(rows, ASKED)));
    which.putAll(unit.parameters());
    if (sumSessions) {
      which.put("sessions", "sum");
    }
    JsonNode parts = ask("parts", Map.of());
    long nanos = System.nanoTime();
    TopSample sample =
        TopSample.of(nanos, parts, ask("top", which), group.rows() == Grouping.BY_IMAGE);
    if (sample.sums().cores() > 0) { // a rate is of one unit, so the next sample is of this one
      unit.set(sample.units().unit());
    }
    return sample;
  }

  private JsonNode ask(String resource, Map<String, String> parameters)
      throws IOException, InterruptedException {
    return LiveOptions.read(live.ask(resource, parameters, kafka, terminal()));
  }
}
