package dev.retstack.fleet.probe.task;

import dev.retstack.fleet.probe.frame.FrameStack;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The tasks of a core. Decides to which task an entry outside of interrupts belongs.
 *
 * <ul>
 *   <li>If the image says which task runs, to that one. But a kernel may say so a little before it
 *       switches stacks. So below open calls of the current task, on its stack, entries stay with
 *       it, if the other task has another stack or was never seen. Thus no frame gets among those
 *       of another stack. (The task with which the core begins gives way: its name is not known.)
 *   <li>Otherwise to the task on whose stack the slot lies, or near enough to it ({@link Windows}).
 *       A slot on no known stack starts a task.
 * </ul>
 *
 * @param <S> frames of a context
 */
final class GuestTasks<S extends FrameStack> {
  /** Most tasks of a core at a time; entries of further ones are refused. */
  static final int TASKS_MOST = 1024;

  /** Most tasks that are remembered though they ended: their calls may yet return. */
  private static final int ENDED_MOST = 4;

  private final Supplier<S> stacks;
  private final Windows<S> windows;
  private final TaskSource declared;
  private final Consumer<GuestTask<S>> forgotten;
  private final List<GuestTask<S>> tasks = new ArrayList<>();
  private final Deque<GuestTask<S>> ended = new ArrayDeque<>();
  private long lastInferred;

  /**
   * None.
   *
   * @param stacks makes the frames of a new context
   * @param forgotten receives each task of which nothing is known from now on
   */
  GuestTasks(
      Supplier<S> stacks,
      Windows<S> windows,
      TaskSource declared,
      Consumer<GuestTask<S>> forgotten) {
    this.stacks = stacks;
    this.windows = windows;
    this.declared = declared;
    this.forgotten = forgotten;
  }

  /** A new task; null where there is no room. */
  GuestTask<S> add(long id) {
    return tasks.size() >= TASKS_MOST ? null : addThread(id, 0);
  }

  /**
   * A thread of the program. There is room for each, because their number is bounded elsewhere.
   *
   * @param stack an address on the stack that it begins on
   */
  GuestTask<S> addThread(long id, long stack) {
    GuestTask<S> task = new GuestTask<>(id);
    task.stack = stack;
    task.top = new Context<>(task, stacks.get());
    tasks.add(task);
    return task;
  }

  /** The contexts of all tasks, also of the last ones that ended. */
  List<Context<S>> contexts() {
    List<Context<S>> all = new ArrayList<>();
    for (GuestTask<S> task : tasks) {
      for (Context<S> context = task.top; context != null; context = context.below) {
        all.add(context);
      }
    }
    return all;
  }

  /** Those that records have named and that have not ended. */
  List<GuestTask<S>> known() {
    return tasks.stream().filter(task -> task.started && !task.over).toList();
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

  /** The task that the image says runs now; empty where it does not say. */
  OptionalLong declared() {
    return declared.now();
  }

  /** The task of an id; null where it is new and there is no room. */
  GuestTask<S> named(long id) {
    GuestTask<S> task = find(id);
    return task == null ? add(id) : task;
  }

  /** The task of an id; null where none has it. */
  GuestTask<S> find(long id) {
    for (GuestTask<S> task : tasks) {
      if (task.id == id && !task.over) {
        return task;
      }
    }
    return null;
  }

  /**
   * The task that an entry belongs to, or that continues at a stack pointer.
   *
   * @param current the context that the core was in so far
   * @param retP the slot
   * @param fp the caller's frame pointer; 0 where that says nothing
   * @return null where it is a new task's and there is no room
   */
  GuestTask<S> at(Context<S> current, long retP, long fp) {
    List<Context<S>> all = contexts();
    OptionalLong id = declared.now();
    if (id.isEmpty() && all.stream().noneMatch(Context::isPlaced)) {
      return current.task;
    }
    Context<S> owner = windows.owner(all, retP, fp);
    if (id.isPresent()) {
      return declared(id.getAsLong(), owner, current, retP);
    }
    return owner != null ? owner.task : addCoroutine();
  }

  /** A new task that its stack shows; null where there is no room. */
  GuestTask<S> addCoroutine() {
    GuestTask<S> task = add(++lastInferred);
    if (task != null) {
      task.isCoroutine = true;
    }
    return task;
  }

  /**
   * The task whose stack an address is on, where nothing is declared; null where that is not known.
   */
  GuestTask<S> around(long address) {
    List<Context<S>> all = contexts();
    Context<S> owner = windows.owner(all, address, 0);
    if (owner != null) {
      return owner.task;
    }
    return windows.isNew(all, address) ? addCoroutine() : null;
  }

  private GuestTask<S> declared(long id, Context<S> owner, Context<S> current, long retP) {
    GuestTask<S> task = find(id);
    if (owner != null && owner.task == task) {
      return task;
    }
    boolean below = owner != null && owner.isCallerOf(retP);
    boolean elsewhere =
        task == null ? current.task.id != 0 : task.top.isPlaced() || task.top.frames.size() > 0;
    if (below && (declared.isAhead() || (owner == current && elsewhere))) {
      return owner.task;
    }
    if (task == null) {
      return add(id);
    }
    return task.top.frames.size() == 0 || isAmongFrames(task.top.frames, retP)
        ? task
        : (below ? owner.task : anew(task));
  }

  /** True for a slot that is not above all open frames, on what may be their stack. */
  private boolean isAmongFrames(S frames, long retP) {
    return Long.compareUnsigned(retP, frames.retP(0)) <= 0
        && windows.areNeighbours(frames.retP(frames.size() - 1), retP);
  }

  /** On another stack while calls are open: the task is over, and its control block used again. */
  private GuestTask<S> anew(GuestTask<S> task) {
    end(task);
    return add(task.id);
  }

  /** It has no future. Its calls can still return, where that is not so: then it is back. */
  void end(GuestTask<S> task) {
    task.over = true;
    task.ending = false;
    task.started = false;
    for (Context<S> context = task.top; context != null; context = context.below) {
      context.low = context.high;
    }
    ended.addLast(task);
    if (ended.size() > ENDED_MOST) {
      GuestTask<S> oldest = ended.removeFirst();
      tasks.remove(oldest);
      forgotten.accept(oldest);
    }
  }

  /** A call of a task returns that had ended: it has not, and a later one of its id is over. */
  void back(GuestTask<S> task) {
    if (task.over) {
      GuestTask<S> later = find(task.id);
      task.over = false;
      ended.remove(task);
      if (later != null) {
        end(later);
      }
    }
  }
}
