package dev.retstack.machine.delivery;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.call.Registers;
import dev.retstack.machine.isa.sigframe.SignalAbi;
import dev.retstack.machine.isa.system.Dialect;
import dev.retstack.machine.landing.Machine;
import dev.retstack.machine.linux.signal.SignalAction;
import dev.retstack.machine.linux.signal.SignalInfo;
import dev.retstack.machine.linux.signal.ThreadSignals;
import dev.retstack.machine.memory.GuestMemory;
import dev.retstack.unicorn.CpuState;
import dev.retstack.unicorn.Unicorn;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Frames of signal handlers on the stack of the program, which may read and change them: registers
 * are only there while a handler runs. Whatever a frame holds when the handler returns becomes the
 * registers; selectors and flags that a program cannot set are left alone.
 */
final class SignalFrames {
  private static final int WIDEST = 16;

  private final Machine machine;
  private final Unicorn engine;
  private final GuestMemory memory;
  private final Isa isa;
  private final SignalAbi abi;
  private final Dialect.Signals numbers;
  private final int word;
  private final HiddenRegisters hidden;
  private final MemorySegment register = Arena.ofAuto().allocate(WIDEST, WIDEST);

  SignalFrames(Machine machine) {
    this.machine = machine;
    engine = machine.engine();
    memory = machine.memory();
    isa = machine.isa();
    abi = isa.syscalls().signals();
    numbers = isa.syscalls().dialect().signals();
    word = isa.wordBytes();
    hidden = new HiddenRegisters(engine, abi.hasHidden());
  }

  /**
   * Where the frame of a handler goes.
   *
   * @param stackPointer of what is interrupted
   */
  long place(SignalAction action, ThreadSignals thread, long stackPointer) {
    long top = stackPointer - isa.interrupts().redZone();
    if (switches(action, thread, stackPointer)) {
      top = thread.stackStart + thread.stackBytes;
    }
    return ((top - abi.frameBytes()) & -16L) - abi.bias();
  }

  /** True where the handler runs on the separate stack, and the stack pointer is elsewhere. */
  boolean switches(SignalAction action, ThreadSignals thread, long stackPointer) {
    return action.is(SignalAction.ONSTACK)
        && (thread.stackFlags & ThreadSignals.DISABLED) == 0
        && !thread.isOnStack(stackPointer);
  }

  /** True where a frame can be written at a place. */
  boolean hasRoom(long frame) {
    long last = frame + abi.frameBytes() - 1;
    if (!memory.isMapped(frame, abi.frameBytes())) {
      return false;
    }
    for (long at = frame; at <= GuestMemory.pageUp(last); at += GuestMemory.PAGE) {
      if ((memory.permissionsAt(Math.min(at, last)) & GuestMemory.WRITE) == 0) {
        return false;
      }
    }
    return true;
  }

  /**
   * Writes a frame, and makes the registers those of the call of the handler.
   *
   * @param frame where there is room
   * @param pc where the program is interrupted
   * @param mask of signals, as it is when the handler has returned
   * @param restorer where the handler returns to
   * @return where the handler begins
   */
  long push(
      long frame,
      SignalInfo info,
      SignalAction action,
      ThreadSignals thread,
      long pc,
      long mask,
      long restorer) {
    ByteBuffer to = ByteBuffer.allocate(abi.frameBytes()).order(isa.order());
    for (SignalAbi.Saved saved : abi.saved()) {
      save(saved, to, pc);
    }
    for (SignalAbi.Word w : abi.words()) {
      put(to, w.at(), w.bytes(), w.isPlace() ? frame + w.value() : w.value());
    }
    long sp = engine.reg_read(isa.registers().sp()) & mask();
    put(to, abi.stackAt(), word, thread.stackStart);
    to.putInt(stackFlagsAt(), stackFlags(thread, sp));
    put(to, stackBytesAt(), word, thread.stackBytes);
    putSet(to, abi.maskAt(), mask);
    if (numbers.maskBytes() > Long.BYTES) {
      putSet(to, abi.maskAt() + Long.BYTES, thread.maskBeyond);
    }
    to.put(abi.infoAt(), info.bytes());
    if (info.signal() == SignalAbi.SIGSEGV && abi.faultAt().isPresent()) {
      put(to, abi.faultAt().getAsInt(), word, get(to, abi.infoAt() + 8 + word, word));
    }
    if (isa.interrupts().backChain()) {
      put(to, 0, word, sp);
    }
    hidden.save(frame);
    long entry = call(frame, to, info.signal(), action.handler(), restorer);
    if (!action.is(SignalAction.SIGINFO) && restorer == action.restorer()) {
      abi.older().ifPresent(part -> to.put(part.to(), to, part.at(), part.bytes()));
    }
    memory.write(frame, to.array());
    if ((thread.stackFlags & ThreadSignals.AUTODISARM) != 0) {
      thread.stackFlags = ThreadSignals.DISABLED;
      thread.stackBytes = 0;
    }
    return entry;
  }

