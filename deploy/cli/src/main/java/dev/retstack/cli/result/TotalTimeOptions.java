package dev.retstack.cli.result;

import dev.retstack.graph.totals.TimeRules;
import picocli.CommandLine.Option;

/** Which time counts as a call's, by ftrace's names: for views of totals. */
public final class TotalTimeOptions extends TimeOptions {
  @Option(
      names = "--no-graph-time",
      description =
          "A call does not take the time of the calls below it: total, avg, min and max are"
              + " those of self. Recursive calls are all added.")
  private boolean noGraphTime;

  @Override
  public TimeRules rules() {
    TimeRules rules = super.rules();
    return new TimeRules(rules.sleepTime(), !noGraphTime, rules.interrupts());
  }
}
