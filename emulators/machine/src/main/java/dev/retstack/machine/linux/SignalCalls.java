package dev.retstack.machine.linux;

import dev.retstack.machine.isa.sigframe.SignalAbi;
import dev.retstack.machine.isa.system.Dialect;
import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.isa.system.SyscallAbi;
import dev.retstack.machine.linux.call.CallRegisters;
import dev.retstack.machine.linux.call.SystemCall;
import dev.retstack.machine.linux.call.SystemCallException;
import dev.retstack.machine.linux.signal.SignalAction;
import dev.retstack.machine.linux.signal.SignalInfo;
import dev.retstack.machine.linux.signal.Signals;
import dev.retstack.machine.linux.signal.ThreadSignals;
import dev.retstack.machine.linux.thread.GuestThread;
import dev.retstack.machine.linux.thread.Threads;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.memory.GuestMemory;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * System calls of signals. On an ISA whose handlers do not run they are noted, and a signal that a
 * program sends to itself ends it, unless it ignores the signal. So it is with signals above 64
 * everywhere.
 */
final class SignalCalls {
  /** Words of an ISA without handlers: handler, flags and a third word. */
  private static final int FEW_WORDS = 3;

  private static final int RESTORER_WORD = 2;

  /** Smallest separate stack. */
  private static final long STACK_LEAST = 2048;

  private final GuestMemory memory;
  private final Dialect.Signals numbers;
  private final SignalAbi abi;
  private final Signals signals;
  private final Threads threads;
  private final LongSupplier stackPointer;
  private final AddressSpace space;
  private final Consumer<LinuxEnd> end;
  private final boolean runs;

  /** What the program asked for, by signal: the words of its structure, as it wrote them. */
  private final long[][] actions;

  /** 0: not mapped yet. */
  private long trampoline;

  private boolean returnsOldFrame;
  private Optional<LinuxProcess.ContextSwap> swap = Optional.empty();

  SignalCalls(
      GuestMemory memory,
      SyscallAbi abi,
      Signals signals,
      Threads threads,
      LongSupplier stackPointer,
      AddressSpace space,
      Consumer<LinuxEnd> end) {
    this.memory = memory;
    this.abi = abi.signals();
    this.numbers = abi.dialect().signals();
    this.signals = signals;
    this.threads = threads;
    this.stackPointer = stackPointer;
    this.space = space;
    this.end = end;
    runs = this.abi.started() && threads.mayStart();
    int mask = numbers.maskBytes() / memory.wordBytes();
    int words = runs ? RESTORER_WORD + (this.abi.hasRestorer() ? 1 : 0) + mask : FEW_WORDS;
    this.actions = new long[numbers.count() + 1][words];
  }

  /** True where handlers run. */
  boolean run() {
    return runs;
  }

  void register(Map<String, SystemCall> calls) {
    calls.put("rt_sigaction", this::action);
    calls.put("rt_sigprocmask", this::processMask);
    calls.put("sigprocmask", this::firstSignals);
    calls.put("sigaltstack", runs ? this::separateStack : a -> 0);
    calls.put("kill", a -> sendToProcess(a[0], a[1]));
    calls.put("tkill", a -> sendToThread(a[0], a[1]));
    calls.put("tgkill", a -> sendToThread(a[0] == ProcessCalls.PROCESS ? a[1] : -1, a[2]));
    if (!runs) {
      return;
    }
    calls.put("rt_sigpending", this::pending);
    calls.put("rt_sigsuspend", this::suspend);
    calls.put("rt_sigtimedwait", a -> await(a, memory.wordBytes()));
    calls.put("rt_sigtimedwait_time64", a -> await(a, Long.BYTES));
    calls.put("rt_sigqueueinfo", a -> queue(process(a[0]), null, a[1], a[2]));
    calls.put("rt_tgsigqueueinfo", a -> queue(process(a[0]), thread(a[1]), a[2], a[3]));
    calls.put("rt_sigreturn", a -> giveBack(false));
    calls.put("sigreturn", a -> giveBack(true));
    abi.swapped().ifPresent(_ -> calls.put("swapcontext", this::swapContexts));
    calls.put("pause", a -> suspend(signals.current().mask, OptionalLong.empty()));
  }

