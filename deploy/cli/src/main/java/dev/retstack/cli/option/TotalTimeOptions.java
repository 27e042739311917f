package dev.retstack.cli.option;

import dev.retstack.graph.aggregate.TimeRules;
import picocli.CommandLine.Option;

/** Which time of a call counts, by ftrace's names: for what adds calls up. */
public final class TotalTimeOptions extends TimeOptions {
  @Option(
      names = "--no-graph-time",
      description = {
        "A call does not take the time of the calls below it: total, avg, min and max are those of",
        "self, and recursive calls all add."
      })
  private boolean noGraphTime;

  @Override
  public TimeRules rules() {
    TimeRules rules = super.rules();
    return new TimeRules(rules.sleepTime(), !noGraphTime, rules.interrupts());
  }
}
