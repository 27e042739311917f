package dev.retstack.simulation;

import dev.retstack.graph.aggregate.CoreKey;
import dev.retstack.graph.aggregate.GraphEvents;
import dev.retstack.graph.aggregate.ImageInfo;
import dev.retstack.graph.reconstruct.Ending;
import dev.retstack.graph.report.AnomalyRow;
import java.util.HashMap;
import java.util.Map;

/**
 * Holds every call that finishes against the truth: its times, and that no more of them is called
 * its own than was. Sums over a function would hide that.
 */
final class OwnTime implements GraphEvents {
  private final ModelCore core;
  private final Map<TrueCall, Long> below = new HashMap<>();

  OwnTime(ModelCore core) {
    this.core = core;
    for (TrueCall call : core.program().calls) {
      if (call.parent != null) {
        below.merge(call.parent, call.ran(), Long::sum);
      }
    }
  }

  @Override
  public long threshold() {
    return 0;
  }

  @Override
  public void finished(
      CoreKey key,
      ImageInfo image,
      long selfPc,
      long callerPc,
      int level,
      long enter,
      long exit,
      long self,
      Ending ending) {
    TrueCall call = core.callAt(enter);
    long own = call == null ? 0 : call.ran() - below.getOrDefault(call, 0L);
    if (call == null || call.exit != exit || self < 0 || self > own) {
      throw new AssertionError(
          "call %x from %d to %d: %d of its own, in truth %d"
              .formatted(selfPc, enter, exit, self, own));
    }
  }

  @Override
  public void anomaly(AnomalyRow row) {}
}
