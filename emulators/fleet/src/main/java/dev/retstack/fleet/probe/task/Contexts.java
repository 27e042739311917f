package dev.retstack.fleet.probe.task;

import dev.retstack.fleet.probe.frame.FrameStack;
import dev.retstack.fleet.probe.frame.GivenUp;
import dev.retstack.fleet.probe.task.StackRegions.Region;
import dev.retstack.machine.memory.Addresses;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskEvent;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * The contexts of a core: its tasks, each with a ret_stack, and on top of it one per interrupt that
 * is open. Both probes ask here, and only where the address at hand lies outside of the window of
 * the current context, so that they decide alike and a core with one stack never asks twice.
 *
 * <ul>
 *   <li>An exit is of the context that has the frame. A return address is never lost.
 *   <li>An entry is of the interrupt that is open; else {@link GuestTasks} knows whose it is.
 *   <li>An interrupt is opened by who runs the core, or by a function that the image declares as a
 *       handler; such a one is over when the function returns.
 * </ul>
 *
 * @param <S> frames of a context
 */
public final class Contexts<S extends FrameStack> {
  /** Most interrupts open in a task; further ones count as part of the last. */
  static final int INTERRUPTS_MOST = 64;

  /** Most interrupts that are remembered though they were left. */
  private static final int LEFT_MOST = 16;

  /** No address. */
  public static final long NOWHERE = -1;

  /**
   * A context whose frames an unwinder may reach.
   *
   * @param frames of it
   * @param from its stack pointer; {@link #NOWHERE}: not known
   * @param isOwn true where it continues only when all that runs now has ended
   * @param <S> frames of a context
   */
  public record Reached<S extends FrameStack>(S frames, long from, boolean isOwn) {}

  /**
   * A stack.
   *
   * @param task whose it is
   * @param region where it lies; those of other tasks may lie there too
   * @param isSeparate true for that of signal handlers, inside of a region
   */
  public record Stack(Object task, Region region, boolean isSeparate) {
    /** True for a stack of the same task. */
    @SuppressWarnings("ReferenceEquality") // tasks have no values
    public boolean isOfTask(Stack other) {
      return task == other.task;
    }

    /** True for the same stack, though its region may have grown. */
    public boolean isSame(Stack other) {
      return isOfTask(other)
          && isSeparate == other.isSeparate
          && region.start() == other.region.start();
    }
  }

  /**
   * Hears what is to be recorded.
   *
   * @param <S> frames of a context
   */
  public interface Listener<S> {
    /** Entries that were kept back are recorded now: what follows is of another context. */
    void write(S left);

    /** A record of a context. */
    void record(byte kind, int depth, long selfPc, long fromPc, long retP);

    /** The time of the present event. */
    long now();

    /** The context of these frames is over: they may serve another. */
    void over(S frames);
  }

  private final Supplier<S> stacks;
  private final Windows<S> windows;
  private final Listener<S> listener;
  private final GivenUp givenUp;
  private final GuestTasks<S> tasks;
  private Context<S> current;

  /**
   * True where a signal handler has switched stacks, or an interrupt was left elsewhere than to
   * what it interrupted, with frames open: they may be of a task that waits in its interrupt, while
   * another task continues.
   */
  private boolean suspended;

  /** True where who runs the core says which thread runs, or a stack is of pieces. */
  private boolean threaded;

  /** The task of the thread that runs; a coroutine that it runs is a task besides. */
  private GuestTask<S> thread;

  /** What threads ran that were switched off, if not their own task. */
  private final Map<GuestTask<S>, GuestTask<S>> waiting = new HashMap<>();

  /** True where a stack is of pieces that lie anywhere. */
  private final boolean inPieces;

  private final StackRegions regions;

  /** Interrupts that were left with calls open, which may yet return: the latest ones. */
  private final Deque<Context<S>> left = new ArrayDeque<>();

  /** Interrupts beyond {@link #INTERRUPTS_MOST} that are open. */
  private int unkept;

