package dev.retstack.graph.calls;

import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ImageTraits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.totals.CallProfile;
import dev.retstack.graph.tree.Ending;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskEvent;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The tasks of a core and the interrupts on top of them. It decides which ret_stack the next
 * records belong to, and what a loss means for each. README.md has the rules.
 */
final class CoreTasks {
  /** Interrupts that are open on one task at most. */
  static final int MAX_NESTED = 64;

  private final CallAccounts accounts;
  private final TaskTable table;

  /** The task at hand, null where it is not kept. */
  private TracedTask current;

  /** The stack at hand, null where it is not kept. */
  private ShadowStack top;

  /** Whether the record before told of a loss, and from when to when. */
  private boolean afterLoss;

  private long lostSince;
  private long lostAt;

  /** Whether records were ever missing, so that what is open may be unknown. */
  private boolean lossy;

  CoreTasks(
      ImageTraits traits,
      int maxDepth,
      int maxTasks,
      CallAccounts accounts,
      StateBudget.Account account) {
    this.accounts = accounts;
    this.table = new TaskTable(traits, maxDepth, maxTasks, accounts, account);
    enter(table.create(0, 0, 0), 0);
  }

  /** The stack at hand, null where it is not kept: its records are left out. */
  ShadowStack stack() {
    return top;
  }

  /** The innermost stack that is kept of the task at hand, or null. */
  ShadowStack current() {
    return current == null ? null : current.top();
  }

  /** The tasks and what their calls add up to. */
  TaskTable table() {
    return table;
  }

  /** So many records were taken that tell of no loss. */
  void seen(int records) {
    afterLoss = false;
    if (current != null) {
      current.records(records);
    }
  }

  /** A TASK record. */
  void task(TaskEvent event, long id, long sp, int depth, long now) {
    TracedTask named = table.live(id);
    switch (event) {
      case STARTED -> go(named, table.create(id, 0, now), sp, now);
      case ENDED -> {
        if (named != current && !afterLoss) {
          accounts.count(Stat.CONTEXTS_DISAGREE, 1);
        }
        TracedTask next = id == 0 ? null : table.live(0);
        go(named, next == null ? table.create(0, -1, now) : next, sp, now);
      }
      case SWITCHED -> {
        if (named == null) {
          go(null, table.create(id, lossy ? -1 : depth, now), sp, now);
        } else if (named != current) {
          go(null, named, sp, now);
        } else if (afterLoss) {
          behindLoss(now);
        }
      }
    }
  }

  /**
   * The core goes over to another task.
   *
   * @param ended the task that is over by this, or null
   * @param next null where it is not kept
   */
  private void go(TracedTask ended, TracedTask next, long sp, long now) {
    if (current != null) {
      if (afterLoss) {
        behindLoss(now);
      }
      if (current != ended) {
        ShadowStack left = current.top();
        left.switchedTo(now, sp);
        if (next != null) {
          accounts.switchedOut(left, next, now);
        }
      }
      current.out(now);
    }
    if (ended != null) {
      end(ended, now);
    }
    enter(next, now);
  }

  private void enter(TracedTask task, long now) {
    current = task;
    top = topOf(task);
    if (task == null) {
      accounts.nowhere();
    } else {
      final long known = task.cut();
      task.in(now);
      resume(task.top());
      accounts.switchedIn(task.top(), known, now);
    }
  }

  private static ShadowStack topOf(TracedTask task) {
    return task == null || task.skipped > 0 ? null : task.top();
  }

  private void resume(ShadowStack stack) {
    accounts.resumed(stack);
    stack.countBy(stack.clock);
  }

  /** The task is over, and its calls with it. */
  private void end(TracedTask task, long now) {
    if (task.isOver()) {
      return;
    }
    task.wake(now);
    while (task.stacks.size() > 1) {
      resume(task.top());
      task.top().end(now);
      drop(task, Ending.ENDED, now, now);
    }
    ShadowStack own = task.own();
    resume(own);
    own.end(now);
    table.end(task, now);
    table.close(own);
  }

