package dev.retstack.simulation;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.calls.GraphEvents;
import dev.retstack.graph.calls.GraphEvents.FinishedCall;
import dev.retstack.graph.check.Anomaly;
import dev.retstack.simulation.model.ModelCore;
import dev.retstack.simulation.model.TrueCall;
import java.util.HashMap;
import java.util.Map;

/**
 * Compares each finished call with the truth: its times, and that its own time is never more than
 * it was. Sums over a function would hide that.
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
  public void finished(FinishedCall told) {
    TrueCall call = core.callAt(told.enter());
    long own = call == null ? 0 : call.ran() - below.getOrDefault(call, 0L);
    if (call == null || call.exit != told.exit() || told.self() < 0 || told.self() > own) {
      throw new AssertionError(
          "call %x from %d to %d: %d of its own, in truth %d"
              .formatted(told.selfPc(), told.enter(), told.exit(), told.self(), own));
    }
    boolean inInterrupt = call.interrupt != null;
    if (told.interrupt() != inInterrupt || (!inInterrupt && told.task() != call.task)) {
      throw new AssertionError(
          "call %x at %d: of task %d, interrupt %s, in truth of %d, %s"
              .formatted(
                  told.selfPc(),
                  told.enter(),
                  told.task(),
                  told.interrupt(),
                  call.task,
                  inInterrupt));
    }
  }

  @Override
  public void anomaly(CoreGraph core, Anomaly found) {}
}
