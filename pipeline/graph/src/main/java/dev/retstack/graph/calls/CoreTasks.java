package dev.retstack.graph.calls;

import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ChunkMeta;
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
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;

/**
 * The tasks of a core and the interrupts on top of them. It decides which ret_stack the next
 * records belong to, and what a loss means for each. TASKS.md has the rules.
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

  /** Whether the record before reported a loss, and the times at which it began and ended. */
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

  /** Whether there is one task and was no other, in no interrupt, and all of it is known. */
  boolean isPlain() {
    return !lossy
        && current != null
        && current.id() == 0
        && current.skipped == 0
        && current.stacks.size() == 1
        && table.isOne()
        && current.own().isPlain();
  }

  /** Takes what a segment adds to the one task. */
  void join(CoreTasks segment, CallProfile theirs, CallProfile profile) {
    afterLoss = false;
    current.records(segment.current.records());
    current.own().join(segment.current.own(), theirs, profile);
  }

  /** The tasks and what their calls add up to. */
  TaskTable table() {
    return table;
  }

  /** Ids of those that are not over. */
  LongStream running() {
    return table.all().stream().filter(task -> !task.isOver()).mapToLong(TracedTask::id);
  }

  /** Counts records that report no loss. */
  void seen(int records) {
    afterLoss = false;
    if (current != null) {
      current.records(records);
    }
  }

  /** A TASK record. */
  void task(TaskEvent event, long id, int depth, long now) {
    TracedTask named = table.live(id);
    switch (event) {
      case STARTED -> go(named, table.create(id, 0, now), now);
      case ENDED -> {
        if (named != current && !afterLoss) {
          accounts.count(Stat.CONTEXTS_DISAGREE, 1);
        }
        TracedTask next = id == 0 ? null : table.live(0);
        go(named, next == null ? table.create(0, -1, now) : next, now);
      }
      case SWITCHED -> {
        if (named == null) {
          go(null, table.create(id, lossy ? -1 : depth, now), now);
        } else if (named != current) {
          go(null, named, now);
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
  private void go(TracedTask ended, TracedTask next, long now) {
    if (current != null) {
      if (afterLoss) {
        behindLoss(now);
      }
      if (current != ended) {
        accounts.count(Stat.STACK_SWITCHES, 1);
        if (next != null) {
          accounts.switchedOut(current.top(), next, now);
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
      wake(task, now);
      task.in(now);
      resume(task.top());
      accounts.switchedIn(task.top(), known, now);
    }
  }

  /** Brings the clock of a task up to date, and shows for how long it was switched out. */
  private void wake(TracedTask task, long now) {
    if (task.isOut()) {
      accounts.away(task, task.out(), now);
    }
    task.wake(now);
  }

  private static ShadowStack topOf(TracedTask task) {
    return task == null || task.skipped > 0 ? null : task.top();
  }

  private void resume(ShadowStack stack) {
    accounts.resumed(stack);
    stack.countBy(stack.clock);
  }

  private void end(TracedTask task, long now) {
    if (!task.isOver()) {
      end(task, Ending.ENDED, now, now);
    }
  }

  /**
   * The task is over, and its calls with it.
   *
   * @param ending of its interrupts
   * @param seen until when they are known to have been open
   */
  private void end(TracedTask task, Ending ending, long seen, long now) {
    wake(task, now);
    dropTo(task, 0, ending, seen, now);
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
    push(current, number, now, 0, fromPc, now);
    top = current.top();
    resume(top);
  }

  /**
   * @param entered when the interrupt began, negative where that is not known
   * @param frames on its ret_stack, negative where that is not known
   */
  private void push(TracedTask task, long number, long entered, int frames, long fromPc, long now) {
    ShadowStack context = table.open(frames);
    context.ofInterrupt(task, number, entered, now);
    if (entered >= 0) {
      accounts.interrupted(task.top(), context, fromPc, entered);
    }
    task.stacks.add(context);
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
        top.lose(now, StackLosses.UNBOUNDED, top.clock);
        top.loseAll(now);
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

  /**
   * Keeps {@code left} interrupts of a task; the others are over, and their calls end with them.
   */
  private void dropTo(TracedTask task, int left, Ending ending, long seen, long now) {
    while (task.stacks.size() - 1 > left) {
      resume(task.top());
      task.top().end(now);
      drop(task, ending, seen, now);
    }
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
   * @param count {@link StackLosses#UNBOUNDED} where they may be more than is known
   * @param told whether {@link #keyframe} follows
   */
  void lose(long since, long now, long count, boolean told) {
    lossy = true;
    afterLoss = true;
    lostSince = since;
    lostAt = now;
    for (TracedTask task : table.all()) {
      if (!task.isOver()) {
        // where it ran meanwhile, an interrupt that was open may be another by now
        boolean doubtful = task != current && task.stacks.size() > 1;
        lose(task, since, now, doubtful ? StackLosses.UNBOUNDED : count, told);
        if (task != current) {
          task.cutAt(since);
        }
      }
    }
    resumeCurrent();
  }

  private void lose(TracedTask task, long since, long now, long count, boolean told) {
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
    } else if (told) {
      wake(task, since);
      task.mayHaveRun(now);
    } else if (all) {
      wake(task, now);
    }
    if (all || told) {
      task.skipped(0, now); // ahead of the interrupts below them
    }
    for (int level = task.stacks.size() - 1; level >= 0; level--) {
      ShadowStack c = task.stacks.get(level);
      if (all || c.isInterrupt() || c.systemCall.open) {
        resume(c);
      }
      c.lose(since, count, then.get(level));
      if (told) {
        continue;
      }
      if (all) { // not the sum of losses: nobody made this stack the one at hand
        c.loseAll(now);
      }
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
      lose(current, lostAt, now, StackLosses.UNBOUNDED, false);
      top = current.top();
      resume(top);
    } else {
      current.unsure(lostAt, now);
      resume(current.top());
    }
  }

  /** Ahead of the first record that is seen of the core: what was before does not count. */
  void firstRecord(long time) {
    if (current != null && current.nested() == 0 && current.own().frames.size() == 0) {
      current.startAt(time);
      resume(current.top());
    }
  }

  /**
   * Begins a core whose first chunk has calls or interrupts that were open before.
   *
   * @param told whether {@link #keyframe} follows
   */
  void first(long id, int open, boolean told, long time) {
    table.close(top);
    table.clear();
    lossy = true;
    enter(table.create(id, -1, time), time);
    if (!told) {
      nest(open, time);
    }
  }

  /**
   * A chunk says where it begins.
   *
   * @param loss whether records are missing ahead of it
   * @param told whether {@link #keyframe} follows
   */
  void begin(long id, int open, boolean loss, boolean told, long now) {
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
        if (!told) {
          behindLoss(now);
        }
        current.out(now);
      }
      enter(named == null ? table.create(id, -1, now) : named, now);
    }
    if (current != null && !told) {
      current.skipped(0, now);
      nest(open, now);
    }
    afterLoss = false;
  }

  /**
   * Compares each stack with what the chunk's keyframe says is open.
   *
   * @param loss whether records are missing ahead of it, so that the keyframe decides which tasks
   *     and interrupts there are
   */
  void keyframe(Keyframe keyframe, boolean loss, long now) {
    RecordBatch core = keyframe.records();
    Set<TracedTask> live = new HashSet<>();
    TracedTask task = null;
    int level = 0;
    int next;
    for (int head = 0; head < core.size(); head = next) {
      next = keyframe.end(head);
      boolean isTask = core.kind[head] == RecordBatch.TASK;
      level = isTask ? 0 : level + 1;
      if (isTask) {
        task = loss ? liveTask(core.selfPc[head], now) : table.live(core.selfPc[head]);
        boolean isNew = live.add(task);
        task = isNew ? task : null; // twice: a lie
      } else if (task != null && loss) {
        takeInterrupt(task, level, core, head, now);
      }
      if (task != null && level < task.stacks.size()) {
        if (loss) {
          learn(task, level, keyframe, head, now);
        } else {
          task.stacks.get(level).prove(keyframe, head, now);
        }
      } else if (!lossy && accounts.isEachTaskKept() && keyframe.open(head) > 0) {
        accounts.count(Stat.CONTEXTS_DISAGREE, 1);
      }
      boolean isLast = next == core.size() || core.kind[next] == RecordBatch.TASK;
      if (task != null && loss && isLast && level < task.stacks.size() - 1) {
        instead(task, level, now);
      }
    }
    if (loss) {
      endAllBut(live, now);
      lossy = !accounts.isEachTaskKept() || !table.isComplete();
      resumeCurrent();
    }
  }

  /** Other stacks were at hand meanwhile. */
  private void resumeCurrent() {
    if (current == null) {
      accounts.nowhere();
    } else {
      top = topOf(current);
      resume(current.top());
    }
  }

  /** The task of this id that is live in the core: where it is not known, it began in the loss. */
  private TracedTask liveTask(long id, long now) {
    TracedTask task = table.live(id);
    if (task == null) {
      task = table.create(id, -1, now);
      if (task != null) {
        task.out(now); // the one at hand is known
      }
    }
    return task;
  }

  /**
   * In the core the interrupt of this head is open: the one that is known, or one instead of it.
   */
  private void takeInterrupt(TracedTask task, int level, RecordBatch core, int head, long now) {
    long number = core.selfPc[head];
    if (level < task.stacks.size()) {
      ShadowStack known = task.stacks.get(level);
      if (known.number() == number && known.entered() == core.time[head]) {
        return;
      }
    }
    instead(task, level - 1, now);
    if (task.skipped > 0 || level > MAX_NESTED || !table.takeInterrupt()) {
      task.skip(now);
      accounts.count(Stat.TASKS_NOT_KEPT, 1);
    } else {
      push(task, number, Math.min(core.time[head], now), -1, core.fromPc[head], now);
    }
  }

  /** Keeps {@code left} interrupts of a task that a loss had switched out: it ran in the loss. */
  private void instead(TracedTask task, int left, long now) {
    accounts.switchedIn(task.top(), lostSince, now);
    dropTo(task, left, Ending.TRUNCATED, lostSince, now);
  }

  private void learn(TracedTask task, int level, Keyframe keyframe, int head, long now) {
    ShadowStack stack = task.stacks.get(level);
    StackClock at = new StackClock();
    task.clockAt(level, now, at);
    resume(stack);
    stack.learn(keyframe, head, at, now);
  }

  private void endAllBut(Set<TracedTask> live, long now) {
    for (TracedTask task : table.all()) {
      if (!task.isOver() && !live.contains(task)) {
        end(task, Ending.TRUNCATED, lostSince, now);
      }
    }
  }

  /** Makes the current task have {@code open} open interrupts, as a chunk says. */
  private void nest(int open, long now) {
    dropTo(current, open, Ending.TRUNCATED, lostSince, now);
    while (current.stacks.size() - 1 < Math.min(open, MAX_NESTED) && table.takeInterrupt()) {
      push(current, 0, -1, -1, 0, now);
    }
    top = topOf(current);
    resume(current.top());
  }

  /** That chunk, beginning in the task at hand. */
  ChunkMeta here(ChunkMeta meta) {
    return current == null ? meta : meta.in(current.id(), current.nested());
  }

  /** See {@link CoreReconstructor#open}. */
  Keyframe open(long since, boolean known) {
    List<TracedTask> told = new ArrayList<>(table.all());
    told.removeIf(TracedTask::isOver);
    if (told.remove(current)) {
      told.add(current);
    }
    int records = 0;
    for (TracedTask task : told) {
      for (ShadowStack stack : task.stacks) {
        records += 1 + stack.frames.size();
      }
    }
    RecordBatch open = new RecordBatch(Math.max(1, records));
    if (told.isEmpty()) { // the core has ended
      open.add(RecordBatch.TASK, 0, 0, 0, TaskEvent.SWITCHED.code(), 0, 0);
    }
    told.forEach(task -> task.stacks.forEach(stack -> stack.writeKeyframe(since, known, open)));
    return Keyframe.of(open);
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