  /**
   * Maps the kernel's shared object for a program that begins.
   *
   * @return its address; empty where programs need none
   */
  OptionalLong begin(ElfFile program) {
    if (!runs || abi.object().isEmpty()) {
      return OptionalLong.empty();
    }
    KernelImage image = new KernelImage(program, abi, abi.object().get());
    long page = space.mapCode(image.bytes());
    trampoline = page + image.codeAt();
    return OptionalLong.of(page);
  }

  /** Where handlers return that have no restorer. */
  long trampoline() {
    return trampoline;
  }

  /** True where the last handler that returned did so by the older system call. */
  boolean returnsOldFrame() {
    return returnsOldFrame;
  }

  private long giveBack(boolean older) {
    returnsOldFrame = older;
    signals.giveBack();
    return 0;
  }

  /** Implements getcontext, setcontext and swapcontext of glibc on ppc32, which are this call. */
  private long swapContexts(long[] a) {
    int least = abi.frameBytes() - abi.contextAt();
    if (a[2] < least) {
      throw new SystemCallException(Errno.EINVAL);
    }
    for (int i = 0; i < 2; i++) {
      if (a[i] != 0 && !memory.isMapped(a[i], least)) {
        throw new SystemCallException(Errno.EFAULT);
      }
    }
    swap = Optional.of(new LinuxProcess.ContextSwap(a[0], a[1]));
    signals.giveBack();
    return 0;
  }

  /** The contexts that the core is to swap; once. */
  Optional<LinuxProcess.ContextSwap> takeSwap() {
    Optional<LinuxProcess.ContextSwap> wanted = swap;
    swap = Optional.empty();
    return wanted;
  }

  private void requireSize(long bytes) {
    if (bytes != numbers.maskBytes()) {
      throw new SystemCallException(Errno.EINVAL);
    }
  }

  private int signal(long number) {
    int signal = (int) number;
    if (signal < 0 || signal > numbers.count()) {
      throw new SystemCallException(Errno.EINVAL);
    }
    return signal;
  }

  private long action(long[] a) {
    int signal = signal(a[0]);
    requireSize(a[3]);
    boolean fixed = signal == Dialect.Signals.KILL || signal == numbers.stop();
    if (signal == 0 || (a[1] != 0 && fixed)) {
      throw new SystemCallException(Errno.EINVAL);
    }
    long[] known = actions[signal];
    known[numbers.handlerWord()] = signals.action(signal).handler(); // SA_RESETHAND
    int word = memory.wordBytes();
    long[] wanted = known.clone();
    for (int i = 0; a[1] != 0 && i < wanted.length; i++) {
      wanted[i] = memory.readWord(a[1] + (long) i * word);
    }
    for (int i = 0; a[2] != 0 && i < known.length; i++) {
      memory.writeWord(a[2] + (long) i * word, known[i]);
    }
    if (a[1] != 0) {
      actions[signal] = wanted;
      signals.action(signal, runs ? parsed(wanted) : handlerOnly(wanted));
    }
    return 0;
  }

  private SignalAction handlerOnly(long[] words) {
    return new SignalAction(words[numbers.handlerWord()], 0, 0, 0);
  }

  private SignalAction parsed(long[] words) {
    long handler = words[numbers.handlerWord()];
    int at = RESTORER_WORD + (abi.hasRestorer() ? 1 : 0);
    long mask = words[at];
    if (memory.wordBytes() == Integer.BYTES) {
      mask = CallRegisters.join(words[at + 1], mask);
    }
    long restorer = abi.hasRestorer() ? words[RESTORER_WORD] : 0;
    SignalAction action = new SignalAction(handler, flags(words), restorer, mask);
    if (action.hasHandler() && trampoline == 0) {
      trampoline = space.mapCode(abi.trampolineCode());
    }
    return action;
  }