  /**
   * One task, of which nothing is known.
   *
   * @param stacks makes the frames of a new context
   * @param declared the task that runs, where the image shows it
   * @param givenUp what was taken for dead, of all contexts
   */
  public Contexts(
      Supplier<S> stacks,
      StackRegions regions,
      TaskSource declared,
      Listener<S> listener,
      GivenUp givenUp) {
    this.givenUp = givenUp;
    this.stacks = stacks;
    this.windows = new Windows<>(regions);
    this.listener = listener;
    inPieces = regions.inPieces();
    this.regions = regions;
    threaded = inPieces;
    tasks = new GuestTasks<>(stacks, windows, declared, this::forget);
    thread = tasks.add(0);
    current = thread.top;
    current.task.started = true;
    givenUp.among(
        () ->
            all().stream()
                .flatMapToLong(s -> IntStream.range(0, s.size()).mapToLong(s::retP))
                .sorted()
                .toArray());
  }

  /** The context that the core is in. */
  Context<S> current() {
    return current;
  }

  /** The frames of the current context. */
  public S frames() {
    return current.frames;
  }

  /** The id of the current task. */
  public long task() {
    return current.task.id;
  }

  /** Lowest address of the window of the current context. */
  public long low() {
    return current.low;
  }

  /** One past its highest. */
  public long high() {
    return current.high;
  }

  /** True in an interrupt that ends with the function that handles it. */
  public boolean isHandler() {
    return current.isFunction;
  }

  /** True where that function has returned. */
  public boolean isHandlerOver() {
    return current.isHandlerOver();
  }

  /** True where an open frame of the current context returns through a place, below an address. */
  public boolean fits(int place, long above) {
    return current.fits(place, above);
  }

  /** True where an address is on the stack of the current context: nothing is to be asked. */
  public boolean holds(long address) {
    return !suspended && current.holds(address);
  }

  /** True where the image says that another task runs now. */
  public boolean isOther() {
    OptionalLong id = outside() && !threaded ? tasks.declared() : OptionalLong.empty();
    return id.isPresent() && id.getAsLong() != current.task.id;
  }

  /** True outside of interrupts. */
  public boolean outside() {
    return !current.isInterrupt() || suspended;
  }

  /** The current task ends when the core continues with another. Not in an interrupt. */
  void ends() {
    current.task.ending |= outside();
  }

  /** All there are. */
  public List<S> all() {
    List<S> all = new ArrayList<>();
    left.forEach(context -> all.add(context.frames));
    for (Context<S> context : tasks.contexts()) {
      all.add(context.frames);
    }
    return all;
  }

  /**
   * What is open by the records so far, as the frames here have it.
   *
   * @param codeMask bits of an address that are of the instruction
   * @return null where records and frames cannot be compared: there are too many stacks, or a task
   *     has begun again in an interrupt
   */
  public Keyframe keyframe(long codeMask) {
    Keyframe.Builder to = new Keyframe.Builder();
    for (GuestTask<S> task : tasks.known()) {
      if (task.interruptsUnknown) {
        return null;
      }
      if (task != current.task) {
        addTo(to, task.top, codeMask);
      }
    }
    to.last();
    addTo(to, current, codeMask);
    return to.build();
  }

  /** The functions of the innermost open calls, by the ids of their tasks. */
  public Map<Long, Long> innermost() {
    Map<Long, Long> functions = new HashMap<>();
    for (GuestTask<S> task : tasks.known()) {
      S frames = task.top.frames;
      if (frames.size() > 0) {
        functions.put(task.id, frames.selfPc(frames.size() - 1));
      }
    }
    return functions;
  }

