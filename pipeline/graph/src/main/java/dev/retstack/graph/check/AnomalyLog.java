package dev.retstack.graph.check;

import dev.retstack.graph.limits.Saturating;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.snapshot.Fields;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The anomalies of one core: all of them as exact counts, by kind, function, place and task; the
 * first ones also as rows with time and stack.
 *
 * <p>Groups are bounded per kind. Beyond that, {@linkplain Where#others one group} of the kind
 * counts the rest, so that the counts of a kind always add up to its stat. Rows are bounded per
 * kind, and a fifth of it per kind and function: a program with a million overruns still shows its
 * one mismatch, and no function hides another.
 */
public final class AnomalyLog {
  /** Groups of one kind at most, without the one of all others. */
  static final int GROUPS_PER_KIND = 256;

  private static final int KINDS = AnomalyKind.values().length;
  private static final int FUNCTIONS_PER_KIND = 5;

  /** A row without its stack, and what is noted of its function. */
  private static final int ROW_BYTES = 170;

  /** A group, and what it is found by. */
  private static final int GROUP_BYTES = 152;

  private final int limitPerKind;
  private final StateBudget.Account account;
  private final Map<Where, Group> groups = new LinkedHashMap<>();
  private final Map<AnomalyKind, Kept> kept = new EnumMap<>(AnomalyKind.class);
  private final List<Anomaly> rows = new ArrayList<>(0);
  private long noted;
  private Group last; // most that is found is like what was found before

  public AnomalyLog(int limitPerKind, StateBudget.Account account) {
    this.limitPerKind = limitPerKind;
    this.account = account;
  }

  /**
   * What anomalies of one group have in common.
   *
   * @param place see {@link Anomaly#place}
   * @param instance of the task; 0 = all groups of the kind beyond the limit
   */
  public record Where(AnomalyKind kind, long selfPc, long place, long task, int instance) {
    static Where of(Anomaly anomaly) {
      return new Where(
          anomaly.kind(), anomaly.selfPc(), anomaly.place(), anomaly.task(), anomaly.instance());
    }

    static Where others(AnomalyKind kind) {
      return new Where(kind, 0, 0, 0, 0);
    }

    /** Whether it stands for all groups of its kind beyond the limit. */
    public boolean isOthers() {
      return instance == 0;
    }
  }

  /** How many anomalies there were of one group. */
  public static final class Group {
    private final Where where;
    private long times;
    private long count;
    private long first;
    private long last;

    private Group(Where where) {
      this.where = where;
    }

    private void add(long time, long of) {
      first = times == 0 ? time : first;
      last = time;
      times++;
      count = Saturating.sum(count, of);
    }

    public Where where() {
      return where;
    }

    /** How often it was found. */
    public long times() {
      return times;
    }

    /** Frames, calls or records concerned, of all of them. */
    public long count() {
      return count;
    }

    /** Time of the first. */
    public long first() {
      return first;
    }

    /** Time of the last. */
    public long last() {
      return last;
    }
  }

  /** Rows and groups of one kind. */
  private static final class Kept {
    private final Long2IntOpenHashMap rows = new Long2IntOpenHashMap(0);
    private int all;
    private int groups;
  }

  /** Counts one; returns whether there is room for its row. */
  public boolean found(Where where, long time, long count) {
    group(where).add(time, count);
    noted = Saturating.sum(noted, 1);
    return hasRoom(where.kind, where.selfPc);
  }

  /** How many were found. */
  public long noted() {
    return noted;
  }

  private boolean hasRoom(AnomalyKind kind, long selfPc) {
    Kept of = of(kind);
    int each = Math.max(1, limitPerKind / FUNCTIONS_PER_KIND);
    return of.all < limitPerKind
        && (selfPc == 0 || of.rows.get(selfPc) < each)
        && account.fits(bytes(Anomaly.MAX_STACK));
  }

  private Group group(Where where) {
    if (last != null && last.where.equals(where)) {
      return last;
    }
    Group group = groups.get(where);
    if (group == null) {
      Kept of = of(where.kind);
      Where at = where;
      if (of.groups < GROUPS_PER_KIND && !where.isOthers() && account.fits(GROUP_BYTES)) {
        of.groups++;
      } else {
        at = Where.others(where.kind);
      }
      group = groups.get(at);
      if (group == null) {
        account.charge(GROUP_BYTES);
        group = new Group(at);
        groups.put(at, group);
      }
    }
    last = group;
    return group;
  }

  private Kept of(AnomalyKind kind) {
    return kept.computeIfAbsent(kind, _ -> new Kept());
  }

  private static int bytes(int stack) {
    return ROW_BYTES + Long.BYTES * stack;
  }

  public void add(Anomaly anomaly) {
    account.charge(bytes(anomaly.stack().size()));
    Kept of = of(anomaly.kind());
    of.all++;
    of.rows.addTo(anomaly.selfPc(), 1);
    rows.add(anomaly);
  }

  /** Whether each group was counted for itself. */
  public boolean isExact() {
    return groups.keySet().stream().noneMatch(Where::isOthers);
  }

  /**
   * Adds all that was found behind this, by a log of the same limits that {@link #isExact}.
   *
   * @return rows of it that are not kept, since there is no room for them here
   */
  public int join(AnomalyLog next) {
    for (Group theirs : next.groups.values()) {
      Group group = group(theirs.where);
      group.first = group.times == 0 ? theirs.first : Math.min(group.first, theirs.first);
      group.last = group.times == 0 ? theirs.last : Math.max(group.last, theirs.last);
      group.times += theirs.times;
      noted = Saturating.sum(noted, theirs.times);
      group.count = Saturating.sum(group.count, theirs.count);
    }
    int left = 0;
    for (Anomaly row : next.rows) {
      boolean room = hasRoom(row.kind(), row.selfPc());
      left += room ? 0 : 1;
      if (room) {
        add(row);
      }
    }
    return left;
  }

  /** The rows kept, in order. */
  public List<Anomaly> rows() {
    return Collections.unmodifiableList(rows);
  }

  /** All that was found, in the order in which each group was met first. */
  public Collection<Group> groups() {
    return Collections.unmodifiableCollection(groups.values());
  }

  /** The group that counts this row. */
  public Group groupOf(Anomaly row) {
    Group group = groups.get(Where.of(row));
    return group == null ? groups.get(Where.others(row.kind())) : group;
  }

  public void writeTo(DataOutput out) throws IOException {
    writeRows(out);
    out.writeInt(groups.size());
    for (Group group : groups.values()) {
      Where where = group.where;
      Fields.writeText(out, where.kind.name());
      out.writeLong(where.selfPc);
      out.writeLong(where.place);
      out.writeLong(where.task);
      out.writeInt(where.instance);
      out.writeLong(group.times);
      out.writeLong(group.count);
      out.writeLong(group.first);
      out.writeLong(group.last);
    }
  }

  private void readGroups(DataInput in) throws IOException {
    int count = Fields.readCount(in, KINDS * (GROUPS_PER_KIND + 1), "groups of anomalies");
    for (int i = 0; i < count; i++) {
      AnomalyKind kind = Fields.readEnum(in, AnomalyKind.class);
      Where where = new Where(kind, in.readLong(), in.readLong(), in.readLong(), in.readInt());
      account.charge(GROUP_BYTES);
      Group group = new Group(where);
      group.times = in.readLong();
      group.count = in.readLong();
      group.first = in.readLong();
      group.last = in.readLong();
      boolean full = !where.isOthers() && ++of(kind).groups > GROUPS_PER_KIND;
      if (full || group.times < 1 || group.count < 0 || groups.put(where, group) != null) {
        throw new IOException("corrupt snapshot: a group of anomalies that cannot be: " + where);
      }
      noted = Saturating.sum(noted, group.times);
    }
    for (Anomaly row : rows) {
      if (groupOf(row) == null) {
        throw new IOException("corrupt snapshot: an anomaly that was not counted: " + row.kind());
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

  public void readFrom(DataInput in) throws IOException {
    readRows(in);
    readGroups(in);
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
      if (of(kind).all == limitPerKind) {
        throw new IOException("corrupt snapshot: too many anomalies of kind " + kind);
      }
      add(
          new Anomaly(
                  kind, variant, v[0], v[1], v[2], v[3], v[4], v[5], LongImmutableList.of(stack))
              .in(task, instance));
    }
  }
}
