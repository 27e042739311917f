package dev.retstack.fleet.probe;

import dev.retstack.schema.codec.RecordBatch;
import dev.retstack.schema.codec.TaskEvent;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;

/**
 * The contexts of a core: its tasks, each with a ret_stack, and on top of it one per interrupt that
 * is open. Both probes ask here, and only where the address at hand lies outside of the window of
 * the current context, so that they decide alike and a core with one stack never asks twice.
 *
 * <ul>
 *   <li>An exit is of the context that has the frame. A return address is never lost.
 *   <li>An entry is of the interrupt that is open; else of the task that the image's declared
 *       variable or function names; else of the task whose stack the slot lies on: in its window,
 *       or near enough ({@link Windows}). A slot on no known stack starts a task.
 * </ul>
 *
 * @param <S> frames of a context
 */
final class Contexts<S extends FrameStack> {
  /** Most tasks of a core at a time; entries of further ones are refused. */
  static final int TASKS_MOST = 1024;

  /** Most interrupts open in a task; further ones count as part of the last. */
  static final int INTERRUPTS_MOST = 64;

  /** Most interrupts that are remembered though they were left. */
  private static final int LEFT_MOST = 16;

  /**
   * Hears what is to be recorded.
   *
   * @param <S> frames of a context
   */
  interface Listener<S> {
    /** Entries that were kept back are recorded now: what follows is of another context. */
    void write(S left);

    /** A record of a context. */
    void record(byte kind, int depth, long selfPc, long fromPc, long retP);

    /** The context of these frames is over: they may serve another. */
    void over(S frames);
  }

  private final Supplier<S> stacks;
  private final Windows<S> windows;
  private final Listener<S> listener;
  private final List<GuestTask<S>> tasks = new ArrayList<>();
  private Context<S> current;
  private long lastInferred;

  /**
   * True where an interrupt was left elsewhere than to what it interrupted, with frames open: they
   * may be of a task that waits in its interrupt, and what goes on is another.
   */
  private boolean suspended;

  /** Interrupts that were left with calls open, which may yet return: the latest ones. */
  private final Deque<Context<S>> left = new ArrayDeque<>();

  /** Interrupts beyond {@link #INTERRUPTS_MOST} that are open. */
  private int unkept;

  /**
   * One task, of which nothing is known.
   *
   * @param stacks makes the frames of a new context
   */
  Contexts(Supplier<S> stacks, StackRegions regions, Listener<S> listener) {
    this.stacks = stacks;
    this.windows = new Windows<>(regions);
    this.listener = listener;
    current = add(0).top;
    current.task.started = true;
  }

  /** The context that the core is in. */
  Context<S> current() {
    return current;
  }

  /** True where an address is on the stack of the current context: nothing is to be asked. */
  boolean holds(long address) {
    return !suspended && current.holds(address);
  }

  /** All there are. */
  List<S> all() {
    List<S> all = new ArrayList<>();
    left.forEach(context -> all.add(context.frames));
    for (Context<S> context : contexts()) {
      all.add(context.frames);
    }
    return all;
  }

  /** False for two addresses that are known to be on the stacks of different tasks. */
  boolean mayShareStack(long one, long other) {
    GuestTask<S> task = null;
    for (Context<S> context : contexts()) {
      boolean holds = context.isPlaced() && (context.holds(one) || context.holds(other));
      if (holds && task != null && task != context.task) {
        return false;
      }
      task = holds ? context.task : task;
    }
    return true;
  }

  private List<Context<S>> contexts() {
    List<Context<S>> all = new ArrayList<>();
    for (GuestTask<S> task : tasks) {
      for (Context<S> context = task.top; context != null; context = context.below) {
        all.add(context);
      }
    }
    return all;
  }

  private GuestTask<S> add(long id) {
    GuestTask<S> task = new GuestTask<>(id);
    task.top = new Context<>(task, stacks.get());
    tasks.add(task);
    return task;
  }

  /**
   * A function is entered whose slot lies outside of the current window: makes the context current
   * that it belongs to.
   *
   * @param retP the slot
   * @param fp the caller's frame pointer; 0 where that says nothing
   * @return false where there are too many tasks: the entry is to be left alone
   */
  boolean enter(long retP, long fp) {
    leaveInterruptsOf(retP);
    if (!current.isInterrupt() || suspended) {
      GuestTask<S> task = taskAt(retP, fp);
      if (task == null) {
        return false;
      }
      if (suspended && task == current.task) {
        leaveInterrupt(0);
      }
      switchTo(task, retP);
    }
    windows.claim(contexts(), current, retP);
    announce(current);
    return true;
  }

  /** An entry on a part of the stack that was interrupted: a longjmp left the interrupts above. */
  private void leaveInterruptsOf(long retP) {
    for (Context<S> above = current; above.isInterrupt(); above = above.below) {
      if (above.below.holds(retP) && Long.compareUnsigned(retP, above.stackPointer) >= 0) {
        Context<S> goesOn = above.below;
        while (current != goesOn) {
          leaveInterrupt(0);
        }
        return;
      }
    }
  }

  /** Inferred: whose stack an address is on; null where it is a new task's and there is no room. */
  private GuestTask<S> taskAt(long retP, long fp) {
    List<Context<S>> all = contexts();
    if (all.stream().noneMatch(Context::isPlaced)) {
      return current.task;
    }
    Context<S> owner = windows.owner(all, retP, fp);
    if (owner != null) {
      return owner.task;
    }
    return tasks.size() < TASKS_MOST ? add(++lastInferred) : null;
  }

