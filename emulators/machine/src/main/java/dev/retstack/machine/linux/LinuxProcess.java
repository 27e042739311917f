package dev.retstack.machine.linux;

import dev.retstack.machine.isa.call.Registers;
import dev.retstack.machine.isa.system.Dialect;
import dev.retstack.machine.isa.system.Dialect.OpenFlags;
import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.isa.system.SyscallAbi;
import dev.retstack.machine.linux.call.CallRegisters;
import dev.retstack.machine.linux.call.Cpu;
import dev.retstack.machine.linux.call.InVain;
import dev.retstack.machine.linux.call.SystemCall;
import dev.retstack.machine.linux.call.SystemCallException;
import dev.retstack.machine.linux.call.SystemCallListener;
import dev.retstack.machine.linux.file.FileTable;
import dev.retstack.machine.linux.file.Names;
import dev.retstack.machine.linux.file.OpenFile;
import dev.retstack.machine.linux.shared.CodeMappings;
import dev.retstack.machine.linux.shared.MappedObjects;
import dev.retstack.machine.linux.shared.Sysroot;
import dev.retstack.machine.linux.signal.SignalInfo;
import dev.retstack.machine.linux.signal.Signals;
import dev.retstack.machine.linux.thread.GuestThread;
import dev.retstack.machine.linux.thread.Threads;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.memory.GuestAccessException;
import dev.retstack.machine.memory.GuestMemory;
import dev.retstack.schema.linux.SystemCallNames;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;

/**
 * A Linux program on one core. The core maps the image and calls {@link #start} for the stack
 * pointer. At each trap it calls {@link #systemCall}, until that says that the program ended. Where
 * {@link Threads#mustStop} says so, the core stops behind the system call.
 */
public final class LinuxProcess implements AutoCloseable {
  private static final int AT_RANDOM_BYTES = 16;
  private static final int SIGPIPE = 13;

  private static final String OUTPUT_LOST = "flush of output that the host did not take";

  private final ElfFile image;
  private final SyscallAbi abi;
  private final GuestMemory memory;
  private final LinuxOptions options;
  private final CallRegisters registers;
  private final Threads threads;
  private final Cpu cpu;
  private final int stackPointer;
  private final AddressSpace space;
  private final FileTable files;
  private final ProcessFiles processFiles;
  private final Optional<Sysroot> sysroot;
  private final CodeMappings code = new CodeMappings();
  private final Signals signals;
  private final SignalCalls signalCalls;
  private final FileWaits fileWaits;
  private final SplittableRandom random;
  private final SystemCallNames names;
  private final Map<String, SystemCall> calls = new HashMap<>();
  private final InVain inVain;
  private long systemCalls;
  private SystemCallListener listener = SystemCallListener.NONE;
  private LinuxEnd end;

  /** True where a signal has ended the wait of the current thread. */
  private boolean interrupted;

  /**
   * What {@code swapcontext} asks for.
   *
   * @param save address of the context that takes the registers; 0: none
   * @param load address of the context that has what they will be; 0: they stay
   */
  public record ContextSwap(long save, long load) {}