  private void addTo(Keyframe.Builder to, Context<S> context, long codeMask) {
    if (context.isInterrupt()) {
      addTo(to, context.below, codeMask);
    }
    S frames = context.frames;
    int open = Math.min(frames.recorded(), frames.live());
    if (!context.isInterrupt()) {
      to.task(context.task.id, frames.shown(), open);
    } else if (context.told) {
      to.interrupt(context.number, context.interruptedAt, context.time, frames.shown(), open);
    } else {
      return;
    }
    int room = to.room(open - Math.min(frames.unknown(), open));
    for (int i = open - room; i < open; i++) {
      to.frame(
          i,
          frames.time(i),
          frames.selfPc(i),
          frames.fromPc(i) & codeMask,
          frames.retP(i),
          frames.fp(i));
    }
  }

  /** The frames of the current context above the lowest {@code keep} are taken for dead. */
  public void giveUp(int keep) {
    giveUp(current, keep);
  }

  private void giveUp(Context<S> context, int keep) {
    S frames = context.frames;
    for (int i = keep; i < frames.size(); i++) {
      boolean gaveWay = i + 1 < frames.size() && frames.isTail(i + 1);
      if (!gaveWay) { // else its slot is that of the one above, which returns to where it would
        givenUp.add(frames.givenUp(i).of(context.task.id));
      }
    }
    frames.truncate(keep);
  }

  /**
   * A longjmp went to a stack pointer: on that stack the frames whose slots lie below an address
   * are taken for dead. But not the last of a handler, whose exit ends the interrupt.
   */
  public void giveUpBelow(long stackPointer, long address) {
    if (inPieces && outside()) {
      giveUp(current, windows.keptBelow(current.frames, stackPointer, address));
      return;
    }
    Context<S> context = windows.owner(tasks.contexts(), stackPointer, 0);
    if (context == null) {
      return;
    }
    while (current.isSignal && current != context && current.isOnTopOf(context)) {
      leaveInterrupt(0);
    }
    S frames = context.frames;
    int keep = frames.size();
    while (keep > 0 && Long.compareUnsigned(frames.retP(keep - 1), address) < 0) {
      keep--;
    }
    keep = keep < frames.size() ? frames.first(keep) : keep;
    if (keep > 0 || !context.isFunction) {
      giveUp(context, keep);
    }
  }

  /** An unwinder went to a stack pointer on a stack of pieces: the frames below are gone. */
  public void truncateBelow(long stackPointer, long address) {
    S frames = current.frames;
    int keep = windows.keptBelow(frames, stackPointer, address);
    if (keep < frames.size()) {
      frames.truncate(keep);
    }
  }

  /** True where a stack is of pieces that lie anywhere: slots are in no order. */
  public boolean inPieces() {
    return inPieces;
  }

  /**
   * The contexts whose frames an unwinder may reach: those of its task first, and, if nobody says
   * which task runs, those of all. One of them may have called a function on its stack.
   */
  public List<Reached<S>> reached(long stackPointer) {
    List<Reached<S>> reached = new ArrayList<>();
    GuestTask<S> own = taskAt(stackPointer);
    reach(reached, own.top, true);
    if (!threaded) {
      tasks.known().stream()
          .filter(task -> task != own)
          .forEach(task -> reach(reached, task.top, false));
    }
    return reached;
  }

  private void reach(List<Reached<S>> to, Context<S> top, boolean isOwn) {
    long from = NOWHERE;
    for (Context<S> context = top; context != null; context = context.below) {
      to.add(new Reached<>(context.frames, from, isOwn));
      from = context.interruptedSp;
    }
  }

  /**
   * An unwinder went to a stack pointer: signal handlers that were called below it are over, all of
   * a task if it went to the stack of another.
   */
  public void leaveHandlers(long stackPointer) {
    boolean isOther = taskAt(stackPointer) != current.task;
    while (current.isSignal && (isOther || current.isLeftFor(stackPointer))) {
      leaveInterrupt(0);
    }
  }

