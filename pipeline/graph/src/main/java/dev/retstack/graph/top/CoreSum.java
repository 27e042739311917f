package dev.retstack.graph.top;

import dev.retstack.graph.calls.CoreSummary;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.snapshot.Fields;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * The records of a core.
 *
 * @param partition partition of events that it is in, 0 where there is none
 * @param unit in which it counts
 * @param records records received, of any kind
 * @param lost records known to be missing
 * @param untraced calls known to have made no records
 * @param end RUNNING, or why it ended
 */
public record CoreSum(
    CoreKey key,
    int partition,
    String isa,
    ClockUnit unit,
    long records,
    long lost,
    long untraced,
    CoreEnd end) {

  static CoreSum of(CoreSummary core) {
    return new CoreSum(
        core.key(),
        0,
        core.image().isa(),
        core.unit(),
        core.records(),
        core.lost(),
        core.stats().untraced(),
        core.end());
  }

  /** Whether it has not ended. */
  public boolean isRunning() {
    return end == CoreEnd.RUNNING;
  }

  void writeTo(DataOutput out) throws IOException {
    Fields.writeText(out, key.session());
    Fields.writeText(out, key.core());
    Fields.writeText(out, isa);
    Fields.writeText(out, unit.name());
    Fields.writeVarint(out, records);
    Fields.writeVarint(out, lost);
    Fields.writeVarint(out, untraced);
    Fields.writeText(out, end.name());
  }

  static CoreSum readFrom(DataInput in, int partition) throws IOException {
    return new CoreSum(
        new CoreKey(Fields.readText(in), Fields.readText(in)),
        partition,
        Fields.readText(in),
        Fields.readEnum(in, ClockUnit.class),
        Fields.readVarint(in),
        Fields.readVarint(in),
        Fields.readVarint(in),
        Fields.readEnum(in, CoreEnd.class));
  }
}
