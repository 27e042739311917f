package dev.retstack.fleet.core.interrupt;

import dev.retstack.fleet.probe.Probe;
import dev.retstack.fleet.probe.TraceClock;
import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.landing.LandingPage;
import dev.retstack.machine.landing.Machine;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.machine.memory.GuestAccessException;
import dev.retstack.unicorn.CpuState;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongFunction;
import java.util.function.LongPredicate;
import java.util.function.LongUnaryOperator;

/**
 * An interrupt controller with timers, the same for all ISAs. It calls {@code handler(frame,
 * number)} on the stack that it interrupts, and continues with the frame that the handler returns.
 * It answers three functions of the image, if they exist; see the guest's README. Entering and
 * leaving an interrupt takes no virtual time.
 */
public final class InterruptController {
  /** Added to the number that a program interrupts itself with: timers are counted from 0. */
  static final int TRAP = 128;

  private static final String TRAP_FUNCTION = "interrupt_trap";
  private static final String FRAME_FUNCTION = "interrupt_frame";
  private static final String MASK_FUNCTION = "interrupt_mask";
  private static final long INACTIVE = -1;

  /** Answers without an instruction between: more is a function that returns to itself. */
  private static final int ANSWERS_MOST = 1000;

  private final Isa isa;
  private final LongFunction<String> symbol;
  private final LandingPage landing;
  private final InterruptFrames frames;
  private final InterruptCalls calls;
  private final LongPredicate mayBeInterrupted;
  private final LongPredicate isTracers;
  private final InterruptSchedule schedule;
  private final TraceClock time;
  private final Probe probe;
  private final long[] handlers;

  /** What to do at an address where the core stops: from where it stands to where it continues. */
  private final Map<Long, LongUnaryOperator> gates = new HashMap<>();

  private long answered; // time of the last answer
  private int answers; // at that time

  /** The number of the interrupt whose handler runs. */
  private long active = INACTIVE;

  private InterruptController(
      Machine machine,
      List<InterruptTimer> timers,
      Probe probe,
      TraceClock time,
      LongPredicate mayBeInterrupted,
      LongPredicate isTracers,
      LongFunction<String> symbol) {
    LoadedImage image = machine.image();
    isa = image.isa();
    this.symbol = symbol;
    this.probe = probe;
    this.time = time;
    landing = machine.landing();
    frames = new InterruptFrames(machine.engine(), machine.memory());
    calls = new InterruptCalls(machine);
    this.mayBeInterrupted = mayBeInterrupted;
    this.isTracers = isTracers;
    handlers = timers.stream().mapToLong(timer -> function(image, timer)).toArray();
    gate(landing.interruptReturn(), _ -> handlerReturned());
    gate(landing.taskReturn(), pc -> taskReturned());
    service(image, TRAP_FUNCTION, _ -> trap());
    service(image, FRAME_FUNCTION, _ -> makeFrame());
    boolean masks = service(image, MASK_FUNCTION, _ -> mask());
    schedule = new InterruptSchedule(timers, masks);
  }

