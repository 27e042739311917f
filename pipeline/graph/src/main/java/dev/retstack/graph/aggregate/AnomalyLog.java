package dev.retstack.graph.aggregate;

import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.snapshot.Fields;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The first anomalies of each kind of one core, in the order in which they were found. The limits
 * hold per kind, and a fifth of it per kind and function: a program with a million tail calls still
 * shows its one mismatch, and a function that goes wrong a million times does not hide another.
 * Those without a row are counted, exactly, for each function of which there is a row.
 */
public final class AnomalyLog {
  private static final int KINDS = AnomalyKind.values().length;

  private final int limitPerKind;
  private static final int FUNCTIONS_PER_KIND = 5;

  private final Map<AnomalyKind, Kept> kept = new EnumMap<>(AnomalyKind.class);
  private final List<Anomaly> rows = new ArrayList<>(0);

  AnomalyLog(int limitPerKind) {
    this.limitPerKind = limitPerKind;
  }

  /** What there is of one kind: rows in all, and by function rows and how many there were. */
  private static final class Kept {
    private final Long2IntOpenHashMap rows = new Long2IntOpenHashMap();
    private final Long2LongOpenHashMap left = new Long2LongOpenHashMap();
    private final Long2IntOpenHashMap last = new Long2IntOpenHashMap();
    private int all;

    boolean accepts(long selfPc, int limit) {
      int each = Math.max(1, limit / FUNCTIONS_PER_KIND);
      return all < limit && (selfPc == 0 || rows.get(selfPc) < each);
    }

    void add(Anomaly anomaly, int row) {
      all++;
      rows.addTo(anomaly.selfPc(), 1);
      last.put(anomaly.selfPc(), row);
    }

    void leave(long selfPc) {
      if (rows.containsKey(selfPc)) { // so that there are no more of them than rows
        left.addTo(selfPc, 1);
      }
    }
  }

  /** Whether there is room for a row; where there is none it is counted as left out. */
  boolean accepts(AnomalyKind kind, long selfPc) {
    Kept of = kept.computeIfAbsent(kind, _ -> new Kept());
    boolean room = of.accepts(selfPc, limitPerKind);
    if (!room) {
      of.leave(selfPc);
    }
    return room;
  }

  void add(Anomaly anomaly) {
    kept.computeIfAbsent(anomaly.kind(), _ -> new Kept()).add(anomaly, rows.size());
    rows.add(anomaly);
  }

  /** How many of a kind in a function were left out; exact where there is a row of them. */
  public long leftOut(AnomalyKind kind, long selfPc) {
    Kept of = kept.get(kind);
    return of == null ? 0 : of.left.get(selfPc);
  }

  /** Of the last row of its kind and function: how many more there were without a row; else 0. */
  public long leftOutAfter(int row) {
    Anomaly anomaly = rows.get(row);
    boolean last = kept.get(anomaly.kind()).last.get(anomaly.selfPc()) == row;
    return last ? leftOut(anomaly.kind(), anomaly.selfPc()) : 0;
  }

  /** The rows kept, in order. */
  public List<Anomaly> rows() {
    return Collections.unmodifiableList(rows);
  }

  void writeTo(DataOutput out) throws IOException {
    writeRows(out);
    out.writeInt((int) kept.values().stream().filter(of -> !of.left.isEmpty()).count());
    for (Map.Entry<AnomalyKind, Kept> of : kept.entrySet()) {
      if (!of.getValue().left.isEmpty()) {
        Fields.writeText(out, of.getKey().name());
        long[] functions = of.getValue().left.keySet().toLongArray();
        Arrays.sort(functions);
        out.writeInt(functions.length);
        for (long function : functions) {
          out.writeLong(function);
          out.writeLong(of.getValue().left.get(function));
        }
      }
    }
  }

  private void readLeftOut(DataInput in) throws IOException {
    int kinds = Fields.readCount(in, KINDS, "kinds of anomalies");
    for (int i = 0; i < kinds; i++) {
      AnomalyKind kind = Fields.readEnum(in, AnomalyKind.class);
      int functions = Fields.readCount(in, limitPerKind, "functions with anomalies");
      for (int j = 0; j < functions; j++) {
        Kept of = kept.get(kind);
        long function = in.readLong();
        long count = in.readLong();
        if (of == null || !of.rows.containsKey(function) || count < 1) {
          throw new IOException("corrupt snapshot: anomalies left out of a function without rows");
        }
        of.left.put(function, count);
      }
    }
  }

  private void writeRows(DataOutput out) throws IOException {
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
      out.writeLong(a.task());
      out.writeInt(a.instance());
      out.writeInt(a.stack().size());
      for (int i = 0; i < a.stack().size(); i++) {
        out.writeLong(a.stack().getLong(i));
      }
    }
  }

  void readFrom(DataInput in) throws IOException {
    readRows(in);
    readLeftOut(in);
  }

  private void readRows(DataInput in) throws IOException {
    int count = Fields.readCount(in, KINDS * limitPerKind, "anomalies of one core");
    for (int i = 0; i < count; i++) {
      AnomalyKind kind = Fields.readEnum(in, AnomalyKind.class);
      Anomaly.Variant variant = Fields.readEnum(in, Anomaly.Variant.class);
      long[] v = new long[6];
      for (int j = 0; j < v.length; j++) {
        v[j] = in.readLong();
      }
      long task = in.readLong();
      int instance = in.readInt();
      long[] stack = new long[Fields.readCount(in, Anomaly.MAX_STACK, "calls of a stack")];
      for (int j = 0; j < stack.length; j++) {
        stack[j] = in.readLong();
      }
      if (!accepts(kind, v[1])) {
        throw new IOException("corrupt snapshot: too many anomalies of kind " + kind);
      }
      add(
          new Anomaly(
                  kind, variant, v[0], v[1], v[2], v[3], v[4], v[5], LongImmutableList.of(stack))
              .in(task, instance));
    }
  }
}
