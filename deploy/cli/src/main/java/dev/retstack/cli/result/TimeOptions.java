package dev.retstack.cli.result;

import dev.retstack.graph.totals.TimeRules;
import picocli.CommandLine.Option;

/** Which time counts as a call's, by ftrace's names: for views of single calls. */
public class TimeOptions {
  @Option(
      names = "--no-sleep-time",
      description =
          "A call does not take the time for which its task was switched out: from the record where"
              + " another task continues to the record where this one does. Nor does it take the time"
              + " of missing records.")
  private boolean noSleepTime;

  @Option(
      names = "--no-funcgraph-irqs",
      description =
          "Do not show interrupts or the calls in them. A call does not take the time of the"
              + " interrupts on top of it, nor the time of missing records.")
  private boolean noInterrupts;

  /** The rules; which calls are below does count. */
  public TimeRules rules() {
    return new TimeRules(!noSleepTime, true, !noInterrupts);
  }

  /** The options given, to be named in a message; empty where none was. */
  public final String given() {
    return rules().off().isEmpty() ? "" : "--no-" + String.join(" --no-", rules().off());
  }
}