  /**
   * True for a stack that an unwinder passes on its way from one stack to another: the outermost
   * function of each was called on the next.
   */
  @SuppressWarnings("ReferenceEquality") // tasks have no values
  public boolean isBetween(Stack stack, Stack from, Stack to) {
    boolean isPassed = false;
    int left = tasks.known().size();
    GuestTask<?> task = (GuestTask<?>) from.task;
    while (task != null && task != to.task && left-- > 0) {
      isPassed |= task == stack.task && task != from.task;
      task = task.begunBy;
    }
    return isPassed && task == to.task;
  }

  /** The frames of the task whose a stack is. */
  public List<S> framesOf(Stack stack) {
    return tasks.contexts().stream()
        .filter(context -> context.task == stack.task)
        .map(context -> context.frames)
        .toList();
  }

  private GuestTask<S> taskAt(long address) {
    Context<S> owner = threaded ? null : windows.owner(tasks.contexts(), address, 0);
    return owner == null ? current.task : owner.task;
  }

  /** The stack that holds an address. */
  public Stack stackAt(long address) {
    Region separate = separate(address);
    return new Stack(
        taskAt(address), separate == null ? windows.region(address) : separate, separate != null);
  }

  /** The stack that a stack pointer is on. That of one that is empty is where its region ends. */
  public Stack stackOf(long stackPointer) {
    return stackAt(stackPointer - 1);
  }

  /** What surely is of one stack, around a stack pointer. */
  public Region around(long stackPointer) {
    long address = stackPointer - 1;
    Stack stack = stackAt(address);
    long start = stack.region.start();
    long end = stack.region.end();
    for (Context<S> context : stack.isSeparate ? List.<Context<S>>of() : tasks.contexts()) {
      if (context.isPlaced() && context.task != stack.task) {
        start = isUpTo(context.high, address) ? Addresses.higher(start, context.high) : start;
        end = isUpTo(context.low, address) ? end : Addresses.lower(end, context.low);
      }
      if (context.ownBytes != 0) {
        long top = context.ownStack + context.ownBytes;
        start = isUpTo(top, address) ? Addresses.higher(start, top) : start;
        end = isUpTo(context.ownStack, address) ? end : Addresses.lower(end, context.ownStack);
      }
    }
    return new Region(start, end, false);
  }

  private static boolean isUpTo(long one, long other) {
    return Long.compareUnsigned(one, other) <= 0;
  }

  /**
   * Whose registers a word is part of.
   *
   * @param frameBytes of the frame of a signal handler
   * @return the stack pointer of what was interrupted, for a place in such a frame; else the place
   */
  public long stackPointerOf(long place, long frameBytes) {
    for (Context<S> context = current; context.isInterrupt(); context = context.below) {
      if (context.isSignal
          && Long.compareUnsigned(place - context.stackPointer, frameBytes) < 0
          && (context.ownBytes != 0 || Long.compareUnsigned(place, context.interruptedSp) < 0)) {
        return context.interruptedSp;
      }
    }
    return place;
  }

  /** The separate stack of an open signal handler that holds an address; null where none does. */
  private Region separate(long address) {
    for (Context<S> context = current; context.isInterrupt(); context = context.below) {
      if (Long.compareUnsigned(address - context.ownStack, context.ownBytes) < 0) {
        return new Region(context.ownStack, context.ownStack + context.ownBytes, false);
      }
    }
    return null;
  }

  /** {@link GuestTasks#mayShareStack}. */
  public boolean mayShareStack(long one, long other) {
    return tasks.mayShareStack(one, other);
  }

  /**
   * A function is entered whose slot lies outside of the current window: makes the context current
   * that it belongs to.
   *
   * @param retP the slot
   * @param fp the caller's frame pointer; 0 where that says nothing
   * @return false where there are too many tasks: the entry is to be left alone
   */
  public boolean enter(long retP, long fp) {
    leaveInterruptsOf(retP);
    suspended |= hasSwitchedStacks(retP, fp);
    if (outside() && !goOnWith(taskOf(retP, fp), retP)) {
      return false;
    }
    windows.claim(tasks.contexts(), current, retP);
    announce(current);
    return true;
  }