  /**
   * @param image whose segments are mapped in {@code memory} already
   * @param sysroot where its shared objects are, whose interpreter is mapped too; empty for a
   *     program without
   * @param abi how the program calls Linux
   * @param registers which registers the ISA has
   * @param memory of the core
   * @param cpu registers of the core
   * @param threads of the program, and its clock
   */
  public LinuxProcess(
      ElfFile image,
      Optional<Sysroot> sysroot,
      SyscallAbi abi,
      Registers registers,
      GuestMemory memory,
      Cpu cpu,
      LinuxOptions options,
      Threads threads) {
    this.image = image;
    this.abi = abi;
    this.memory = memory;
    this.options = options;
    this.inVain = new InVain(options.memoryBytesMax());
    this.space =
        new AddressSpace(
            memory,
            image.segments().getLast().end(),
            options.memoryBytesMax(),
            abi.readImpliesExecute(image.executableStack()),
            inVain);
    this.sysroot = sysroot;
    this.random = new SplittableRandom(options.seed());
    this.names = abi.names();
    this.threads = threads;
    ThreadNames threadNames = new ThreadNames(memory, threads, options.arguments().getFirst());
    this.processFiles =
        new ProcessFiles(
            memory, space, threads, threadNames, image, sysroot, executable(), options);
    this.files = files(abi.dialect().open());
    this.cpu = cpu;
    this.stackPointer = registers.sp();
    this.registers = new CallRegisters(abi, registers, memory, cpu);
    String executable = executable();
    new PathCalls(memory, files, this.registers, abi.stat(), executable, inVain).register(calls);
    new MemoryCalls(space, memory, files, code, abi.dialect(), inVain).register(calls);
    SignalInfo.Layout infos =
        new SignalInfo.Layout(memory.wordBytes(), memory.order(), abi.dialect().signals());
    signals = new Signals(abi.dialect().signals(), threads, infos);
    BooleanSupplier waits = () -> threads.many() || signals.isBusy();
    new TimeCalls(memory, threads, waits).register(calls);
    fileWaits = new FileWaits(threads, signals, waits, this::endWith);
    int closeOnExec = abi.dialect().open().closeOnExec();
    new FileCalls(memory, files, this.registers, fileWaits, closeOnExec, this::breakPipe)
        .register(calls);
    signalCalls =
        new SignalCalls(
            memory, abi, signals, threads, () -> cpu.read(registers.sp()), space, this::endWith);
    signalCalls.register(calls);
    PollCalls polls =
        new PollCalls(memory, files, threads, signals, fileWaits, abi.dialect(), signalCalls.run());
    polls.register(calls, inVain::call);
    new EpollCalls(memory, files, polls, closeOnExec, abi.eventDataAt()).register(calls);
    if (signalCalls.run()) {
      new TimeCalls.TimerCalls(memory, signals, threads, files, abi.dialect().open())
          .register(calls);
    }
    new ProcessCalls(memory, options, abi, random, threads, this::endWith).register(calls);
    threadNames.register(calls, inVain::call);
    Futexes futexes = new Futexes(memory, threads, waits, this::endWith);
    futexes.register(calls);
    new ThreadCalls(
            memory,
            cpu,
            abi,
            registers.threadPointer(),
            threads,
            futexes,
            signals,
            inVain::call,
            this::endWith)
        .register(calls);
    abi.descriptorTable().ifPresent(page -> space.reserve(page, GuestMemory.PAGE));
    abi.helpers()
        .filter(page -> !memory.overlaps(page.address(), GuestMemory.PAGE)) // the image is there
        .ifPresent(page -> space.mapCode(page.address(), page.code().toByteArray(), "[vectors]"));
  }

  private FileTable files(OpenFlags flags) {
    FileTable.Streams streams =
        new FileTable.Streams(
            options.stdin(), options.stdout(), options.stderr(), options.outputBytesMax());
    Names files = new Names(options.readable(), options.writable());
    return new FileTable(streams, flags, files, sysroot, random, processFiles);
  }

  /** What the program is called where it asks: its name on the host if it may know that. */
  private String executable() {
    return "/" + image.name();
  }

  /** Sends SIGPIPE: the output of the current thread has no reader. */
  private void breakPipe() {
    signalCalls.send(SIGPIPE, SignalInfo.USER, threads.current());
  }

  /** Keeps the program from unmapping or overwriting the mapping of a range: the tracer's pages. */
  public void reserve(long start, long size) {
    space.reserve(start, size);
  }

  /** Maps and writes the stack; returns the stack pointer for the first instruction. */
  public long start() {
    long bottom = space.mapStack(options.stackBytes(), image.executableStack().orElse(false));
    byte[] bytes = new byte[AT_RANDOM_BYTES];
    random.nextBytes(bytes);
    long first =
        new InitialStack(memory, bottom, space.stackTop(), abi.stackGap())
            .write(
                image,
                sysroot.map(Sysroot::interpreter),
                signalCalls.begin(image),
                options,
                abi.platform(),
                bytes);
    processFiles.started(first);
    return first;
  }

  /**
   * Carries out the system call that the registers ask for and sets the result register.
   *
   * @return true while the program continues, false when the core must stop
   */
  public boolean systemCall() {
    if (end != null) {
      return false;
    }
    systemCalls++;
    long number = registers.number();
    String name = names.name(number).orElse(null);
    listener.entered(number, name == null ? "" : name, registers.arguments());
    SystemCall call = name == null ? null : calls.get(name);
    if (call == null) {
      inVain.call(name == null ? "number " + number : name);
      registers.fail(Errno.ENOSYS);
    } else {
      boolean inOne = abi.resultRegister() == abi.numberRegister();
      long before = inOne ? number : registers.result();
      long flag = registers.errorFlag();
      carryOut(call);
      threads.current().beforeCall = before;
      threads.current().flagBeforeCall = flag;
    }
    if (end == null) {
      listener.left(number, registers.result());
    }
    return end == null;
  }

  /** True where the core must stop behind the system call. */
  public boolean mustStop() {
    return threads.mustStop() || signals.mustStop();
  }

  /** True where the core cannot simply run on: who runs, or what comes, is to be seen to. */
  public boolean isBusy() {
    return threads.many() || signals.isBusy() || threads.current().waits();
  }

  /** The signals of the program. */
  public Signals signals() {
    return signals;
  }

  /** True where signal handlers run. */
  public boolean runsHandlers() {
    return signalCalls.run();
  }

  /** Where handlers return that have no restorer. */
  public long trampoline() {
    return signalCalls.trampoline();
  }

