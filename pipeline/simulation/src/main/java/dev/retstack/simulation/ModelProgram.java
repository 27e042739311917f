package dev.retstack.simulation;

import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.reconstruct.Ending;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * A random walk over calls, returns, tail calls and longjmps with a stack in memory, traced by a
 * {@link ModelTracer}. It notes what really happened in {@link #calls} and {@link #anomalies}, by
 * its own book-keeping of live activations, not by the records.
 */
final class ModelProgram {
  private static final long STACK_TOP = 0x7fff_f000L;
  private static final long TEXT = 0x40_0000L;

  private static final ModelTracer.Defect[] DEFECTS = {
    ModelTracer.Defect.FRAME_POINTER, ModelTracer.Defect.SLOT, ModelTracer.Defect.RETURN_ADDRESS
  };

  /**
   * A live activation: its call (null where it runs untraced), its slot, what the slot holds, and
   * its stack pointer.
   */
  private static final class Activation {
    TrueCall call;
    final long slot;
    long held;
    final long sp;

    Activation(TrueCall call, long slot, long held, long sp) {
      this.call = call;
      this.slot = slot;
      this.held = held;
      this.sp = sp;
    }
  }

  private final SplittableRandom random;
  private final Workload workload;
  private final ModelTracer tracer;
  private final List<Activation> live = new ArrayList<>();

  /** Calls that a longjmp left; nobody has noticed yet. */
  private final List<TrueCall> abandoned = new ArrayList<>();

  private long clock;
  final List<TrueCall> calls = new ArrayList<>();
  final Map<AnomalyKind, Long> anomalies = new EnumMap<>(AnomalyKind.class);

  ModelProgram(SplittableRandom random, Workload workload) {
    this.random = random;
    this.workload = workload;
    this.tracer = new ModelTracer(workload.retStack());
    this.clock = workload.start();
  }

  /** Runs to the end; some programs end in the middle of their calls. */
  ModelProgram run() {
    boolean endsInside = random.nextInt(4) == 0;
    int refused = 0;
    while (calls.size() + refused < workload.calls()) {
      step();
      refused = (int) tracer.overruns;
    }
    while (!live.isEmpty() && !endsInside) {
      giveBack();
    }
    clock += random.nextInt(10);
    live.stream().filter(a -> a.call != null).forEach(a -> abandoned.add(a.call));
    abandoned.forEach(call -> call.end(clock, Ending.ENDED));
    return this;
  }

  /** Records in the columns kind, time, depth, selfpc, frompc, retp, fp. */
  List<long[]> records() {
    return tracer.records;
  }

  /** Calls that ran untraced because ret_stack was full. */
  long overruns() {
    return tracer.overruns;
  }

  /** The core's clock. */
  long clock() {
    return clock;
  }

  private void step() {
    clock += random.nextInt(3) == 0 ? random.nextInt(50) : 0;
    if (live.isEmpty()) {
      call();
    } else if (live.size() > 2 && chance(workload.jump())) {
      jump();
    } else if (chance(workload.down())) {
      if (chance(workload.tail())) {
        tailCall();
      } else if (live.size() < workload.depth()) {
        call();
      } else {
        giveBack();
      }
    } else {
      giveBack();
    }
  }

  private void call() {
    clock++;
    Activation above = live.isEmpty() ? null : live.getLast();
    long sp = above == null ? STACK_TOP : above.sp;
    TrueCall caller = above == null ? null : above.call;
    long from = (caller == null ? TEXT - 0x100 : caller.selfPc) + 8 + 4L * random.nextInt(8);
    long slot = sp - 8;
    long selfPc = anyFunction();
    long held = tracer.entry(clock, selfPc, from, slot, sp + 0x10);
    TrueCall call = held == from ? null : enter(selfPc, caller, caller);
    live.add(new Activation(call, slot, held, slot - 16L * (1 + random.nextInt(6))));
  }

  private void tailCall() {
    Activation a = live.getLast();
    clock++;
    long selfPc = anyFunction();
    long held = tracer.entry(clock, selfPc, a.held, a.slot, a.slot + 0x18);
    if (held != a.held) {
      TrueCall call = enter(selfPc, a.call.parent, a.call);
      a.call.end(clock, Ending.TAIL_CALLED);
      note(AnomalyKind.TAIL_CALL, 1);
      a.call = call;
      a.held = held;
    }
  }

  private long anyFunction() {
    return TEXT + 0x40L * random.nextInt(workload.functions());
  }

  private TrueCall enter(long selfPc, TrueCall parent, TrueCall caller) {
    noticed();
    TrueCall call = new TrueCall(selfPc, parent, caller, clock);
    calls.add(call);
    return call;
  }

  private void giveBack() {
    clock += random.nextInt(3);
    Activation a = live.removeLast();
    if (a.call == null) {
      return;
    }
    noticed();
    ModelTracer.Defect defect = defect();
    a.call.end(clock, Ending.RETURNED);
    long target = tracer.exit(clock, a.held, a.slot, defect);
    while (ModelTracer.isHandler(target)) {
      target = tracer.exit(clock, target, a.slot, ModelTracer.Defect.NONE);
    }
  }

  private void jump() {
    int survivors = 1 + random.nextInt(live.size() - 1);
    while (live.size() > survivors) {
      TrueCall left = live.removeLast().call;
      if (left != null) {
        abandoned.add(left);
      }
    }
  }

  /** A record is about to be written: whoever reads it knows that the abandoned calls are dead. */
  private void noticed() {
    if (!abandoned.isEmpty()) {
      abandoned.forEach(call -> call.end(clock, Ending.UNWOUND));
      note(AnomalyKind.UNWOUND, abandoned.size());
      abandoned.clear();
    }
  }

  private ModelTracer.Defect defect() {
    if (!chance(workload.plant())) {
      return ModelTracer.Defect.NONE;
    }
    ModelTracer.Defect defect = DEFECTS[random.nextInt(DEFECTS.length)];
    note(
        defect == ModelTracer.Defect.FRAME_POINTER
            ? AnomalyKind.FRAME_POINTER_MISMATCH
            : AnomalyKind.RETURN_ADDRESS_MISMATCH,
        1);
    return defect;
  }

  private void note(AnomalyKind kind, long count) {
    anomalies.merge(kind, count, Long::sum);
  }

  private boolean chance(int thousandths) {
    return random.nextInt(1000) < thousandths;
  }
}
