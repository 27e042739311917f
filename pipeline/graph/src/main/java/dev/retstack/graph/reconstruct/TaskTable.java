package dev.retstack.graph.reconstruct;

import dev.retstack.graph.check.Stat;
import dev.retstack.graph.snapshot.Fields;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The tasks of a core that are kept, of a bounded number: for a new one the one that ended first is
 * forgotten, its calls stay in the sums.
 */
final class TaskTable {
  /** What a task takes beside its stacks. */
  private static final int BYTES = 375;

  private final StackContexts contexts;
  private final int maxTasks;
  private final GraphListener listener;
  private final StateBudget.Account account;

  /** By id, the last task that had it. */
  private final Long2ObjectOpenHashMap<CoreTask> byId = new Long2ObjectOpenHashMap<>();

  /** In the order in which they appeared. */
  private final Set<CoreTask> all = new LinkedHashSet<>();

  /** Those that are over, in the order in which they ended. */
  private final ArrayDeque<CoreTask> over = new ArrayDeque<>(0);

  /** Calls of tasks that are no longer kept. */
  private final CallCounts forgotten = new CallCounts();

  private int forgottenTasks;

  /** Calls in interrupts that are over. */
  private final CallCounts interrupts = new CallCounts();

  TaskTable(
      StackContexts contexts, int maxTasks, GraphListener listener, StateBudget.Account account) {
    this.contexts = contexts;
    this.maxTasks = maxTasks;
    this.listener = listener;
    this.account = account;
  }

  /** All that are kept, in the order in which they appeared. */
  List<CoreTask> all() {
    return List.copyOf(all);
  }

  /** The task of this id that is not over, or null. */
  CoreTask live(long id) {
    CoreTask task = byId.get(id);
    return task == null || task.isOver() ? null : task;
  }

  /**
   * A task that was not seen yet; null where there are too many, or no bytes for one more. The
   * first one is always kept.
   *
   * @param frames on its ret_stack, negative where that is unknown
   */
  CoreTask create(long id, int frames, long now) {
    while (all.size() >= maxTasks || !take()) {
      if (!forgetOne()) {
        listener.count(Stat.TASKS_NOT_KEPT, 1);
        return null;
      }
    }
    CoreTask former = byId.get(id);
    int instance = former == null ? forgottenTasks : former.instance();
    CoreTask task = new CoreTask(id, instance + 1, frames < 0 ? 0 : now, now);
    StackContext own = contexts.open(frames);
    own.ofTask(task, now);
    task.stacks.add(own);
    byId.put(id, task);
    all.add(task);
    return task;
  }

  private boolean take() {
    if (all.isEmpty()) {
      account.charge(BYTES);
      contexts.charge();
      return true;
    }
    if (!account.take(BYTES)) {
      return false;
    }
    if (!contexts.take()) {
      account.give(BYTES);
      return false;
    }
    return true;
  }

  private boolean forgetOne() {
    CoreTask oldest = over.poll();
    if (oldest == null) {
      return false;
    }
    account.give(BYTES);
    all.remove(oldest);
    byId.remove(oldest.id(), oldest);
    forgotten.add(oldest.counts());
    forgottenTasks++;
    return true;
  }

  /** Takes the room of one stack more for an interrupt; false where there is none. */
  boolean takeInterrupt() {
    return contexts.used() < 2 * maxTasks && contexts.take();
  }

  /** The task is over, its calls are closed. */
  void end(CoreTask task, long now) {
    task.end(now);
    over.add(task);
  }

  /** The interrupt is over, its calls are closed. */
  void interruptEnded(StackContext context) {
    interrupts.add(context.calls);
  }

  void clear() {
    account.give((long) BYTES * all.size());
    all.clear();
    byId.clear();
  }

  /** Calls seen to begin. */
  long entries() {
    long sum = forgotten.entries() + interrupts.entries();
    for (CoreTask task : all) {
      sum += task.entries();
      for (int level = 1; level < task.stacks.size(); level++) {
        sum += task.stacks.get(level).calls.entries();
      }
    }
    return sum;
  }

  /** Calls that have not ended. */
  int open() {
    int sum = 0;
    for (CoreTask task : all) {
      for (StackContext c : task.stacks) {
        sum += c.calls.open();
      }
    }
    return sum;
  }

  /** Calls that ended so. */
  long ended(Ending ending) {
    long sum = forgotten.ended(ending) + interrupts.ended(ending);
    for (CoreTask task : all) {
      sum += task.ended(ending);
      for (int level = 1; level < task.stacks.size(); level++) {
        sum += task.stacks.get(level).calls.ended(ending);
      }
    }
    return sum;
  }

  /** Whether every entry of every stack is open or ended exactly once. */
  boolean balanced() {
    for (CoreTask task : all) {
      for (StackContext c : task.stacks) {
        if (!c.calls.balanced()) {
          return false;
        }
      }
    }
    return true;
  }

  void writeTo(DataOutput out, CoreTask current) throws IOException {
    out.writeInt(forgottenTasks);
    forgotten.writeTo(out);
    interrupts.writeTo(out);
    List<CoreTask> tasks = all();
    out.writeInt(tasks.size());
    for (CoreTask task : tasks) {
      out.writeLong(task.id());
      out.writeInt(task.instance());
      out.writeLong(task.born());
      task.writeTo(out);
      out.writeInt(task.stacks.size());
      for (StackContext c : task.stacks) {
        c.writeTo(out);
      }
    }
    out.writeInt(current == null ? -1 : tasks.indexOf(current));
    out.writeInt(over.size());
    for (CoreTask task : over) {
      out.writeInt(tasks.indexOf(task));
    }
  }

  /** Reads what {@link #writeTo} wrote into this empty table; gives the task at hand, or null. */
  CoreTask readFrom(DataInput in) throws IOException {
    forgottenTasks = in.readInt();
    forgotten.readFrom(in);
    interrupts.readFrom(in);
    int count = Fields.readCount(in, maxTasks, "tasks");
    List<CoreTask> tasks = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      CoreTask task = new CoreTask(in.readLong(), in.readInt(), in.readLong(), 0);
      account.charge(BYTES);
      readTask(in, task);
      tasks.add(task);
      all.add(task);
      byId.put(task.id(), task);
    }
    int at = in.readInt();
    if (at < -1 || at >= count || (at >= 0 && tasks.get(at).isOver())) {
      throw new IOException("corrupt snapshot: task " + at + " of " + count);
    }
    int ended = Fields.readCount(in, count, "tasks that are over");
    for (int i = 0; i < ended; i++) {
      CoreTask task = tasks.get(Fields.readCount(in, count - 1, "as a task"));
      if (!task.isOver()) {
        throw new IOException("corrupt snapshot: a task that runs is over");
      }
      over.add(task);
    }
    return at < 0 ? null : tasks.get(at);
  }

  private void readTask(DataInput in, CoreTask task) throws IOException {
    task.readFrom(in);
    int stacks = Fields.readCount(in, CoreTasks.MAX_NESTED + 1, "stacks of a task");
    if ((stacks == 0) != task.isOver()) {
      throw new IOException("corrupt snapshot: a task of " + stacks + " stacks");
    }
    for (int level = 0; level < stacks; level++) {
      contexts.charge();
      StackContext c = contexts.open(0);
      c.readFrom(in, task, level > 0);
      task.stacks.add(c);
    }
  }
}
