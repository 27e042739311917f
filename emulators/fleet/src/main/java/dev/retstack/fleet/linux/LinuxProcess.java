package dev.retstack.fleet.linux;

import dev.retstack.fleet.isa.Errno;
import dev.retstack.fleet.isa.Registers;
import dev.retstack.fleet.isa.SyscallAbi;
import dev.retstack.fleet.loader.elf.ElfFile;
import dev.retstack.fleet.memory.GuestAccessException;
import dev.retstack.fleet.memory.GuestMemory;
import dev.retstack.schema.linux.SystemCallNames;
import java.io.IOException;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongSupplier;

/**
 * A static Linux program on one core. The core maps the image and calls {@link #start} for the
 * stack pointer. At each trap it calls {@link #systemCall}, until that says that the program ended.
 * One thread at a time.
 */
public final class LinuxProcess implements AutoCloseable {
  private static final int AT_RANDOM_BYTES = 16;

  /** Most different names that are counted; numbers that do not exist have no end. */
  private static final int UNSUPPORTED_NAMES_MAX = 512;

  private static final String OUTPUT_LOST = "flush of output that the host did not take";

  private final ElfFile image;
  private final SyscallAbi abi;
  private final GuestMemory memory;
  private final LinuxOptions options;
  private final CallRegisters registers;
  private final AddressSpace space;
  private final FileTable files;
  private final SplittableRandom random;
  private final SystemCallNames names;
  private final Map<String, SystemCall> calls = new HashMap<>();
  private final SortedMap<String, Long> unsupported = new TreeMap<>();
  private long systemCalls;
  private SystemCallListener listener = SystemCallListener.NONE;
  private LinuxEnd end;

  /**
   * @param image whose segments are mapped in {@code memory} already
   * @param abi how the program calls Linux
   * @param registers which registers the ISA has
   * @param memory of the core
   * @param cpu registers of the core
   * @param clockNs the core's clock; with the virtual clock one instruction is one nanosecond
   */
  public LinuxProcess(
      ElfFile image,
      SyscallAbi abi,
      Registers registers,
      GuestMemory memory,
      Cpu cpu,
      LinuxOptions options,
      LongSupplier clockNs) {
    this.image = image;
    this.abi = abi;
    this.memory = memory;
    this.options = options;
    this.space =
        new AddressSpace(
            memory,
            image.segments().getLast().end(),
            options.memoryBytesMax(),
            abi.readImpliesExecute(image.executableStack()));
    this.files = new FileTable(options);
    this.random = new SplittableRandom(options.seed());
    this.names = abi.names();
    this.registers = new CallRegisters(abi, registers, memory, cpu);
    new FileCalls(memory, files, this.registers, abi.stat(), "/" + image.name()).register(calls);
    new MemoryCalls(space, memory, abi.dialect().mapAnonymous(), this::countUnsupported)
        .register(calls);
    new TimeCalls(memory, clockNs).register(calls);
    new SignalCalls(memory, abi.dialect().signals(), this::endWith).register(calls);
    new ProcessCalls(memory, options, abi, random, this::endWith).register(calls);
    new ThreadCalls(memory, cpu, abi, registers.threadPointer(), this::endWith).register(calls);
    abi.descriptorTable().ifPresent(page -> space.reserve(page, GuestMemory.PAGE));
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
    return new InitialStack(memory, bottom, space.stackTop(), abi.stackGap())
        .write(image, options, abi.platform(), bytes);
  }

  /**
   * Carries out the system call that the registers ask for and sets the result register.
   *
   * @return true while the program goes on, false when the core must stop
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
      countUnsupported(name == null ? "number " + number : name);
      registers.fail(Errno.ENOSYS);
    } else {
      carryOut(call);
    }
    if (end == null) {
      listener.left(number, registers.result());
    }
    return end == null;
  }

  /** From here on it is told of system calls. */
  public void listen(SystemCallListener to) {
    listener = to;
  }

  /** How the program ended; empty while it runs. */
  public Optional<LinuxEnd> end() {
    return Optional.ofNullable(end);
  }

  /** System calls made so far. */
  public long systemCalls() {
    return systemCalls;
  }

  /** What the program asked for in vain, with counts: names of system calls, sorted. */
  public SortedMap<String, Long> unsupported() {
    return Collections.unmodifiableSortedMap(new TreeMap<>(unsupported));
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
      countUnsupported(OUTPUT_LOST);
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
      registers.fail(Errno.EIO);
    }
  }

  private void countUnsupported(String name) {
    boolean room = unsupported.size() < UNSUPPORTED_NAMES_MAX || unsupported.containsKey(name);
    unsupported.merge(room ? name : "others", 1L, Long::sum);
  }

  private void endWith(LinuxEnd how) {
    end = how;
    close();
  }
}
