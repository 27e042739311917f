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
 * #commit}; {@link #abort} drops those that are not. A reader that is told of an amended core drops
 * what it has of that core from that chunk on.
 */
final class Follower implements GraphEvents {
  private sealed interface Published {}

  private record Finding(CoreKey core, long chunk, int revision, Object what)
      implements Published {}

  private record Amended(CoreKey core, long chunk, int revision) implements Published {}

  private final long threshold;
  private final boolean followsTheRule;
  private final List<Published> open = new ArrayList<>();
  private final Map<CoreKey, List<Finding>> known = new HashMap<>();
  private CoreKey core;
  private long chunk;
  private int revision;
  private long amendments;

  Follower(long threshold, boolean followsTheRule) {
    this.threshold = threshold;
    this.followsTheRule = followsTheRule;
  }

  /** What is known of each core, in order. */
  Map<CoreKey, List<Object>> view() {
    Map<CoreKey, List<Object>> view = new HashMap<>();
    known.forEach((key, of) -> view.put(key, of.stream().map(Finding::what).toList()));
    view.values().removeIf(List::isEmpty);
    return view;
  }

  long amendments() {
    return amendments;
  }

  void commit() {
    open.forEach(this::take);
    open.clear();
  }

  void abort() {
    open.clear();
  }

  private void take(Published record) {
    switch (record) {
      case Finding f -> known.computeIfAbsent(f.core(), _ -> new ArrayList<>()).add(f);
      case Amended a -> {
        amendments++;
        List<Finding> of = known.computeIfAbsent(a.core(), _ -> new ArrayList<>());
        if (followsTheRule) {
          of.removeIf(f -> f.chunk() >= a.chunk() && f.revision() < a.revision());
        }
      }
    }
  }

  @Override
  public void chunk(CoreGraph of, long sequence) {
    core = of.key();
    chunk = sequence;
    revision = of.revision();
  }

  @Override
  public void amended(CoreGraph of, long sequence, long time) {
    open.add(new Amended(of.key(), sequence, of.revision()));
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
            revision,
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
    AnomalyRow row = AnomalyRow.of(of, found);
    open.add(new Finding(core, chunk, revision, row));
  }
}