  /** Where the flags come first they have 32 bits, and the rest of a longer word is anything. */
  private long flags(long[] words) {
    long flags = words[numbers.flagsWord()];
    if (numbers.flagsWord() != 0 || memory.wordBytes() == Integer.BYTES) {
      return flags;
    }
    return memory.order() == ByteOrder.BIG_ENDIAN ? flags >>> Integer.SIZE : (int) flags;
  }

  private long processMask(long[] a) {
    requireSize(a[3]);
    ThreadSignals thread = signals.current();
    long[] now = {thread.mask, thread.maskBeyond};
    long[] wanted = now.clone();
    int pieces = numbers.maskBytes() / Long.BYTES;
    for (int i = 0; a[1] != 0 && i < pieces; i++) {
      wanted[i] = changed((int) a[0], now[i], memory.readSet(a[1] + (long) i * Long.BYTES));
    }
    for (int i = 0; a[2] != 0 && i < pieces; i++) {
      memory.writeSet(a[2] + (long) i * Long.BYTES, now[i]);
    }
    thread.maskBeyond = wanted[1];
    setMask(wanted[0]);
    return 0;
  }

  /**
   * The older call, of as many signals as a word has bits: swapcontext of i386 and m68k makes it.
   */
  private long firstSignals(long[] a) {
    long now = signals.current().mask;
    long word = memory.wordBytes() == Long.BYTES ? -1 : 0xffff_ffffL;
    long wanted =
        a[1] == 0 ? now : (now & ~word) | (changed((int) a[0], now, memory.readWord(a[1])) & word);
    if (a[2] != 0) {
      memory.writeWord(a[2], now & word);
    }
    setMask(wanted);
    return 0;
  }

  private void setMask(long mask) {
    if (runs) {
      signals.mask(mask);
    } else { // which bit is which does not matter
      signals.current().mask = mask;
    }
  }

  private long changed(int how, long now, long set) {
    if (how == numbers.block()) {
      return now | set;
    }
    if (how == numbers.unblock()) {
      return now & ~set;
    }
    if (how == numbers.replace()) {
      return set;
    }
    throw new SystemCallException(Errno.EINVAL);
  }