  /**
   * The controller of a core that has timers.
   *
   * @param probe records interrupts
   * @param time the instructions executed
   * @param mayBeInterrupted true at a program counter where an interrupt may come
   * @param isTracers true at one in the tracer's code
   * @param symbol names an address
   * @throws IllegalArgumentException where a handler is no function of the image
   */
  public static Optional<InterruptController> of(
      Machine machine,
      List<InterruptTimer> timers,
      Probe probe,
      TraceClock time,
      LongPredicate mayBeInterrupted,
      LongPredicate isTracers,
      LongFunction<String> symbol) {
    return timers.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new InterruptController(
                machine, timers, probe, time, mayBeInterrupted, isTracers, symbol));
  }

  private static long function(LoadedImage image, InterruptTimer timer) {
    try {
      return timer.address(image);
    } catch (ElfFormatException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  private boolean service(LoadedImage image, String name, LongUnaryOperator answer) {
    Optional<Symbol> symbol = image.elf().symbol(name);
    symbol.ifPresent(
        s -> {
          gate(s.address(), answer);
          gate(s.entry(), answer);
        });
    return symbol.isPresent();
  }

  private void gate(long address, LongUnaryOperator answer) {
    landing.stopAt(address);
    gates.put(address, answer);
  }

  /** True where the core stopped for the controller. */
  public boolean isGate(long address) {
    return gates.containsKey(isa.addresses().instruction(address));
  }

  /**
   * At a gate: does what is asked for.
   *
   * @return where the core continues
   */
  public long answer(long pc) {
    long now = time.now();
    answers = now == answered ? answers + 1 : 0;
    answered = now;
    if (answers == ANSWERS_MOST) {
      throw new InterruptException(
          "interrupt controller at pc %s: called %d times without an instruction between: does it return to itself?"
              .formatted(symbol.apply(isa.addresses().instruction(pc)), ANSWERS_MOST));
    }
    return guarded(pc, gates.get(isa.addresses().instruction(pc)));
  }

  /**
   * Instructions that the core may run before it asks {@link #interrupt} again. 0 in the tracer's
   * code, where only a full batch stops it: there the deadline of an interrupt has passed already.
   */
  public long ask(long pc) {
    long now = time.now();
    boolean passed = schedule.due(now) != InterruptSchedule.NONE;
    return passed && isTracers.test(pc) ? 0 : schedule.ask(now);
  }

  /**
   * Interrupts, where it is time to and the place allows it.
   *
   * @param pc where the core stands
   * @return where it continues
   */
  public long interrupt(long pc) {
    int timer = schedule.due(time.now());
    if (timer == InterruptSchedule.NONE || !mayBeInterrupted.test(pc)) {
      return pc;
    }
    return guarded(pc, at -> enter(timer, handlers[timer], at));
  }

  private long guarded(long pc, LongUnaryOperator step) {
    try {
      return step.applyAsLong(pc);
    } catch (GuestAccessException e) {
      throw new InterruptException(
          "interrupt controller at pc %s: no memory at 0x%x: is the stack too small, or the stack pointer wrong?"
              .formatted(symbol.apply(isa.addresses().instruction(pc)), e.address()));
    }
  }

  private long enter(long number, long handler, long pc) {
    long sp = calls.stackPointer();
    long frame = (sp - calls.redZone() - frames.bytes()) & -16L;
    frames.save(frame, pc, sp, schedule.masked(), number);
    probe.interruptEnter(number, isa.addresses().instruction(pc));
    schedule.enter();
    active = number;
    return calls.call(handler, frame, landing.interruptReturn(), frame, number);
  }

  private long trap() {
    long number = calls.argument(0);
    String by = "interrupt_trap(%d)".formatted(number);
    if (active != INACTIVE) {
      throw new InterruptException(
          "%s in the handler of interrupt %d: a handler switches by the frame that it returns"
              .formatted(by, active));
    }
    long pc = calls.giveBack(0);
    return enter(TRAP + number, handlers[0], pc);
  }

  private long handlerReturned() {
    if (active == INACTIVE) {
      throw new InterruptException(
          "return from an interrupt at 0x%x, and no handler runs: is a return address wrong?"
              .formatted(landing.interruptReturn()));
    }
    String by = "the handler of interrupt %d".formatted(active);
    InterruptFrames.Frame frame = frames.restore(calls.result(), by);
    schedule.exit(
        active < TRAP ? (int) active : InterruptSchedule.NONE, time.now(), frame.masked());
    active = INACTIVE;
    probe.interruptExit(isa.addresses().instruction(frame.pc()));
    return frame.pc();
  }

  private long makeFrame() {
    long top = calls.argument(0);
    long entry = calls.argument(1);
    long argument = calls.argument(2);
    long goOn = calls.giveBack(0);
    long frame = (top - frames.bytes()) & -16L;
    CpuState caller = frames.keep();
    calls.endFrames();
    long pc = calls.call(entry, frame, landing.taskReturn(), argument);
    frames.save(frame, pc, calls.stackPointer(), false, InterruptFrames.NEW);
    frames.putBack(caller);
    calls.result(frame);
    return goOn;
  }

  private long mask() {
    long wanted = calls.argument(0);
    long before = schedule.masked() ? 1 : 0;
    if (active == INACTIVE) {
      schedule.mask(wanted != 0);
    }
    return calls.giveBack(before);
  }

  private long taskReturned() {
    throw new InterruptException(
        "the function that a frame of interrupt_frame began with returned: a task ends by interrupt_trap, it has no caller");
  }
}
