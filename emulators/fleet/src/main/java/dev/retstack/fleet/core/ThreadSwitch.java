package dev.retstack.fleet.core;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import dev.retstack.fleet.probe.Probe;
import dev.retstack.machine.isa.call.CodeAddresses;
import dev.retstack.machine.landing.Machine;
import dev.retstack.machine.linux.LinuxProcess;
import dev.retstack.machine.linux.thread.GuestThread;
import dev.retstack.machine.linux.thread.Threads;
import dev.retstack.unicorn.CpuState;
import dev.retstack.unicorn.Unicorn;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.LongPredicate;

/**
 * Lets the threads of a program take turns on one core: keeps the registers of those that do not
 * run, and reports to the probe which one does. A turn ends at a place where the core may be
 * interrupted; a thread that waits stops behind its system call.
 */
final class ThreadSwitch {
  /**
   * Bytes between places of the engine's state where a selector may be, and from it to the base.
   */
  private static final long STEP = 4;

  private static final long BASE = 8;

  private final Unicorn engine;
  private final LinuxProcess process;
  private final Threads threads;
  private final Probe probe;
  private final CodeAddresses addresses;
  private final LongPredicate mayBeInterrupted;
  private final LongPredicate isTracers;

  private final OptionalInt segment;

  /** Where threads that do not run will continue. */
  private final Map<GuestThread, Place> kept = new HashMap<>();

  private final Deque<CpuState> free = new ArrayDeque<>();

  private record Place(CpuState registers, long pc) {}

  /**
   * For a core whose program may start threads.
   *
   * @param probe learns which thread runs
   * @param mayBeInterrupted true at a program counter where a turn may end
   * @param isTracers true at one in the tracer's code
   */
  ThreadSwitch(
      Machine machine,
      LinuxProcess process,
      Probe probe,
      LongPredicate mayBeInterrupted,
      LongPredicate isTracers) {
    engine = machine.engine();
    this.process = process;
    this.probe = probe;
    addresses = machine.isa().addresses();
    this.mayBeInterrupted = mayBeInterrupted;
    this.isTracers = isTracers;
    threads = process.threads();
    segment = machine.isa().syscalls().threads().segment();
  }

  /**
   * Before the core runs on: switches to another thread if its time has come.
   *
   * @param pc where the core stands
   * @param now executed instructions
   * @return where the core continues; empty where all threads wait for ever
   */
  OptionalLong nextPc(long pc, long now) {
    threads.takeStarted().ifPresent(thread -> begin(thread, pc));
    boolean mayEnd = threads.isTurnOver(now) && mayBeInterrupted.test(pc);
    if (!mayEnd && !threads.cannotGoOn()) {
      process.answerWaiting();
      return OptionalLong.of(pc);
    }
    GuestThread left = threads.current();
    boolean isOver = threads.isCurrentOver();
    if (!threads.next(now)) {
      return OptionalLong.empty();
    }
    long at = pc;
    if (threads.current() != left) {
      if (!isOver) {
        kept.put(left, new Place(keep(), pc));
      }
      Place to = kept.remove(threads.current());
      engine.context_restore(to.registers());
      free.push(to.registers());
      at = to.pc();
      probe.threadSwitched(threads.current().task(), isOver);
    }
    process.answerWaiting();
    // what it waited for was not enough: it waits again
    return threads.current().waits() ? nextPc(at, now) : OptionalLong.of(at);
  }

  /** Instructions until the next {@link #nextPc}; 0: none, but it stands in the tracer's code. */
  long ask(long pc, long now) {
    boolean waits = threads.isTurnOver(now) && isTracers.test(pc);
    return waits ? 0 : threads.ask(now);
  }

  /** A thread begins where its starter stands, with separate registers. */
  private void begin(GuestThread thread, long pc) {
    CpuState starter = keep();
    process.begin(thread);
    CpuState own = keep();
    if (segment.isPresent() && thread.storage().isPresent()) {
      int selector = (int) engine.reg_read(segment.getAsInt());
      long from = threads.current().storagePointer;
      moveSegment(own, selector, from, thread.storage().getAsLong());
    }
    kept.put(thread, new Place(own, pc));
    engine.context_restore(starter);
    free.push(starter);
  }

  private CpuState keep() {
    CpuState state = free.isEmpty() ? engine.context_alloc() : free.pop();
    engine.context_save(state);
    return state;
  }

  /** Where a thread stands. */
  long pc(GuestThread thread, long pcOfCurrent) {
    Place place = kept.get(thread);
    return addresses.instruction(place == null ? pcOfCurrent : place.pc());
  }

  /**
   * Moves what a processor keeps of a segment once its selector is loaded. No register of the
   * engine reaches it, and loading a selector from outside of a run may crash. So the saved state
   * is changed, at the place where the selector is followed by the base.
   *
   * @throws IllegalStateException where the state does not have the segment in one place
   */
  private static void moveSegment(CpuState state, int selector, long from, long to) {
    MemorySegment bytes = state.bytes();
    long found = -1;
    int places = 0;
    for (long at = 0; at + BASE + Long.BYTES <= bytes.byteSize(); at += STEP) {
      if (bytes.get(JAVA_INT_UNALIGNED, at) == selector
          && bytes.get(JAVA_LONG_UNALIGNED, at + BASE) == from) {
        found = at + BASE;
        places++;
      }
    }
    if (places != 1) {
      throw new IllegalStateException(
          "a thread with the segment 0x%x at 0x%x: the engine's state has it in %d places, not in one"
              .formatted(selector, from, places));
    }
    bytes.set(JAVA_LONG_UNALIGNED, found, to);
  }
}
