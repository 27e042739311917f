package dev.retstack.graph.calls;

import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ImageTraits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.graph.totals.CallProfile;
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
 * The tasks of a core that are kept, up to a limit. A new task beyond it replaces the task that
 * ended first, whose calls stay in the sums.
 */
final class TaskTable {
  /** What a task takes beside its stacks. */
  private static final int BYTES = 385;

  /** What a stack without frames takes, with what is added up for its calls. */
  private static final int STACK_BYTES = 640;

  private final ImageTraits traits;
  private final int maxDepth;
  private final Frames.Budget budget;
  private final int maxTasks;
  private final CallAccounts accounts;
  private final StateBudget.Account account;

  /** Stacks in use, and one that was given back: interrupts come one after the other. */
  private int stacks;

  private ShadowStack spare;

  /** By id, the last task that had it. */
  private final Long2ObjectOpenHashMap<TracedTask> byId = new Long2ObjectOpenHashMap<>();

  /** In the order in which they appeared. */
  private final Set<TracedTask> all = new LinkedHashSet<>();

  /** Tasks that are over, in the order in which they ended. */
  private final ArrayDeque<TracedTask> over = new ArrayDeque<>(0);

  /** Calls of tasks that are no longer kept. */
  private final CallCounts forgotten = new CallCounts();

  private int forgottenTasks;

  /** Calls in interrupts that are over. */
  private final CallCounts interrupts = new CallCounts();

  TaskTable(
      ImageTraits traits,
      int maxDepth,
      int maxTasks,
      CallAccounts accounts,
      StateBudget.Account account) {
    this.traits = traits;
    this.maxDepth = maxDepth;
    this.budget = new Frames.Budget(2 * maxDepth, account);
    this.maxTasks = maxTasks;
    this.accounts = accounts;
    this.account = account;
  }

  /** All that are kept, in the order in which they appeared. */
  List<TracedTask> all() {
    return List.copyOf(all);
  }

  /** The task of this id that is not over, or null. */
  TracedTask live(long id) {
    TracedTask task = byId.get(id);
    return task == null || task.isOver() ? null : task;
  }

  /**
   * A task that was not seen yet; null where there are too many, or no bytes for one more. The
   * first one is always kept.
   *
   * @param frames on its ret_stack, negative where that is unknown
   */
  TracedTask create(long id, int frames, long now) {
    while (all.size() >= maxTasks || !take()) {
      if (!forgetOne()) {
        accounts.count(Stat.TASKS_NOT_KEPT, 1);
        return null;
      }
    }
    TracedTask former = byId.get(id);
    int instance = former == null ? forgottenTasks : former.instance();
    TracedTask task = new TracedTask(id, instance + 1, frames < 0 ? 0 : now, now);
    ShadowStack own = open(frames);
    own.ofTask(task, now);
    task.stacks.add(own);
    byId.put(id, task);
    all.add(task);
    return task;
  }

  private boolean take() {
    if (all.isEmpty()) {
      account.charge(BYTES);
      account.charge(STACK_BYTES);
      return true;
    }
    if (!account.take(BYTES)) {
      return false;
    }
    if (!account.take(STACK_BYTES)) {
      account.give(BYTES);
      return false;
    }
    return true;
  }

  private boolean forgetOne() {
    TracedTask oldest = over.poll();
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
    return stacks < 2 * maxTasks && account.take(STACK_BYTES);
  }

  /**
   * A stack in which nothing was seen, whose bytes were taken.
   *
   * @param frames in its ret_stack, negative where that is unknown
   */
  ShadowStack open(int frames) {
    stacks++;
    ShadowStack stack = spare != null ? spare : new ShadowStack(traits, maxDepth, budget, accounts);
    spare = null;
    stack.begin(frames);
    return stack;
  }

  /** Takes back a stack that is over. */
  void close(ShadowStack stack) {
    accounts.closed(stack);
    stacks--;
    stack.frames.release();
    account.give(STACK_BYTES);
    spare = stack;
  }

  /** The task is over, its calls are closed. */
  void end(TracedTask task, long now) {
    task.end(now);
    over.add(task);
  }

  /** The interrupt is over, its calls are closed. */
  void interruptEnded(ShadowStack context) {
    interrupts.add(context);
  }