  /** What {@code ss_flags} says of a stack pointer. */
  static int stackFlags(ThreadSignals thread, long sp) {
    boolean on = thread.isOnStack(sp);
    return on ? thread.stackFlags | ThreadSignals.ON_STACK : thread.stackFlags;
  }

  private long call(long frame, ByteBuffer to, int signal, long handler, long restorer) {
    List<Integer> registers = isa.interrupts().arguments();
    long[] arguments = {signal, frame + abi.infoAt(), frame + abi.contextAt()};
    for (int i = 0; i < arguments.length; i++) {
      if (registers.isEmpty()) {
        put(to, (i + 1) * word, word, arguments[i]);
      } else {
        engine.reg_write(registers.get(i), arguments[i]);
      }
    }
    if (isa.pushesReturnAddress()) {
      put(to, 0, word, restorer);
      engine.reg_write(isa.registers().result(), 0); // a count of vector arguments
    } else {
      engine.reg_write(isa.registers().link(), restorer - isa.addresses().linkBias());
    }
    if (abi.chainAt().isPresent()) {
      int at = abi.chainAt().getAsInt();
      put(to, at, word, engine.reg_read(isa.registers().fp()));
      put(to, at + word, word, linkOf(to));
      engine.reg_write(isa.registers().fp(), frame + at);
    }
    if (abi.clears() != 0) {
      engine.reg_write(abi.flags(), engine.reg_read(abi.flags()) & ~abi.clears());
    }
    if (isa.interrupts().entryRegister() != Registers.NONE) {
      engine.reg_write(isa.interrupts().entryRegister(), handler);
    }
    engine.reg_write(isa.registers().sp(), frame);
    long entry = machine.entry(handler);
    engine.reg_write(isa.registers().pc(), entry);
    return entry;
  }

  private long linkOf(ByteBuffer frame) {
    for (SignalAbi.Saved saved : abi.saved()) {
      if (saved.register() == isa.registers().link()) {
        return get(frame, saved.at(), saved.bytes());
      }
    }
    return 0;
  }

  private void save(SignalAbi.Saved saved, ByteBuffer to, long pc) {
    if (saved.register() == isa.registers().pc()) {
      put(to, saved.at(), saved.bytes(), isa.addresses().instruction(pc));
      return;
    }
    engine.reg_read(saved.register(), register);
    for (int i = 0; i < saved.bytes(); i++) {
      to.put(place(saved, i), register.get(ValueLayout.JAVA_BYTE, i));
    }
  }

  /** Where the byte of a register is, the lowest one being 0. */
  private int place(SignalAbi.Saved saved, int index) {
    boolean isBig = isa.order() == ByteOrder.BIG_ENDIAN;
    return saved.at() + (isBig ? saved.bytes() - 1 - index : index);
  }

  /** The frame of a handler that returns. */
  long returning(boolean older) {
    long sp = engine.reg_read(isa.registers().sp()) & mask();
    return (sp - abi.returnBias() - (older && isa.pushesReturnAddress() ? word : 0)) & mask();
  }

  /** True where a frame can be read. */
  boolean isThere(long frame) {
    return memory.isMapped(frame, abi.frameBytes());
  }

  /**
   * Makes the registers those of a frame that is there.
   *
   * @param older true for the frame of a handler without SA_SIGINFO
   * @return where the program continues
   */
  long pop(long frame, ThreadSignals thread, boolean older) {
    ByteBuffer from = ByteBuffer.wrap(memory.read(frame, abi.frameBytes())).order(isa.order());
    if (older) {
      abi.older().ifPresent(part -> from.put(part.at(), from, part.to(), part.bytes()));
    }
    hidden.restore(frame);
    long goOn = restore(from, List.of());
    int flags = from.getInt(stackFlagsAt());
    if ((flags & ThreadSignals.AUTODISARM) != 0) {
      thread.stackStart = get(from, abi.stackAt(), word);
      thread.stackBytes = get(from, stackBytesAt(), word);
      thread.stackFlags = ThreadSignals.AUTODISARM;
    }
    return goOn;
  }

  /**
   * Makes the registers those of a frame.
   *
   * @param kept registers that stay as they are
   * @return where the program continues
   */
  private long restore(ByteBuffer from, List<Integer> kept) {
    long pc = 0;
    for (SignalAbi.Saved saved : abi.saved()) {
      if (kept.contains(saved.register())) {
        continue;
      }
      if (saved.register() == isa.registers().pc()) {
        pc = get(from, saved.at(), saved.bytes());
      } else if (saved.mask() != -1) {
        long now = engine.reg_read(saved.register()) & ~saved.mask();
        long wanted = get(from, saved.at(), saved.bytes()) & saved.mask();
        engine.reg_write(saved.register(), now | wanted);
      } else {
        for (int i = 0; i < WIDEST; i++) {
          byte value = i < saved.bytes() ? from.get(place(saved, i)) : 0;
          register.set(ValueLayout.JAVA_BYTE, i, value);
        }
        engine.reg_write(saved.register(), register);
      }
    }
    long goOn = isa.addresses().target(isa.addresses().instruction(pc), engine::reg_read);
    engine.reg_write(isa.registers().pc(), goOn);
    return goOn;
  }

