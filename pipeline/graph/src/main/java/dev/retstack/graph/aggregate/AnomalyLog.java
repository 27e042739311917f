package dev.retstack.graph.aggregate;

import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.snapshot.Fields;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The first anomalies of each kind of one core, in the order in which they were found. The limit
 * holds per kind, so that a program with a million tail calls still shows its one mismatch.
 */
public final class AnomalyLog {
  private static final int KINDS = AnomalyKind.values().length;

  private final int limitPerKind;
  private final Map<AnomalyKind, Integer> kept = new EnumMap<>(AnomalyKind.class);
  private final List<Anomaly> rows = new ArrayList<>(0);

  AnomalyLog(int limitPerKind) {
    this.limitPerKind = limitPerKind;
  }

  boolean accepts(AnomalyKind kind) {
    return kept.getOrDefault(kind, 0) < limitPerKind;
  }

  void add(Anomaly anomaly) {
    kept.merge(anomaly.kind(), 1, Integer::sum);
    rows.add(anomaly);
  }

  /** The rows kept, in order. */
  public List<Anomaly> rows() {
    return Collections.unmodifiableList(rows);
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeInt(rows.size());
    for (Anomaly a : rows) {
      Fields.writeText(out, a.kind().name());
      Fields.writeText(out, a.variant().name());
      out.writeLong(a.time());
      out.writeLong(a.selfPc());
      out.writeLong(a.expected());
      out.writeLong(a.received());
      out.writeLong(a.target());
      out.writeLong(a.count());
      out.writeInt(a.stack().size());
      for (int i = 0; i < a.stack().size(); i++) {
        out.writeLong(a.stack().getLong(i));
      }
    }
  }

  void readFrom(DataInput in) throws IOException {
    int count = Fields.readCount(in, KINDS * limitPerKind, "anomalies of one core");
    for (int i = 0; i < count; i++) {
      AnomalyKind kind = Fields.readEnum(in, AnomalyKind.class);
      Anomaly.Variant variant = Fields.readEnum(in, Anomaly.Variant.class);
      long[] v = new long[6];
      for (int j = 0; j < v.length; j++) {
        v[j] = in.readLong();
      }
      long[] stack = new long[Fields.readCount(in, Anomaly.MAX_STACK, "calls of a stack")];
      for (int j = 0; j < stack.length; j++) {
        stack[j] = in.readLong();
      }
      if (!accepts(kind)) {
        throw new IOException("corrupt snapshot: too many anomalies of kind " + kind);
      }
      add(
          new Anomaly(
              kind, variant, v[0], v[1], v[2], v[3], v[4], v[5], LongImmutableList.of(stack)));
    }
  }
}