  /** Name of a signal, as the program's architecture numbers them. */
  public String signalName(int signal) {
    return abi.dialect().signals().name(signal);
  }

  /** True where the handler that returns has a frame of the older form (i386). */
  public boolean returnsOldFrame() {
    return signalCalls.returnsOldFrame();
  }

  /** The contexts that the core is to swap; once. */
  public Optional<ContextSwap> takeSwap() {
    return signalCalls.takeSwap();
  }

  /** The program ends by a signal. */
  public void kill(LinuxEnd.Killed how) {
    endWith(how);
  }

  /** True, once, where a signal has ended the wait of the current thread. */
  public boolean takeInterrupted() {
    boolean was = interrupted;
    interrupted = false;
    return was;
  }

  /** The threads of the program. */
  public Threads threads() {
    return threads;
  }

  /** The registers are those of the starter of a thread: makes them those of the thread. */
  public void begin(GuestThread thread) {
    registers.succeed(0);
    if (thread.stack() != 0) {
      cpu.write(stackPointer, thread.stack());
    }
    if (thread.storage().isPresent()) {
      long value = thread.storage().getAsLong();
      for (int register : abi.threads().storage().reversed()) {
        cpu.write(register, value);
        value >>>= Integer.SIZE; // of several, each has 32 bits
      }
    }
  }

  /** The registers are those of the current thread, which has waited: answers its system call. */
  public void answerWaiting() {
    GuestThread thread = threads.current();
    if (thread.waits()) {
      return;
    }
    if (thread.takeTimedOut()) {
      boolean suspended = signals.endSuspension();
      SystemCall late = fileWaits.take(true);
      if (late != null) {
        carryOut(late);
      } else if (suspended) {
        registers.succeed(0);
      } else {
        registers.fail(signals.endWait() ? Errno.EAGAIN : Errno.ETIMEDOUT);
      }
    } else if (thread.takeInterrupted()) {
      wasInterrupted();
    } else {
      SystemCall rest = fileWaits.take(false);
      if (rest != null) {
        signals.endSuspension();
        carryOut(rest);
      }
    }
  }

  private void wasInterrupted() {
    long done = fileWaits.takeDone();
    Optional<SignalInfo> arrived = signals.arrived();
    signals.endWait();
    if (arrived.isPresent()) {
      carryOut(a -> signalCalls.take(arrived.get()));
    } else if (done > 0) {
      registers.succeed(done);
    } else {
      registers.fail(Errno.EINTR);
      interrupted = true;
    }
  }

  /** Ends the program, because no thread can ever continue. */
  public LinuxEnd deadlock(String who) {
    endWith(new LinuxEnd.Killed(Dialect.Signals.KILL, who));
    return end;
  }

  /** Reports system calls to this listener from now on. */
  public void listen(SystemCallListener to) {
    listener = to;
  }

  /**
   * Reports code that the program maps to this listener from now on, and at once its interpreter.
   */
  public void listen(MappedObjects to) {
    code.listen(to);
    sysroot.ifPresent(root -> code.interpreter(root.interpreterImage()));
  }

  /** The place of an address in a shared object that the program has mapped. */
  public Optional<String> place(long pc) {
    return code.place(pc);
  }

  /** How the program ended; empty while it runs. */
  public Optional<LinuxEnd> end() {
    return Optional.ofNullable(end);
  }

  /** System calls made so far. */
  public long systemCalls() {
    return systemCalls;
  }

  /** Names of system calls that the program asked for in vain, sorted, with counts. */
  public SortedMap<String, Long> unsupported() {
    return inVain.calls();
  }

  /**
   * What else it asked for in vain, a line each.
   *
   * @param failed true where its run failed
   */
  public List<String> lacks(boolean failed) {
    return inVain.lacks(failed);
  }

  /** Names of the system calls that do something, sorted. */
  Set<String> supported() {
    return new TreeSet<>(calls.keySet());
  }

  /**
   * Flushes the program's output and closes the files it left open. What the host does not take is
   * counted in {@link #unsupported}.
   */
  @Override
  public void close() {
    try {
      files.closeAll();
    } catch (IOException e) {
      inVain.call(OUTPUT_LOST);
    }
  }

  private void carryOut(SystemCall call) {
    try {
      long result = call.call(registers.arguments());
      if (end == null) {
        registers.succeed(result);
      }
    } catch (SystemCallException e) {
      registers.fail(e.errno());
    } catch (GuestAccessException e) {
      registers.fail(Errno.EFAULT);
    } catch (OpenFile.OutputLimitException e) {
      endWith(
          new LinuxEnd.Stopped(
              "limit of %d bytes of output: if it is meant to print more, raise --max-output"
                  .formatted(options.outputBytesMax())));
    } catch (IOException e) {
      registers.fail(FileTable.errno(e));
    }
  }

  private void endWith(LinuxEnd how) {
    end = how;
    close();
  }
}
