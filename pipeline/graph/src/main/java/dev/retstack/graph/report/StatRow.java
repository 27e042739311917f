package dev.retstack.graph.report;

import dev.retstack.graph.check.Severity;
import dev.retstack.graph.check.Source;
import dev.retstack.graph.check.Stat;

/** A stat that is not zero. */
public record StatRow(Stat stat, long count) {
  public String name() {
    return stat.name();
  }

  public Severity severity() {
    return stat.severity();
  }

  public Source source() {
    return stat.source();
  }

  /** What is counted, in words. */
  public String sentence() {
    return stat.sentence();
  }
}