  /**
   * True for an entry that shows that a signal handler has switched to the stack of another
   * coroutine. Its calls stay open: the coroutine waits in its handler.
   */
  private boolean hasSwitchedStacks(long retP, long fp) {
    if (!current.isSignal || current.isOnOwn(retP) || tasks.declared().isPresent()) {
      return false;
    }
    if (threaded) {
      return !current.isNear(retP) && known(retP, fp) != current.task;
    }
    Context<S> owner = windows.owner(tasks.contexts(), retP, fp);
    return owner == null
        ? current.isTaskPlaced() && !current.isNear(retP)
        : owner.task != current.task;
  }

  /** Whose an entry is outside of interrupts; null where it is a new task's, without room. */
  private GuestTask<S> taskOf(long retP, long fp) {
    if (!threaded) {
      return tasks.at(current, retP, fp);
    }
    GuestTask<S> task = known(retP, fp);
    task = task == null ? tasks.addCoroutine() : task;
    return task == null ? thread : task;
  }

  /**
   * In a program with threads or pieces: whose stack an address is on; null for one that is not
   * known.
   */
  private GuestTask<S> known(long address, long fp) {
    if (inPieces) {
      return current.task;
    }
    if (windows.isHome(thread, address)) {
      return thread;
    }
    Context<S> owner = windows.owner(tasks.contexts(), address, fp);
    if (owner == null) {
      return null;
    }
    return owner.task.isCoroutine ? owner.task : thread;
  }

  /** Outside of interrupts: false where there is no task. */
  private boolean goOnWith(GuestTask<S> task, long stackPointer) {
    if (task == null) {
      return false;
    }
    if (suspended && task == current.task) {
      leaveInterrupt(0);
    }
    switchTo(task, stackPointer);
    return true;
  }

  /** An entry on a part of the stack that was interrupted: a longjmp left the interrupts above. */
  private void leaveInterruptsOf(long retP) {
    leaveEmptyHandler(0);
    for (Context<S> above = current; above.isInterrupt(); above = above.below) {
      if (above.below.holds(retP) && above.isLeftFor(retP)) {
        Context<S> goesOn = above.below;
        while (current != goesOn) {
          leaveInterrupt(0);
        }
        return;
      }
    }
  }

  /**
   * A hijacked return arrived for which the current context has no open frame, or with the stack
   * pointer outside of its window, or where a frame that was given up may be meant: makes the
   * context current that has the frame.
   *
   * @param place where it arrived
   * @param stackPointer after the return
   * @param above where the frame's slot lies below
   * @return the frame, where it had been given up; null: the probe has it
   */
  public GivenUp.Frame exit(int place, long stackPointer, long above, GivenUp.Arrival arrival) {
    Context<S> found = holder(place, stackPointer, above);
    GivenUp.Frame dead = givenUp.isEmpty() ? null : givenUp.find(place, above, arrival);
    if (dead != null && !isOther(dead, found, place, above, arrival)) {
      givenUp.remove(dead);
      GuestTask<S> task = outside() ? tasks.find(dead.task()) : null;
      if (task != null) {
        switchTo(task, stackPointer);
      }
      return dead;
    }
    if (found != null) { // else the probe knows what to say
      goOnIn(found, stackPointer);
    }
    return null;
  }

  private boolean isOther(
      GivenUp.Frame dead, Context<S> found, int place, long above, GivenUp.Arrival arrival) {
    if (found == null || !found.fits(place, above)) {
      return false;
    }
    GivenUp.Frame open = found.frames.givenUp(found.open(place, above));
    return givenUp.isOther(dead, open.selfPc(), open.retP(), open.convention(), arrival);
  }

  private void goOnIn(Context<S> found, long stackPointer) {
    suspended = false;
    switchTo(found.task, stackPointer);
    while (current != found) {
      leaveInterrupt(0);
    }
    windows.claim(tasks.contexts(), found, stackPointer);
  }

