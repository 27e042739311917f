package dev.retstack.cli.result;

import dev.retstack.graph.totals.TimeRules;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** Which time counts as a call's, by ftrace's names: for views of single calls. */
public class TimeOptions {
  @Option(
      names = "--sleep-time",
      description =
          "A call also takes the time for which its task was switched out: from the record where"
              + " another task continues to the record where this one does.")
  private boolean sleepTime;

  @Option(
      names = "--no-funcgraph-irqs",
      description =
          "Do not show interrupts or the calls in them. A call does not take the time of the"
              + " interrupts on top of it, nor the time of missing records.")
  private boolean noInterrupts;

  /** The rules; which calls are below does count. */
  public TimeRules rules() {
    return new TimeRules(sleepTime, true, !noInterrupts);
  }

  /** The options given, to be named in a message; empty where none was. */
  public final String given() {
    List<String> given = new ArrayList<>(sleepTime ? List.of("--sleep-time") : List.of());
    rules().off().stream()
        .filter(rule -> !TimeRules.DEFAULT.off().contains(rule))
        .forEach(rule -> given.add("--no-" + rule));
    return String.join(" ", given);
  }
}
