package dev.retstack.graph.input;

import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskName;
import it.unimi.dsi.fastutil.longs.Long2ObjectLinkedOpenHashMap;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.LongStream;

/**
 * The names that a program gave the tasks of a core, by id: TASK_NAME records may come before the
 * task does. A name stays when its task has ended. One beyond the limit replaces the oldest.
 */
public final class TaskNames {
  /** What one takes, but for that of the core's first task. */
  private static final int BYTES = 120;

  /** What the first one takes beside. */
  private static final int FIRST_BYTES = 300;

  private final int most;
  private final StateBudget.Account account;

  /** In the order in which they came; null: none, as in most cores. */
  private Long2ObjectLinkedOpenHashMap<TaskName> byId;

  private long notKept;

  /** Begins without names; keeps at most {@code most}, and {@code account} pays for their bytes. */
  public TaskNames(int most, StateBudget.Account account) {
    this.most = most;
    this.account = account;
  }

  /** The name of the task of this id. */
  public TaskName get(long id) {
    return byId == null ? TaskName.NONE : byId.getOrDefault(id, TaskName.NONE);
  }

  /** All of them now, by id. */
  public Map<Long, TaskName> all() {
    return byId == null ? Map.of() : Map.copyOf(byId);
  }

  /** Whether no task but the core's first has one. */
  public boolean isOfFirst() {
    return byId == null || byId.size() == (byId.containsKey(0) ? 1 : 0);
  }

  /** From here on a task is called so; an empty name takes its name away. */
  public void put(long id, TaskName name) {
    if (name.isEmpty()) {
      remove(id);
      return;
    }
    begin();
    if (!byId.containsKey(id)) {
      if (byId.size() >= most) {
        remove(byId.firstLongKey());
      }
      if (id != 0 && !account.take(BYTES)) {
        notKept++;
        return;
      }
    }
    byId.put(id, name);
  }

  private void begin() {
    if (byId == null) {
      byId = new Long2ObjectLinkedOpenHashMap<>(1);
      account.charge(FIRST_BYTES);
    }
  }

  private void remove(long id) {
    boolean had = byId != null && byId.remove(id) != null;
    if (had && id != 0) {
      account.give(BYTES);
    }
  }

  /** Names that were not kept, since this was asked last. */
  public long takeNotKept() {
    long taken = notKept;
    notKept = 0;
    return taken;
  }

  /**
   * Tasks that run are called as a chunk says.
   *
   * @param running their ids
   */
  public void keyframe(Keyframe keyframe, LongStream running) {
    RecordBatch names = keyframe.names();
    if (byId != null) {
      long[] named = Arrays.copyOf(names.selfPc, names.size());
      Arrays.sort(named);
      running.filter(id -> Arrays.binarySearch(named, id) < 0).forEach(this::remove);
    }
    for (int i = 0; i < names.size(); i++) {
      put(names.selfPc[i], TaskName.of(names, i));
    }
  }

  /** A keyframe of these stacks with the newest names, up to the bound of a keyframe. */
  public Keyframe withNames(Keyframe stacks) {
    if (byId == null || byId.isEmpty()) {
      return stacks;
    }
    long[] ids = byId.keySet().toLongArray();
    // the newest, by unsigned id
    ids = Arrays.copyOfRange(ids, Math.max(0, ids.length - Keyframe.STACKS_MOST), ids.length);
    RecordBatch names = new RecordBatch(ids.length);
    Arrays.stream(ids)
        .boxed()
        .sorted(Long::compareUnsigned)
        .forEach(id -> byId.get((long) id).addTo(names, 0, id));
    return stacks.withNames(names);
  }

  /** Writes all names. */
  public void writeTo(DataOutput out) throws IOException {
    out.writeInt(byId == null ? 0 : byId.size());
    if (byId != null) {
      for (var one : byId.long2ObjectEntrySet()) {
        out.writeLong(one.getLongKey());
        out.writeLong(one.getValue().first());
        out.writeLong(one.getValue().second());
      }
    }
  }

  /** Reads what {@link #writeTo} wrote into these new names. */
  public void readFrom(DataInput in) throws IOException {
    for (int left = Fields.readCount(in, most, "names of tasks"); left > 0; left--) {
      long id = in.readLong();
      TaskName name = new TaskName(in.readLong(), in.readLong());
      if (name.isEmpty() || !get(id).isEmpty()) {
        throw new IOException("corrupt snapshot: task %x has no name or two".formatted(id));
      }
      begin();
      byId.put(id, name);
      if (id != 0) {
        account.charge(BYTES);
      }
    }
  }
}
