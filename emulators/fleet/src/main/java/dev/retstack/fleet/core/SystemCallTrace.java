package dev.retstack.fleet.core;

import dev.retstack.fleet.probe.Probe;
import dev.retstack.fleet.probe.site.EventRules;
import dev.retstack.fleet.settings.TraceEvent;
import dev.retstack.machine.linux.call.SystemCallListener;
import dev.retstack.schema.record.RecordBatch;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** Records the system calls that the settings ask for. */
final class SystemCallTrace implements SystemCallListener {
  private final Supplier<EventRules> rules;
  private final Probe probe;
  private final LongSupplier pc;
  private boolean recorded;

  /**
   * Records into a probe.
   *
   * @param pc where the core stands
   */
  SystemCallTrace(Supplier<EventRules> rules, Probe probe, LongSupplier pc) {
    this.rules = rules;
    this.probe = probe;
    this.pc = pc;
  }

  @Override
  public void entered(long number, String name, long[] arguments) {
    recorded =
        rules.get().records(TraceEvent.SYSCALLS, name)
            && probe.event(RecordBatch.SYS_ENTER, number, pc.getAsLong(), arguments);
  }

  @Override
  public void left(long number, long result) {
    if (recorded) {
      probe.event(RecordBatch.SYS_EXIT, number, result);
    }
  }
}