  private long pending(long[] a) {
    if (Long.compareUnsigned(a[1], numbers.maskBytes()) > 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    for (long at = 0; at + Long.BYTES <= a[1]; at += Long.BYTES) {
      memory.writeSet(a[0] + at, at == 0 ? signals.pending() : 0);
    }
    return 0;
  }

  private long suspend(long[] a) {
    requireSize(a[1]);
    return suspend(memory.readSet(a[0]), OptionalLong.empty());
  }

  private long suspend(long mask, OptionalLong until) {
    signals.suspend(mask, until);
    if (!threads.current().waits()) {
      throw new SystemCallException(Errno.EINTR);
    }
    return 0;
  }

  private long await(long[] a, int field) {
    requireSize(a[3]);
    long wanted = memory.readSet(a[0]);
    OptionalLong until = OptionalLong.empty();
    if (a[2] != 0) {
      until = OptionalLong.of(threads.nowNs() + TimeCalls.readTime(memory, a[2], field, 0));
    }
    signals.current().infoAt = a[1];
    Optional<SignalInfo> there = signals.await(wanted, until);
    return there.isPresent() ? take(there.get()) : 0;
  }

  /** The system call that waits for a signal has it. */
  long take(SignalInfo info) {
    long at = signals.current().infoAt;
    if (at != 0) {
      memory.write(at, info.bytes());
    }
    return info.signal();
  }

  /** {@code sigaltstack}. */
  private long separateStack(long[] a) {
    int word = memory.wordBytes();
    ThreadSignals thread = signals.current();
    boolean isOn = thread.isOnStack(stackPointer.getAsLong());
    long start = 0;
    int flags = 0;
    long bytes = 0;
    if (a[0] != 0) {
      start = memory.readWord(a[0]);
      flags = memory.readInt(a[0] + (long) numbers.stackFlagsWord() * word);
      bytes = memory.readWord(a[0] + (long) numbers.stackBytesWord() * word);
      requireStack(isOn, flags, bytes);
    }
    if (a[1] != 0) {
      memory.writeWord(a[1], thread.stackStart);
      memory.writeInt(
          a[1] + (long) numbers.stackFlagsWord() * word,
          isOn ? thread.stackFlags | ThreadSignals.ON_STACK : thread.stackFlags);
      memory.writeWord(a[1] + (long) numbers.stackBytesWord() * word, thread.stackBytes);
    }
    if (a[0] != 0) {
      boolean off = (flags & ThreadSignals.DISABLED) != 0;
      thread.stackStart = off ? 0 : start;
      thread.stackBytes = off ? 0 : bytes;
      thread.stackFlags = flags & (ThreadSignals.DISABLED | ThreadSignals.AUTODISARM);
    }
    return 0;
  }

  private static void requireStack(boolean isOn, int flags, long bytes) {
    if (isOn) {
      throw new SystemCallException(Errno.EPERM);
    }
    int mode = flags & ~ThreadSignals.AUTODISARM;
    if (mode != 0 && mode != ThreadSignals.ON_STACK && mode != ThreadSignals.DISABLED) {
      throw new SystemCallException(Errno.EINVAL);
    }
    if (mode != ThreadSignals.DISABLED && Long.compareUnsigned(bytes, STACK_LEAST) < 0) {
      throw new SystemCallException(Errno.ENOMEM);
    }
  }

  /** The process itself is the only one. */
  private Optional<GuestThread> process(long target) {
    if (target == 0 || target == ProcessCalls.PROCESS || target == -ProcessCalls.PROCESS) {
      return Optional.of(threads.current());
    }
    Optional<GuestThread> thread = threads.find(target);
    if (thread.isEmpty()) {
      throw new SystemCallException(Errno.ESRCH);
    }
    return thread;
  }

  private GuestThread thread(long id) {
    return threads.find(id).orElseThrow(() -> new SystemCallException(Errno.ESRCH));
  }

  private long sendToProcess(long target, long number) {
    int signal = signal(number);
    process(memory.wordBytes() == Long.BYTES ? target : (int) target);
    return send(signal, SignalInfo.USER, null);
  }

  private long sendToThread(long id, long number) {
    int signal = signal(number);
    return send(signal, SignalInfo.TKILL, thread(id));
  }

  /** Sends a signal; null: to the process. */
  long send(int signal, int code, GuestThread to) {
    if (signal == 0) {
      return 0;
    }
    boolean isOwn = to == null || to == threads.current();
    if (!runs || signal > Long.SIZE || (isOwn && signals.ends(signal))) {
      endBy(signal);
    } else {
      signals.send(
          signals.layout().sent(signal, code, ProcessCalls.PROCESS, ProcessCalls.USER), to);
    }
    return 0;
  }

  private long queue(Optional<GuestThread> known, GuestThread to, long number, long info) {
    int signal = signal(number);
    byte[] bytes = memory.read(info, SignalInfo.BYTES);
    if (signal == 0 || known.isEmpty()) {
      return 0;
    }
    if (signal > Long.SIZE) {
      endBy(signal);
    } else if (!signals.send(signals.layout().queued(signal, bytes), to)) {
      throw new SystemCallException(Errno.EAGAIN);
    }
    return 0;
  }

  /** Without handlers; those of signals above 64 never run. */
  private void endBy(int signal) {
    if (!signals.isIgnored(signal)) {
      long handler = signals.action(signal).handler();
      String why = handler == 0 ? "" : "; its handler at 0x%x is not run".formatted(handler);
      String name = numbers.name(signal);
      end.accept(new LinuxEnd.Killed(signal, "the program sent itself " + name + why));
    }
  }
}