  /** The core ended: all tasks with it. */
  void end(long now) {
    for (TracedTask task : table.all()) {
      end(task, now);
    }
    current = null;
    top = null;
    accounts.nowhere();
  }

  /** An interrupt begins on the stack at hand. */
  void interrupt(long number, long fromPc, long now) {
    if (current == null) {
      return;
    }
    if (current.skipped > 0 || current.stacks.size() > MAX_NESTED || !table.takeInterrupt()) {
      current.skip(now);
      accounts.count(Stat.TASKS_NOT_KEPT, 1);
      top = null;
      return;
    }
    push(number, true, fromPc, now);
  }

  private void push(long number, boolean known, long fromPc, long now) {
    ShadowStack context = table.open(known ? 0 : -1);
    context.ofInterrupt(current, number, known, now);
    if (known) {
      accounts.interrupted(top, context, fromPc, now);
    }
    current.stacks.add(context);
    top = context;
    resume(top);
  }

  /** The interrupt at hand ends. */
  void interruptEnd(long number, long now) {
    if (current == null) {
      return;
    }
    if (current.skipped > 0) {
      current.skipped(now);
      top = topOf(current);
      if (top != null) {
        resume(top);
      }
      return;
    }
    if (!top.isInterrupt()) {
      if (lossy) { // its beginning was lost: whose the frames here are is not known
        top.lose(now, now, StackLosses.UNBOUNDED, top.clock);
      } else {
        accounts.count(Stat.CONTEXTS_DISAGREE, 1);
      }
      return;
    }
    if (top.isKnown() && top.number() != number) {
      accounts.count(Stat.CONTEXTS_DISAGREE, 1);
    }
    top.leave(now);
    drop(current, Ending.RETURNED, now, now);
    top = current.top();
    resume(top);
  }

  /** The topmost interrupt of a task, the stack at hand, is over; its calls are closed. */
  private void drop(TracedTask task, Ending ending, long seen, long now) {
    ShadowStack c = task.stacks.removeLast();
    if (c.isKnown()) {
      accounts.interruptEnded(c, c.ran(now), seen, ending);
    }
    ShadowStack below = task.top();
    below.clock.add(c.clock, now - c.since());
    table.interruptEnded(c);
    table.close(c);
  }

  /**
   * Records are missing on the core.
   *
   * @param since time of the last record before
   * @param now time by which the loss was over
   * @param count {@link TaskLosses#UNBOUNDED} where they may be more than is known
   */
  void lose(long since, long now, long count) {
    lossy = true;
    afterLoss = true;
    lostSince = since;
    lostAt = now;
    for (TracedTask task : table.all()) {
      if (!task.isOver()) {
        // where it ran meanwhile, an interrupt that was open may be another by now
        boolean doubtful = task != current && task.stacks.size() > 1;
        lose(task, since, now, doubtful ? StackLosses.UNBOUNDED : count);
        if (task != current) {
          task.cutAt(since);
        }
      }
    }
    if (current == null) {
      accounts.nowhere();
    } else {
      top = topOf(current);
      resume(current.top());
    }
  }

  private void lose(TracedTask task, long since, long now, long count) {
    boolean all = count == StackLosses.UNBOUNDED;
    if (task == current) {
      task.unsure(since, since); // interrupts that are not kept count up to the loss
    }
    List<StackClock> then = new ArrayList<>(task.stacks.size());
    for (int level = 0; level < task.stacks.size(); level++) {
      then.add(new StackClock());
      task.clockAt(level, since, then.getLast());
    }
    if (task == current) {
      task.unsure(since, now);
    } else if (all) {
      task.wake(now);
    }
    if (all) {
      task.skipped(0, now); // ahead of the interrupts below them
    }
    for (int level = task.stacks.size() - 1; level >= 0; level--) {
      ShadowStack c = task.stacks.get(level);
      if (all || c.isInterrupt() || c.systemCall.open) {
        resume(c);
      }
      c.lose(since, now, count, then.get(level));
      if (level > 0 && all) {
        drop(task, Ending.TRUNCATED, since, now);
      } else if (level > 0 && count > 1 && c.isKnown()) {
        accounts.interruptEnded(c, 0, since, Ending.TRUNCATED);
        c.forget();
      }
    }
  }

