package dev.retstack.machine.delivery;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.sigframe.SignalAbi;
import dev.retstack.machine.landing.Machine;
import dev.retstack.machine.linux.LinuxEnd;
import dev.retstack.machine.linux.LinuxProcess;
import dev.retstack.machine.linux.signal.SignalAction;
import dev.retstack.machine.linux.signal.SignalInfo;
import dev.retstack.machine.linux.signal.Signals;
import dev.retstack.machine.linux.signal.ThreadSignals;
import dev.retstack.machine.linux.thread.GuestThread;
import dev.retstack.machine.memory.GuestAccessException;
import dev.retstack.schema.record.SignalContext;
import dev.retstack.unicorn.Unicorn;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Calls the signal handlers of a program, and continues where they return. In the trace a handler
 * is an interrupt. The core stands still meanwhile, and no virtual time passes.
 */
public final class SignalDelivery {
  /** Signals without an instruction between: more is a handler that can never begin. */
  private static final int IDLE_MOST = 1000;

  private static final long NOWHERE = -1;

  private final Unicorn engine;
  private final Isa isa;
  private final SignalAbi abi;
  private final LinuxProcess process;
  private final Signals signals;
  private final SignalFrames frames;
  private final RememberedException remembered;
  private final HandlerListener listener;

  /** When a handler returned last: the program runs before timers come again. */
  private long returned = NOWHERE;

  private long delivered = NOWHERE;
  private int idle;

  /**
   * @param listener hears of handlers
   */
  public SignalDelivery(Machine machine, LinuxProcess process, HandlerListener listener) {
    engine = machine.engine();
    isa = machine.isa();
    abi = isa.syscalls().signals();
    this.process = process;
    signals = process.signals();
    frames = new SignalFrames(machine);
    remembered = new RememberedException(engine, isa);
    this.listener = listener;
  }

  /** Between two runs: an exception of the processor is over. */
  public void forget(int exception) {
    remembered.forget(exception);
  }

  /**
   * Behind {@code rt_sigreturn} or {@code swapcontext}: where the program continues.
   *
   * @param now executed instructions
   * @return the pc as it is if no handler returns; empty where the program ended
   */
  public OptionalLong giveBack(long pc, long now) {
    if (!signals.takeReturning()) {
      return OptionalLong.of(pc);
    }
    Optional<LinuxProcess.ContextSwap> swap = process.takeSwap();
    if (swap.isPresent()) {
      return swap(swap.get(), pc);
    }
    returned = now;
    long frame = frames.returning(process.returnsOldFrame());
    if (!frames.isThere(frame)) {
      return end(
          SignalAbi.SIGSEGV, "no signal frame at 0x%x, where a handler returns".formatted(frame));
    }
    long goOn = frames.pop(frame, signals.current(), process.returnsOldFrame());
    signals.mask(frames.maskIn(frame));
    listener.signalExit(top(frame), isa.addresses().instruction(goOn));
    return OptionalLong.of(goOn);
  }

  private OptionalLong swap(LinuxProcess.ContextSwap swap, long pc) {
    try {
      if (swap.save() != 0) {
        frames.saveContext(swap.save(), pc, signals.current());
      }
      if (swap.load() == 0) {
        return OptionalLong.of(pc);
      }
      signals.mask(frames.contextMask(swap.load()));
      return OptionalLong.of(frames.loadContext(swap.load()));
    } catch (GuestAccessException nowhere) {
      return end(SignalAbi.SIGSEGV, "the contexts of swapcontext: " + nowhere.getMessage());
    }
  }

  /** Sends the signals of timers that have expired. */
  public void expire(long now) {
    if (now != returned) {
      signals.expire();
    }
  }

  /**
   * Calls the handlers of all signals that wait for the running thread.
   *
   * @return where it continues; empty where the program ended
   */
  public OptionalLong deliver(long pc, long now) {
    long at = pc;
    GuestThread thread = process.threads().current();
    boolean interrupted = process.takeInterrupted();
    for (Optional<SignalInfo> next = signals.next(); next.isPresent(); next = signals.next()) {
      SignalInfo info = next.get();
      SignalAction action = signals.action(info.signal());
      if (action.hasHandler()) {
        at = interrupted && action.is(SignalAction.RESTART) && thread.restarts() ? again(at) : at;
        interrupted = false;
        OptionalLong to = call(info, action, at, now);
        if (to.isEmpty()) {
          return to;
        }
        at = to.getAsLong();
      } else if (!signals.isIgnored(info.signal())) {
        return end(info.signal(), byDefault(info));
      }
    }
    signals.seen();
    return OptionalLong.of(at);
  }