  void clear() {
    account.give((long) BYTES * all.size());
    all.clear();
    byId.clear();
  }

  /** Calls of all stacks, and how they ended. */
  CallCounts counts() {
    CallCounts sum = new CallCounts();
    sum.add(forgotten);
    sum.add(interrupts);
    for (TracedTask task : all) {
      sum.add(task.counts()); // nothing until it is over
      task.stacks.forEach(sum::add);
    }
    return sum;
  }

  /** Calls that have not ended. */
  int open() {
    int sum = 0;
    for (TracedTask task : all) {
      for (ShadowStack c : task.stacks) {
        sum += c.open();
      }
    }
    return sum;
  }

  /** Whether there is one task, was no other, and no interrupt. */
  boolean isOne() {
    return all.size() == 1 && forgottenTasks == 0 && interrupts.isZero();
  }

  /** Whether all open frames of the core are known. */
  boolean isComplete() {
    for (TracedTask task : all) {
      for (ShadowStack c : task.stacks) {
        if (!c.isComplete()) {
          return false;
        }
      }
    }
    return true;
  }

  /** Whether every entry of every stack is open or ended exactly once. */
  boolean isBalanced() {
    for (TracedTask task : all) {
      for (ShadowStack c : task.stacks) {
        if (!c.isBalanced()) {
          return false;
        }
      }
    }
    return true;
  }

  void writeTo(DataOutput out, TracedTask current) throws IOException {
    out.writeInt(forgottenTasks);
    forgotten.writeTo(out);
    interrupts.writeTo(out);
    List<TracedTask> tasks = all();
    out.writeInt(tasks.size());
    for (TracedTask task : tasks) {
      out.writeLong(task.id());
      out.writeInt(task.instance());
      out.writeLong(task.born());
      task.writeTo(out);
      out.writeInt(task.stacks.size());
      for (ShadowStack c : task.stacks) {
        c.writeTo(out);
      }
    }
    out.writeInt(current == null ? -1 : tasks.indexOf(current));
    out.writeInt(over.size());
    for (TracedTask task : over) {
      out.writeInt(tasks.indexOf(task));
    }
  }

  /** Reads what {@link #writeTo} wrote into this empty table; gives the task at hand, or null. */
  TracedTask readFrom(DataInput in, CallProfile written, CallProfile profile) throws IOException {
    forgottenTasks = in.readInt();
    forgotten.readFrom(in);
    interrupts.readFrom(in);
    int count = Fields.readCount(in, maxTasks, "tasks");
    List<TracedTask> tasks = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      TracedTask task = new TracedTask(in.readLong(), in.readInt(), in.readLong(), 0);
      account.charge(BYTES);
      readTask(in, task, written, profile);
      tasks.add(task);
      all.add(task);
      TracedTask former = byId.put(task.id(), task);
      if (former != null && !former.isOver()) {
        throw new IOException("corrupt snapshot: two tasks of id %x run".formatted(task.id()));
      }
    }
    int at = in.readInt();
    if (at < -1 || at >= count || (at >= 0 && tasks.get(at).isOver())) {
      throw new IOException("corrupt snapshot: task " + at + " of " + count);
    }
    int ended = Fields.readCount(in, count, "tasks that are over");
    for (int i = 0; i < ended; i++) {
      TracedTask task = tasks.get(Fields.readCount(in, count - 1, "as a task"));
      if (!task.isOver()) {
        throw new IOException("corrupt snapshot: a task that runs is over");
      }
      over.add(task);
    }
    return at < 0 ? null : tasks.get(at);
  }

  private void readTask(DataInput in, TracedTask task, CallProfile written, CallProfile profile)
      throws IOException {
    task.readFrom(in);
    int stacks = Fields.readCount(in, CoreTasks.MAX_NESTED + 1, "stacks of a task");
    if ((stacks == 0) != task.isOver()) {
      throw new IOException("corrupt snapshot: a task of " + stacks + " stacks");
    }
    for (int level = 0; level < stacks; level++) {
      account.charge(STACK_BYTES);
      ShadowStack c = open(0);
      c.readFrom(in, task, level > 0, written, profile);
      task.stacks.add(c);
    }
  }
}