  private Context<S> holder(int place, long stackPointer, long above) {
    if (holds(stackPointer) && current.fits(place, above)) {
      return current;
    }
    List<Context<S>> all = tasks.contexts();
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

  /** A call continues that was open when its interrupt was left: the interrupt is open again. */
  private void reopen(Context<S> interrupt, long stackPointer) {
    left.remove(interrupt);
    suspended = false;
    switchTo(interrupt.task, stackPointer);
    interrupt.below = current;
    interrupt.told = false;
    interrupt.frames.beginAnew();
    announce(interrupt);
    current.task.top = interrupt;
    current = interrupt;
  }

  /** The core continues with a task, if it is another. */
  private void switchTo(GuestTask<S> task, long stackPointer) {
    suspended = false;
    GuestTask<S> left = current.task;
    if (left == task) {
      return;
    }
    listener.write(current.frames);
    if (left.ending) {
      recordTask(TaskEvent.ENDED, left, stackPointer);
      tasks.end(left);
    }
    tasks.back(task);
    current = task.top;
    if (current.frames.size() == 0) {
      task.begunBy = left;
    }
    if (!task.started) { // perhaps again
      task.interruptsUnknown = current.isInterrupt();
      current.frames.beginAnew();
    }
    recordTask(task.started ? TaskEvent.SWITCHED : TaskEvent.STARTED, task, stackPointer);
    task.started = true;
  }

  /**
   * The core continues with a thread of its program.
   *
   * @param id of the task that it is
   * @param ended true where the current task is over
   */
  public void threadSwitched(long id, boolean ended, long stackPointer) {
    threaded = true;
    if (ended) {
      switchTo(thread, stackPointer);
      thread.ending = true;
    } else if (current.task != thread) {
      waiting.put(thread, current.task);
    }
    GuestTask<S> next = tasks.find(id);
    if (next == null) {
      next = tasks.addThread(id, stackPointer);
    }
    thread = next;
    GuestTask<S> ran = waiting.remove(thread);
    switchTo(ran == null ? thread : ran, stackPointer);
  }

  private void forget(GuestTask<S> task) {
    left.removeIf(interrupt -> interrupt.task == task);
    task.begunBy = null; // else each task would keep all that ran before it
    for (Context<S> over = task.top; over != null; over = over.below) {
      over(over);
    }
  }

  /** Nothing is known of a context from now on. */
  private void over(Context<S> context) {
    giveUp(context, 0);
    listener.over(context.frames);
  }

  private void recordTask(TaskEvent event, GuestTask<S> task, long stackPointer) {
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
  public void interruptEnter(
      long number, long pc, long stackPointer, boolean isFunction, boolean tell) {
    if (!isFunction) {
      locate(stackPointer);
    }
    suspended = false;
    Context<S> interrupt = interrupt(number, pc, stackPointer, isFunction);
    if (interrupt == null) {
      unkept += isFunction ? 0 : 1;
    } else {
      enterInterrupt(interrupt, tell);
    }
  }

  /** Null where too many are open. */
  private Context<S> interrupt(long number, long pc, long stackPointer, boolean isFunction) {
    int open = 0;
    for (Context<S> context = current; context.isInterrupt(); context = context.below) {
      open++;
    }
    return open == INTERRUPTS_MOST
        ? null
        : new Context<>(current.task, current, stacks.get(), number, pc, stackPointer, isFunction);
  }

  private void enterInterrupt(Context<S> interrupt, boolean tell) {
    if (tell) { // else the first entry announces it
      announce(interrupt);
      current.giveTo(interrupt);
    }
    current.task.top = interrupt;
    current = interrupt;
  }

  /**
   * A signal handler begins.
   *
   * @param pc where the task was
   * @param stackPointer there
   * @param top below which the handler's stack is
   * @param stack where a separate stack begins
   * @param stackBytes of it; 0: it runs on the stack that it interrupts
   * @param tell false leaves the record to the first entry in it, if there is one
   */
  public void signalEnter(
      long number,
      long pc,
      long stackPointer,
      long top,
      long stack,
      long stackBytes,
      boolean tell) {
    locate(stackPointer);
    suspended = false;
    Context<S> interrupt = interrupt(number, pc, top, false);
    if (interrupt == null) {
      unkept++;
      return;
    }
    interrupt.isSignal = true;
    regions.handlerBegins();
    interrupt.interruptedSp = stackPointer;
    interrupt.ownStack = stack;
    interrupt.ownBytes = stackBytes;
    enterInterrupt(interrupt, tell);
  }

  /**
   * A signal handler returns.
   *
   * @param top that it began with
   * @param pc where the core continues
   * @param stackPointer there
   */
  public void signalExit(long top, long pc, long stackPointer) {
    Context<S> over = handler(top);
    if (over == null) {
      unkept = Math.max(0, unkept - 1);
      return;
    }
    switchTo(over.task, stackPointer);
    while (current != over) {
      leaveInterrupt(0);
    }
    leaveInterrupt(pc);
    locate(stackPointer);
  }

  /**
   * The open signal handler whose stack begins at a place, and null where there is none: that of
   * the current task, else that of another one, which waited in it.
   */
  private Context<S> handler(long top) {
    Context<S> found = null;
    for (Context<S> context : tasks.contexts()) {
      if (context.isSignal
          && context.stackPointer == top
          && (found == null || context.task == current.task)) {
        found = context;
      }
    }
    return found;
  }

  /** A task was switched to, where the image says so, or the stack pointer is on another stack. */
  private void locate(long stackPointer) {
    if (tasks.declared().isPresent()) {
      if (outside()) {
        goOnWith(tasks.at(current, stackPointer, 0), stackPointer);
      }
      return;
    }
    if (suspended || inPieces || current.isInterrupt() || current.holds(stackPointer)) {
      return;
    }
    long used = stackPointer - 1; // of a stack that is empty
    GuestTask<S> task = threaded ? known(used, 0) : tasks.around(used);
    if (task != null) {
      switchTo(task, stackPointer);
      windows.claim(tasks.contexts(), current, used);
    }
  }

  /**
   * A function is entered that handles interrupts, and returns to the pc. Where the core has
   * reported the interrupt, and this is the function it calls, no other begins. Muted tasks get no
   * record of it.
   */
  void handlerEnter(long number, long pc, long retP, TaskFilter filter) {
    leaveInterruptsOf(retP);
    OptionalLong id = outside() ? tasks.declared() : OptionalLong.empty();
    if (id.isPresent()) { // its stack may be one that all handlers share
      goOnWith(tasks.named(id.getAsLong()), retP);
    }
    boolean tell = !filter.mutes(current.task.id);
    if (outside() || current.frames.size() > 0) {
      interruptEnter(number, pc, retP, true, tell);
    }
    windows.claim(tasks.contexts(), current, retP);
    if (tell) {
      announce(current);
    }
  }

  /** Leaves the interrupt of such a handler, if there is one; the core continues at the pc. */
  public void leaveEmptyHandler(long pc) {
    while (current.isHandlerOver() && !suspended) {
      leaveInterrupt(pc);
    }
  }

  /** Records that interrupts are open where that was not said yet. */
  private void announce(Context<S> context) {
    if (!context.told) {
      announce(context.below);
      context.told = true;
      context.time = listener.now();
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
   * @param pc where the core continues
   * @param stackPointer there
   */
  public void interruptExit(long pc, long stackPointer) {
    if (unkept > 0) {
      unkept--;
    } else if (current.isInterrupt()) {
      suspended = current.frames.size() > 0 && stackPointer != current.stackPointer;
      if (!suspended) {
        leaveInterrupt(pc);
      }
      locate(stackPointer);
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
        over(left.removeFirst());
      }
    }
    current.task.top = current.below;
    current = current.below;
    suspended = false;
    unkept = 0;
  }
}
