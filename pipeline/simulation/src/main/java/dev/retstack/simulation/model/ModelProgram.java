package dev.retstack.simulation.model;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.graph.check.Stat;
import dev.retstack.graph.tree.Ending;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskEvent;
import dev.retstack.schema.record.TaskName;
import dev.retstack.simulation.model.ModelStack.Activation;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * A random walk over calls, returns, tail calls and longjmps, with a stack in memory. A {@link
 * ModelTracer} traces it. The workload may ask for several tasks and for interrupts. It notes what
 * really happened in {@link #calls} and {@link #found}, by its own list of live activations and not
 * by the records.
 */
public final class ModelProgram {
  private static final long STACK_TOP = 0x7fff_f000L;
  private static final long STACK_SIZE = 0x100_0000L;
  private static final long TEXT = 0x40_0000L;
  private static final int NUMBERS = 5;

  /** Steps from one keyframe to the next, at least; in proportion to its size. */
  private static final int KEYFRAME_EACH = 5;

  private static final ModelTracer.Defect[] DEFECTS = {
    ModelTracer.Defect.FRAME_POINTER, ModelTracer.Defect.SLOT, ModelTracer.Defect.RETURN_ADDRESS
  };

  private final SplittableRandom random;
  private final Workload workload;
  private final RecordLog log = new RecordLog();

  /** What the program calls its tasks, by id. */
  public final TreeMap<Long, TaskName> names = new TreeMap<>(Long::compareUnsigned);

  /** Tasks that have not ended, in turn; the first is the core's. */
  private final List<ModelTask> tasks = new ArrayList<>();

  private final Map<Long, Integer> instances = new HashMap<>();
  private ModelTask current;
  private ModelStack stack;
  private long clock;
  private long stacks;
  private int untilKeyframe = KEYFRAME_EACH;
  public final List<TrueCall> calls = new ArrayList<>();
  public final List<TrueInterrupt> interrupts = new ArrayList<>();

  /** All tasks that ever were. */
  public final List<ModelTask> allTasks = new ArrayList<>();

  /** When a task was switched out, and in again. */
  public final Map<Long, Long> switches = new HashMap<>();

  public final Map<Stat, Long> found = new EnumMap<>(Stat.class);

  public ModelProgram(SplittableRandom random, Workload workload) {
    this.random = random;
    this.workload = workload;
    this.clock = workload.start();
    begin(task(0));
  }

  /** Runs to the end; some programs end in the middle of their calls. */
  public ModelProgram run() {
    boolean endsInside = random.nextInt(4) == 0;
    while (calls.size() + log.overruns < workload.calls()) {
      step();
    }
    while (!endsInside && !(stack.live.isEmpty() && stack.interrupt == null)) {
      if (stack.live.isEmpty()) {
        leave();
      } else {
        giveBack();
      }
    }
    pass(random.nextInt(10));
    for (ModelTask task : tasks) {
      end(task);
    }
    return this;
  }

  /** Records, see {@link RecordLog}. */
  public List<long[]> records() {
    return log.records;
  }

  /** What was open ahead of a record, by the tracers; null where nobody noted it. */
  Keyframe keyframe(long[] record) {
    return log.keyframe(record);
  }

  private Keyframe open() {
    Keyframe.Builder to = new Keyframe.Builder();
    RecordBatch named = new RecordBatch(names.size());
    names.forEach((id, name) -> name.addTo(named, 0, id));
    to.names(named);
    for (ModelTask task : tasks) {
      if (task != current) {
        addTo(to, task);
      }
    }
    to.last();
    addTo(to, current);
    return to.build();
  }

  private static void addTo(Keyframe.Builder to, ModelTask task) {
    for (ModelStack s : task.stacks) {
      int frames = s.tracer.frames();
      if (s.interrupt == null) {
        to.task(task.id, frames, frames);
      } else {
        to.interrupt(s.interrupt.number, TEXT, s.interrupt.enter, frames, frames);
      }
      s.tracer.addTo(to);
    }
  }

  /** Calls that ran untraced because ret_stack was full. */
  long overruns() {
    return log.overruns;
  }

  /** The core's clock. */
  long clock() {
    return clock;
  }

  /** The core's clock at its first instruction. */
  public long start() {
    return workload.start();
  }

  /** Task at hand. */
  long task() {
    return log.task;
  }

  /** Interrupts open in it. */
  public int interrupts() {
    return log.interrupts;
  }

  /** Time passes: whose it is, every open call notes for itself. */
  private void pass(long time) {
    clock += time;
    if (time == 0) {
      return;
    }
    for (ModelTask task : tasks) {
      for (ModelStack s : task.stacks) {
        boolean runs = s == stack;
        if (runs && s.interrupt != null) {
          s.interrupt.ran += time;
        } else if (runs) {
          task.ran += time;
        } else {
          for (TrueCall call : s.open()) {
            call.away += task == current ? 0 : time;
            call.interrupted += task == current ? time : 0;
          }
        }
      }
    }
  }

  private void step() {
    pass(random.nextInt(3) == 0 ? random.nextInt(50) : 0);
    if (--untilKeyframe <= 0) {
      Keyframe open = open();
      untilKeyframe = Math.max(KEYFRAME_EACH, 2 * open.records().size());
      log.open(open);
    }
    Workload.Contexts c = workload.contexts();
    if (chance(c.switches())) {
      switchTask();
    } else if (chance(c.births())) {
      if (random.nextInt(3) == 0) {
        name();
      } else {
        birthOrEnd();
      }
    } else if (current.stacks.size() <= c.nested() && chance(c.interrupts())) {
      interrupt();
    } else if (stack.interrupt != null && (stack.live.isEmpty() || chance(10))) {
      leave();
    } else {
      walk();
    }
  }

  private void walk() {
    if (stack.live.isEmpty()) {
      call();
    } else if (stack.live.size() > 2 && chance(workload.jump())) {
      jump();
    } else if (chance(workload.down())) {
      if (chance(workload.tail())) {
        tailCall();
      } else if (stack.live.size() < workload.depth()) {
        call();
      } else {
        giveBack();
      }
    } else {
      giveBack();
    }
  }

  private ModelTask task(long id) {
    ModelTask task = new ModelTask(id, instances.merge(id, 1, Integer::sum));
    task.stacks.add(stack(null));
    allTasks.add(task);
    return task;
  }

  private ModelStack stack(TrueInterrupt interrupt) {
    long bottom = STACK_TOP + stacks++ % 64 * STACK_SIZE;
    return new ModelStack(bottom, new ModelTracer(workload.retStack(), log), interrupt);
  }

  private void begin(ModelTask task) {
    tasks.add(task);
    place(task);
  }

  private void place(ModelTask task) {
    current = task;
    stack = task.top();
    log.task = task.id;
    log.interrupts = task.stacks.size() - 1;
    log.frames = stack.tracer.frames();
  }

  /** Continues with another task: the next one, or any. */
  private void switchTask() {
    int at = tasks.indexOf(current);
    int next = workload.contexts().inTurn() ? at + 1 : random.nextInt(tasks.size());
    ModelTask to = tasks.get(next % tasks.size());
    if (to != current) {
      out();
      record(to, TaskEvent.SWITCHED);
      switches.put(to.out, clock);
      place(to);
    }
  }

  private void out() {
    pass(1); // times of switches are their own
    current.out = clock;
  }

  private void record(ModelTask to, TaskEvent event) {
    int frames = to.top().tracer.frames();
    log.add(RecordBatch.TASK, clock, frames, to.id, event.code(), to.top().bottom, 0);
  }

  /** A task gets a name or loses it: the one at hand, another, or one that begins later. */
  private void name() {
    long id = random.nextBoolean() ? current.id : anyTask();
    TaskName name =
        random.nextInt(4) == 0
            ? TaskName.NONE
            : TaskName.of("n%d".formatted(random.nextInt(50)).getBytes(UTF_8));
    log.add(RecordBatch.TASK_NAME, clock, 0, id, name.first(), name.second(), 0);
    if (name.isEmpty()) {
      names.remove(id);
    } else {
      names.put(id, name);
    }
  }

  private long anyTask() {
    return 1L + random.nextInt(2 * workload.contexts().tasks());
  }

  private void birthOrEnd() {
    boolean full = tasks.size() >= workload.contexts().tasks();
    if (current.id != 0 && (full || random.nextInt(3) == 0)) {
      pass(1);
      record(current, TaskEvent.ENDED);
      end(current);
      tasks.remove(current);
      switches.put(tasks.get(0).out, clock);
      place(tasks.get(0));
    } else if (!full || random.nextBoolean()) {
      long id = anyTask();
      ModelTask former = tasks.stream().filter(t -> t.id == id).findFirst().orElse(null);
      if (former != null || !full) {
        out();
        ModelTask born = task(id);
        boolean declared = former != null || random.nextBoolean();
        record(born, declared ? TaskEvent.STARTED : TaskEvent.SWITCHED);
        if (former != null) {
          end(former);
          tasks.remove(former);
        }
        begin(born);
      }
    }
  }

  /** The task is over, and all its calls with it. */
  private void end(ModelTask task) {
    for (ModelStack s : task.stacks) {
      s.open().forEach(call -> call.end(clock, Ending.ENDED));
      if (s.interrupt != null) {
        s.interrupt.end(clock, Ending.ENDED);
      }
    }
  }

  private void interrupt() {
    pass(1);
    long number = 32L + random.nextInt(NUMBERS);
    TrueInterrupt interrupt = new TrueInterrupt(number, stack.innermost(), clock);
    interrupts.add(interrupt);
    log.add(RecordBatch.INTERRUPT_ENTER, clock, stack.tracer.frames(), number, TEXT, 0, 0);
    current.stacks.add(stack(interrupt));
    place(current);
  }

  private void leave() {
    pass(1);
    List<TrueCall> open = stack.open();
    open.forEach(call -> call.end(clock, Ending.UNWOUND));
    if (!open.isEmpty()) {
      note(Stat.UNWOUND_CALLS, open.size());
    }
    stack.interrupt.end(clock, Ending.RETURNED);
    int left = stack.tracer.frames();
    log.add(RecordBatch.INTERRUPT_EXIT, clock, left, stack.interrupt.number, TEXT, 0, 0);
    current.stacks.removeLast();
    place(current);
  }

  private void call() {
    pass(1);
    Activation above = stack.live.isEmpty() ? null : stack.live.getLast();
    long sp = above == null ? stack.bottom : above.sp;
    TrueCall caller = above == null ? null : above.call;
    long from = (caller == null ? TEXT - 0x100 : caller.selfPc) + 8 + 4L * random.nextInt(8);
    long slot = sp - 8;
    long selfPc = anyFunction();
    long held = stack.tracer.entry(clock, selfPc, from, slot, sp + 0x10);
    TrueCall call = held == from ? null : enter(selfPc, caller, caller);
    stack.live.add(new Activation(call, slot, held, slot - 16L * (1 + random.nextInt(6))));
  }

  private void tailCall() {
    Activation a = stack.live.getLast();
    pass(1);
    long selfPc = anyFunction();
    long held = stack.tracer.entry(clock, selfPc, a.held, a.slot, a.slot + 0x18);
    if (held != a.held) {
      TrueCall call = enter(selfPc, a.call.parent, a.call);
      a.call.end(clock, Ending.TAIL_CALLED);
      note(Stat.TAIL_CALLS, 1);
      a.call = call;
      a.held = held;
    }
  }

  private long anyFunction() {
    return TEXT + 0x40L * random.nextInt(workload.functions());
  }

  private TrueCall enter(long selfPc, TrueCall parent, TrueCall caller) {
    noticed();
    TrueCall call =
        new TrueCall(selfPc, parent, caller, clock, current.id, current.instance, stack.interrupt);
    calls.add(call);
    return call;
  }

  private void giveBack() {
    pass(random.nextInt(3));
    Activation a = stack.live.removeLast();
    if (a.call == null) {
      return;
    }
    noticed();
    ModelTracer.Defect defect = defect();
    a.call.end(clock, Ending.RETURNED);
    long target = stack.tracer.exit(clock, a.held, a.slot, defect);
    while (ModelTracer.isHandler(target)) {
      target = stack.tracer.exit(clock, target, a.slot, ModelTracer.Defect.NONE);
    }
  }

  private void jump() {
    int survivors = 1 + random.nextInt(stack.live.size() - 1);
    while (stack.live.size() > survivors) {
      TrueCall left = stack.live.removeLast().call;
      if (left != null) {
        stack.abandoned.add(left);
      }
    }
  }

  /**
   * Ends the abandoned calls: a record is about to be written, and its reader knows that they are
   * dead.
   */
  private void noticed() {
    if (!stack.abandoned.isEmpty()) {
      stack.abandoned.forEach(call -> call.end(clock, Ending.UNWOUND));
      note(Stat.UNWOUND_CALLS, stack.abandoned.size());
      stack.abandoned.clear();
    }
  }

  private ModelTracer.Defect defect() {
    if (!chance(workload.plant())) {
      return ModelTracer.Defect.NONE;
    }
    ModelTracer.Defect defect = DEFECTS[random.nextInt(DEFECTS.length)];
    note(
        defect == ModelTracer.Defect.FRAME_POINTER
            ? Stat.FRAME_POINTER_MISMATCHES
            : Stat.RETURN_ADDRESS_MISMATCHES,
        1);
    return defect;
  }

  private void note(Stat stat, long count) {
    found.merge(stat, count, Long::sum);
  }

  private boolean chance(int thousandths) {
    return random.nextInt(1000) < thousandths;
  }
}
