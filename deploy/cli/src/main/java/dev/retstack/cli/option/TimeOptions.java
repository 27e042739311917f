package dev.retstack.cli.option;

import dev.retstack.graph.aggregate.TimeRules;
import picocli.CommandLine.Option;

/** Which time of a call counts, by ftrace's names: for what shows single calls. */
public class TimeOptions {
  @Option(
      names = "--no-sleep-time",
      description = {
        "A call does not take the time for which its task was switched out: from the record that",
        "another task goes on to the one that this goes on. Nor time of which records are missing."
      })
  private boolean noSleepTime;

  @Option(
      names = "--no-funcgraph-irqs",
      description = {
        "Interrupts are not shown: neither they nor calls in them, and no call takes the time for",
        "which they ran on top of it. Nor time of which records are missing."
      })
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