  /** A TASK record follows a loss: which interrupts the task at hand was in is not known. */
  private void behindLoss(long now) {
    if (current.stacks.size() > 1) {
      lose(current, lostAt, now, StackLosses.UNBOUNDED);
      top = current.top();
      resume(top);
    } else {
      current.unsure(lostAt, now);
      resume(current.top());
    }
  }

  /** Ahead of the first record that is seen of the core: what was before does not count. */
  void firstRecord(long time) {
    if (current != null && current.nested() == 0) {
      current.startAt(time);
      resume(current.top());
    }
  }

  /** Ahead of the first chunk of the core. */
  void first(long id, int open, long time) {
    if (id == 0 && open == 0) {
      return;
    }
    table.close(top);
    table.clear();
    lossy = true;
    enter(table.create(id, -1, time), time);
    nest(open, time);
  }

  /**
   * A chunk says where it begins.
   *
   * @param loss whether records are missing ahead of it
   */
  void begin(long id, int open, boolean loss, long now) {
    boolean same = current != null && current.id() == id;
    if (!loss) {
      boolean agrees = same && current.nested() == open;
      if (!agrees && !lossy && current != null) {
        accounts.count(Stat.CONTEXTS_DISAGREE, 1);
      }
      return;
    }
    if (!same) {
      TracedTask named = table.live(id);
      if (current != null) {
        behindLoss(now);
        current.out(now);
      }
      enter(named == null ? table.create(id, -1, now) : named, now);
    }
    if (current != null) {
      current.skipped(0, now);
      nest(open, now);
    }
    afterLoss = false;
  }

  /**
   * Compares every stack with that of the core, where a chunk begins.
   *
   * @param kept whether all frames and tasks were, so far
   */
  void prove(Keyframe keyframe, boolean kept, long now) {
    RecordBatch core = keyframe.records();
    boolean all = kept && !lossy;
    TracedTask task = null;
    int level = 0;
    for (int head = 0; head < core.size(); head = keyframe.end(head)) {
      boolean isTask = core.kind[head] == RecordBatch.TASK;
      task = isTask ? table.live(core.selfPc[head]) : task;
      level = isTask ? 0 : level + 1;
      if (task != null && level < task.stacks.size()) {
        task.stacks.get(level).isAs(keyframe, head, all, now);
      } else if (all && keyframe.open(head) > 0) {
        accounts.count(Stat.CONTEXTS_DISAGREE, 1);
      }
    }
  }

  /** So many interrupts are open on the task at hand, says a chunk. */
  private void nest(int open, long now) {
    while (current.stacks.size() - 1 > open) {
      resume(current.top());
      current.top().end(now);
      drop(current, Ending.TRUNCATED, lostSince, now);
    }
    while (current.stacks.size() - 1 < Math.min(open, MAX_NESTED) && table.takeInterrupt()) {
      push(0, false, 0, now);
    }
    top = topOf(current);
    resume(current.top());
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeBoolean(afterLoss);
    out.writeLong(lostSince);
    out.writeLong(lostAt);
    out.writeBoolean(lossy);
    table.writeTo(out, current);
  }

  /** Reads what {@link #writeTo} wrote into these new tasks. */
  void readFrom(DataInput in, CallProfile written, CallProfile profile) throws IOException {
    table.close(top);
    table.clear();
    afterLoss = in.readBoolean();
    lostSince = in.readLong();
    lostAt = in.readLong();
    lossy = in.readBoolean();
    current = table.readFrom(in, written, profile);
    top = topOf(current);
  }
}
