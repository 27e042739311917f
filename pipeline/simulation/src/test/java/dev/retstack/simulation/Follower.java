package dev.retstack.simulation;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.calls.GraphEvents;
import dev.retstack.graph.calls.GraphEvents.FinishedCall;
import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.report.AnomalyRow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What is published of a state, and a reader that follows it. Records become visible by {@link
 * #commit}; {@link #abort} drops those that are not.
 */
final class Follower implements GraphEvents {
  private record Finding(CoreKey core, long chunk, Object what) {}

  private final long threshold;
  private final List<Finding> open = new ArrayList<>();
  private final Map<CoreKey, List<Object>> known = new HashMap<>();
  private CoreKey core;
  private long chunk;

  Follower(long threshold) {
    this.threshold = threshold;
  }

  /** What is known of each core, in order, with the chunk in which it was found. */
  Map<CoreKey, List<Object>> view() {
    return known;
  }

  void commit() {
    for (Finding one : open) {
      known
          .computeIfAbsent(one.core(), _ -> new ArrayList<>())
          .add(List.of(one.chunk(), one.what()));
    }
    open.clear();
  }

  void abort() {
    open.clear();
  }

  @Override
  public void chunk(CoreGraph of, long sequence) {
    core = of.key();
    chunk = sequence;
  }

  @Override
  public long threshold() {
    return threshold;
  }

  @Override
  public void finished(FinishedCall call) {
    open.add(
        new Finding(
            core,
            chunk,
            List.of(
                call.task(),
                call.instance(),
                call.interrupt(),
                call.selfPc(),
                call.callerPc(),
                call.level(),
                call.enter(),
                call.exit(),
                call.self(),
                call.lost(),
                call.ending())));
  }

  @Override
  public void anomaly(CoreGraph of, Anomaly found) {
    open.add(new Finding(core, chunk, AnomalyRow.of(of, found)));
  }
}