  /**
   * A hijacked return arrived for which the current context has no open frame, or with the stack
   * pointer outside of its window: makes the context current that has the frame.
   *
   * @param place where it arrived
   * @param stackPointer after the return
   * @param above where the frame's slot lies below
   */
  void exit(int place, long stackPointer, long above) {
    Context<S> found = holder(place, stackPointer, above);
    if (found == null) {
      return; // the probe knows what to say
    }
    suspended = false;
    switchTo(found.task, stackPointer);
    while (current != found) {
      leaveInterrupt(0);
    }
    windows.claim(contexts(), found, stackPointer);
  }

  private Context<S> holder(int place, long stackPointer, long above) {
    if (holds(stackPointer) && current.fits(place, above)) {
      return current;
    }
    List<Context<S>> all = contexts();
    Context<S> best = null;
    for (Context<S> context : all) {
      if (context.fits(place, above)) {
        if (context.holds(stackPointer)) {
          return context;
        }
        best = best == null || best.isBelow(context, place, above) ? context : best;
      }
    }
    if (best == null) {
      for (Context<S> context : left) {
        best = context.fits(place, above) ? context : best;
      }
      if (best != null) {
        reopen(best, stackPointer);
      }
    }
    if (best != null || current.open(place, above) >= 0) {
      return best == null ? current : best;
    }
    for (Context<S> context : all) { // a frame that was given up too early
      best = context.frames.find(place, above) >= 0 && best != current ? context : best;
    }
    return best;
  }

  /** A call goes on that was open when its interrupt was left: so is the interrupt. */
  private void reopen(Context<S> interrupt, long stackPointer) {
    left.remove(interrupt);
    suspended = false;
    switchTo(interrupt.task, stackPointer);
    interrupt.below = current;
    interrupt.told = false;
    announce(interrupt);
    current.task.top = interrupt;
    current = interrupt;
  }

  /** The core goes on with a task, if it is another. */
  private void switchTo(GuestTask<S> task, long stackPointer) {
    suspended = false;
    GuestTask<S> left = current.task;
    if (left == task) {
      return;
    }
    listener.write(current.frames);
    if (left.ending) {
      tell(TaskEvent.ENDED, left, stackPointer);
      tasks.remove(left);
      this.left.removeIf(interrupt -> interrupt.task == left);
      for (Context<S> over = left.top; over != null; over = over.below) {
        listener.over(over.frames);
      }
    }
    current = task.top;
    tell(task.started ? TaskEvent.SWITCHED : TaskEvent.STARTED, task, stackPointer);
    task.started = true;
  }

  private void tell(TaskEvent event, GuestTask<S> task, long stackPointer) {
    int depth = task.top.frames.visible();
    listener.record(RecordBatch.TASK, depth, task.id, event.code(), stackPointer);
  }

  /**
   * An interrupt begins.
   *
   * @param number as records name it
   * @param pc where the task was
   * @param stackPointer there
   * @param isFunction true where it ends with the function that is about to be entered
   * @param tell false leaves the record to the first entry in it, if there is one
   */
  void interruptEnter(long number, long pc, long stackPointer, boolean isFunction, boolean tell) {
    locate(stackPointer);
    suspended = false;
    int open = 0;
    for (Context<S> context = current; context.isInterrupt(); context = context.below) {
      open++;
    }
    if (open == INTERRUPTS_MOST) {
      unkept++;
      return;
    }
    Context<S> interrupt =
        new Context<>(current.task, current, stacks.get(), number, pc, stackPointer, isFunction);
    if (tell) { // else the first entry asks, and is told of it
      announce(interrupt);
      current.giveTo(interrupt);
    }
    current.task.top = interrupt;
    current = interrupt;
  }

  /** A task was switched to, if the stack pointer is on a stack that is not the current task's. */
  private void locate(long stackPointer) {
    long used = stackPointer - 1; // of a stack that is empty
    if (suspended || current.isInterrupt() || current.holds(stackPointer)) {
      return;
    }
    List<Context<S>> all = contexts();
    Context<S> owner = windows.owner(all, used, 0);
    if (owner == null && (tasks.size() == TASKS_MOST || !windows.isNew(all, used))) {
      return; // it cannot be told
    }
    switchTo(owner == null ? add(++lastInferred) : owner.task, stackPointer);
    windows.claim(contexts(), current, used);
  }

  /** Records that interrupts are open where that was not said yet. */
  private void announce(Context<S> context) {
    if (!context.told) {
      announce(context.below);
      context.told = true;
      S left = context.below.frames;
      listener.write(left);
      listener.record(
          RecordBatch.INTERRUPT_ENTER,
          left.visible(),
          context.number,
          context.interruptedAt,
          context.stackPointer);
    }
  }

  /**
   * The innermost interrupt ends; without one nothing happens. Where it does not go back to what it
   * interrupted while calls are open in it, it may be a task that is switched off inside of its
   * interrupt: then nothing is over yet.
   *
   * @param pc where the core goes on
   * @param stackPointer there
   */
  void interruptExit(long pc, long stackPointer) {
    if (unkept > 0) {
      unkept--;
    } else if (current.isInterrupt()) {
      suspended = current.frames.size() > 0 && stackPointer != current.stackPointer;
      if (!suspended) {
        leaveInterrupt(pc);
        locate(stackPointer);
      }
    }
  }

  private void leaveInterrupt(long pc) {
    if (current.told) {
      listener.write(current.frames);
      listener.record(RecordBatch.INTERRUPT_EXIT, current.frames.visible(), current.number, pc, 0);
    }
    leave();
  }

  /** The innermost interrupt is over, and records say so. */
  void leave() {
    current.below.takeFrom(current);
    if (current.frames.size() == 0) {
      listener.over(current.frames);
    } else {
      left.addLast(current);
      if (left.size() > LEFT_MOST) {
        listener.over(left.removeFirst().frames);
      }
    }
    current.task.top = current.below;
    current = current.below;
    suspended = false;
    unkept = 0;
  }
}