  /** The system call before a place is made again. */
  private long again(long pc) {
    GuestThread thread = process.threads().current();
    engine.reg_write(isa.syscalls().resultRegister(), thread.beforeCall);
    isa.syscalls()
        .errorFlag()
        .ifPresent(flag -> engine.reg_write(flag.register(), thread.flagBeforeCall));
    boolean isOther = pc != isa.addresses().instruction(pc); // Thumb: svc has two bytes
    return pc - (isOther ? Short.BYTES : abi.trapBytes());
  }

  private String byDefault(SignalInfo info) {
    String name = process.signalName(info.signal());
    if (signals.stops(info.signal())) {
      return name + " stops it, and nobody is there to continue it";
    }
    int code = signals.layout().code(info);
    boolean isOwn = code == SignalInfo.USER || code == SignalInfo.TKILL || code == SignalInfo.QUEUE;
    return isOwn ? "the program sent itself " + name : "a timer sent " + name;
  }

  /**
   * Handles an instruction that failed.
   *
   * @param pc of it
   * @return where the program continues; empty without a handler
   */
  public OptionalLong fault(SignalInfo info, long pc, long now) {
    int signal = info.signal();
    SignalAction action = signals.action(signal);
    boolean blocked = (signals.current().mask & 1L << (signal - 1)) != 0;
    if (!action.hasHandler() || blocked) {
      return OptionalLong.empty();
    }
    return call(info, action, pc, now);
  }

  private OptionalLong call(SignalInfo info, SignalAction action, long pc, long now) {
    ThreadSignals thread = signals.current();
    String name = process.signalName(info.signal());
    long sp = engine.reg_read(isa.registers().sp()) & wordMask();
    long frame = frames.place(action, thread, sp) & wordMask();
    boolean overflows = thread.isOnStack(sp) && Long.compareUnsigned(frame, thread.stackStart) < 0;
    idle = now == delivered ? idle + 1 : 0;
    delivered = now;
    if (overflows || !frames.hasRoom(frame) || idle == IDLE_MOST) {
      String why =
          idle == IDLE_MOST
              ? "the handler of %s at 0x%x can never begin".formatted(name, action.handler())
              : "no room for the frame of %s at 0x%x: is the stack too small, or the stack pointer"
                      .formatted(name, frame)
                  + " wrong?";
      return end(SignalAbi.SIGSEGV, why);
    }
    boolean apart = frames.switches(action, thread, sp) || thread.isOnStack(sp);
    long low = apart ? thread.stackStart : 0;
    long bytes = apart ? thread.stackBytes : 0;
    boolean hasRestorer = action.is(SignalAction.RESTORER) && action.restorer() != 0;
    long restorer = hasRestorer ? action.restorer() : process.trampoline();
    long mask = thread.takeMaskBehind();
    long entry = frames.push(frame, info, action, thread, pc, mask, restorer);
    signals.began(info.signal(), action);
    long number = SignalContext.number(isa.syscalls().dialect().signals().generic(info.signal()));
    listener.signalEnter(number, isa.addresses().instruction(pc), sp, top(frame), low, bytes);
    return OptionalLong.of(entry);
  }

  /** Below is the handler's stack: a call's return address, or what a function saves there. */
  private long top(long frame) {
    return frame + Math.max(isa.wordBytes(), isa.interrupts().calleeArea());
  }

  private OptionalLong end(int signal, String why) {
    process.kill(new LinuxEnd.Killed(signal, why));
    return OptionalLong.empty();
  }

  /** Instructions until this is to be asked again, if no system call comes before. */
  public long ask() {
    long wait = signals.mustStop() ? 1 : signals.ask();
    return Math.max(1, wait);
  }

  /** True where a signal or a timer waits for a place where it may come. */
  public boolean isDue() {
    return signals.mustStop() || signals.ask() <= 0;
  }

  private long wordMask() {
    return isa.wordBytes() == Long.BYTES ? -1 : 0xffff_ffffL;
  }
}