  /**
   * Writes registers and mask into a context, as {@code swapcontext} does.
   *
   * @param context its address
   * @throws dev.retstack.machine.memory.GuestAccessException where it cannot be written
   */
  void saveContext(long context, long pc, ThreadSignals thread) {
    SignalAbi.Word swapped = abi.swapped().orElseThrow();
    int registersAt = (int) swapped.value();
    long registers = (context - abi.contextAt() + registersAt) & -16L & mask();
    ByteBuffer to = ByteBuffer.allocate(abi.frameBytes()).order(isa.order());
    int bytes = abi.frameBytes() - registersAt;
    to.put(registersAt, memory.read(registers, bytes));
    for (SignalAbi.Saved saved : abi.saved()) {
      save(saved, to, pc);
    }
    memory.write(registers, Arrays.copyOfRange(to.array(), registersAt, abi.frameBytes()));
    memory.writeWord(context - abi.contextAt() + swapped.at(), registers);
    memory.writeSet(context - abi.contextAt() + abi.maskAt(), thread.mask);
  }

  /**
   * Makes the registers those of a context, but not the one of the thread's storage.
   *
   * @return where the program continues
   * @throws dev.retstack.machine.memory.GuestAccessException where it cannot be read
   */
  long loadContext(long context) {
    SignalAbi.Word swapped = abi.swapped().orElseThrow();
    int registersAt = (int) swapped.value();
    long registers = memory.readWord(context - abi.contextAt() + swapped.at());
    ByteBuffer from = ByteBuffer.allocate(abi.frameBytes()).order(isa.order());
    from.put(registersAt, memory.read(registers, abi.frameBytes() - registersAt));
    return restore(from, isa.syscalls().threads().storage());
  }

  /** The mask of signals in a context. */
  long contextMask(long context) {
    return maskIn(context - abi.contextAt());
  }

  /** The mask of signals in a frame that is there. */
  long maskIn(long frame) {
    return memory.readSet(frame + abi.maskAt());
  }

  private int stackFlagsAt() {
    return abi.stackAt() + numbers.stackFlagsWord() * word;
  }

  private int stackBytesAt() {
    return abi.stackAt() + numbers.stackBytesWord() * word;
  }

  private void putSet(ByteBuffer to, int at, long set) {
    for (int i = 0; i < Long.BYTES; i += word) {
      put(to, at + i, word, set >>> (Byte.SIZE * i));
    }
  }

  private long mask() {
    return word == Long.BYTES ? -1 : 0xffff_ffffL;
  }

  private static void put(ByteBuffer to, int at, int bytes, long value) {
    if (bytes == Long.BYTES) {
      to.putLong(at, value);
    } else {
      to.putInt(at, (int) value);
    }
  }

  private static long get(ByteBuffer from, int at, int bytes) {
    return bytes == Long.BYTES ? from.getLong(at) : from.getInt(at) & 0xffff_ffffL;
  }

  /**
   * Registers that a handler may change and that the engine has no names for, such as vectors and
   * the carry of ppc64: the whole state of the processor is kept beside each frame. A frame of the
   * program's making has none.
   */
  private static final class HiddenRegisters {
    /** More frames than this are of handlers that were left by longjmp: the oldest is dropped. */
    private static final int MOST = 256;

    private final Unicorn engine;
    private final boolean kept;
    private final Map<Long, CpuState> byFrame = new LinkedHashMap<>();
    private final Deque<CpuState> free = new ArrayDeque<>();

    /**
     * @param kept false where the engine has names for all
     */
    HiddenRegisters(Unicorn engine, boolean kept) {
      this.engine = engine;
      this.kept = kept;
    }

    /** A handler with this frame begins. */
    void save(long frame) {
      if (!kept) {
        return;
      }
      CpuState state = byFrame.remove(frame);
      if (state == null && byFrame.size() == MOST) {
        state = byFrame.remove(byFrame.keySet().iterator().next());
      }
      if (state == null) {
        state = free.isEmpty() ? engine.context_alloc() : free.pop();
      }
      engine.context_save(state);
      byFrame.put(frame, state);
    }

    /** Restores all registers when a handler returns. */
    void restore(long frame) {
      CpuState state = byFrame.remove(frame);
      if (state != null) {
        engine.context_restore(state);
        free.push(state);
      }
    }
  }
}
