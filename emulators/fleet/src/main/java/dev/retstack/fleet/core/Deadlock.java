package dev.retstack.fleet.core;

import dev.retstack.fleet.probe.Probe;
import dev.retstack.machine.linux.thread.GuestThread;
import dev.retstack.machine.linux.thread.Threads;
import dev.retstack.schema.record.TaskName;
import dev.retstack.schema.wire.Visible;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/** Says which thread waits for what, when none can ever continue. */
final class Deadlock {
  /** Threads that are named. */
  private static final int NAMED_MOST = 8;

  private Deadlock() {}

  /**
   * One sentence.
   *
   * @param symbol names an address of code
   * @param data names an address of data
   * @param pc where a thread stands
   */
  static String describe(
      Threads threads,
      Probe probe,
      LongFunction<String> symbol,
      LongFunction<String> data,
      ToLongFunction<GuestThread> pc) {
    Map<Long, Long> functions = probe.innermost();
    List<GuestThread> all = threads.all();
    String who =
        all.stream()
            .limit(NAMED_MOST)
            .map(
                t -> {
                  Long function = functions.get(t.task());
                  long at = function == null ? pc.applyAsLong(t) : function;
                  String other = t.waitsForFile() ? "a file" : "a signal";
                  String what = t.futex() == 0 ? other : "the futex " + data.apply(t.futex());
                  return "thread %d%s waits for %s in %s"
                      .formatted(t.id(), name(t), what, symbol.apply(at));
                })
            .collect(Collectors.joining(", "));
    String more = all.size() > NAMED_MOST ? ", and " + (all.size() - NAMED_MOST) + " more" : "";
    return "deadlock: %s%s; nobody is left to wake them".formatted(who, more);
  }

  private static String name(GuestThread thread) {
    String name = TaskName.of(thread.name()).text();
    return thread.isNamed() ? " (" + Visible.line(name) + ")" : "";
  }
}
