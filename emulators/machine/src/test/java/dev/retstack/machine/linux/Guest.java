package dev.retstack.machine.linux;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.isa.call.Registers;
import dev.retstack.machine.isa.system.SyscallAbi;
import dev.retstack.machine.linux.call.Cpu;
import dev.retstack.machine.linux.thread.Schedule;
import dev.retstack.machine.linux.thread.Threads;
import dev.retstack.machine.loader.elf.ElfBuilder;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.memory.GuestMemory;
import dev.retstack.machine.memory.MemoryListener;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** A process whose program is the test: it makes system calls by setting registers. */
final class Guest implements AutoCloseable {
  /** Memory that tests may use: 64 KiB. */
  static final long SCRATCH = 0x1000_0000;

  static final int SCRATCH_BYTES = 64 << 10;

  /** A page where stack pointer and program counter point to: zeroes. */
  static final long STACK = 0x1100_0000;

  /** Nothing is mapped here. */
  static final long NOWHERE = 0x7777_0000;

  final Isa isa;
  final GuestMemory memory;
  final LinuxProcess process;
  final ByteArrayOutputStream stdout = new ByteArrayOutputStream();
  final ByteArrayOutputStream stderr = new ByteArrayOutputStream();
  final Map<Integer, Long> registers = new HashMap<>();
  long clockNs;

  Guest(String isaName) {
    this(isaName, "", UnaryOperator.identity());
  }

  Guest(String isaName, String input, UnaryOperator<LinuxOptions> setting) {
    this.isa = Isas.find(isaName).orElseThrow();
    this.memory = new GuestMemory(isa.wordBytes(), isa.order(), MemoryListener.NONE);
    memory.map(SCRATCH, SCRATCH_BYTES, GuestMemory.READ | GuestMemory.WRITE);
    memory.map(STACK, GuestMemory.PAGE, GuestMemory.READ | GuestMemory.WRITE);
    ByteArrayInputStream stdin = new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8));
    LinuxOptions options = LinuxOptions.of("prog").withStreams(stdin, stdout, stderr);
    this.process =
        new LinuxProcess(
            image(),
            Optional.empty(),
            isa.syscalls(),
            isa.registers(),
            memory,
            new MapCpu(registers),
            setting.apply(options),
            new Threads(Schedule.STANDARD, () -> clockNs));
  }

  private ElfFile image() {
    try {
      return ElfFile.parse(ElfBuilder.elf64().machine(isa.machine()).build(), "prog.elf");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Makes a system call; the result, which is a negated error number on failure. */
  long call(String name, long... arguments) {
    int number =
        isa.syscalls()
            .names()
            .number(name)
            .orElseThrow(() -> new AssertionError(isa.name() + " has no " + name));
    return callNumber(number, arguments);
  }

  long callNumber(long number, long... arguments) {
    SyscallAbi abi = isa.syscalls();
    int inRegisters = Math.min(SyscallAbi.ARGUMENTS, abi.argumentRegisters().size());
    for (int i = 0; i < SyscallAbi.ARGUMENTS; i++) {
      long argument = i < arguments.length ? arguments[i] : 0L;
      if (i < inRegisters) {
        registers.put(abi.argumentRegisters().get(i), argument);
      } else {
        long place = abi.furtherArgumentsAt().orElseThrow() + (i - inRegisters) * word();
        memory.writeWord(STACK + place, argument);
      }
    }
    registers.put(isa.registers().sp(), STACK);
    registers.put(isa.registers().pc(), STACK);
    registers.put(abi.numberRegister(), number);
    process.systemCall();
    long result = registers.getOrDefault(abi.resultRegister(), 0L);
    return failed() ? -result : result;
  }

  /** True where a flag says that the last call failed. */
  boolean failed() {
    return isa.syscalls()
        .errorFlag()
        .map(f -> (registers.getOrDefault(f.register(), 0L) & f.mask()) == f.failed())
        .orElse(false);
  }

  /** Bytes of a word. */
  long word() {
    return isa.wordBytes();
  }

  /** Puts a string into the scratch memory, with its zero. */
  long string(long address, String text) {
    memory.write(address, (text + "\0").getBytes(StandardCharsets.UTF_8));
    return address;
  }

  String text(long address, long size) {
    return new String(memory.read(address, (int) size), StandardCharsets.UTF_8);
  }

  String output() {
    return stdout.toString(StandardCharsets.UTF_8);
  }

  boolean hasThreadPointer() {
    return isa.registers().threadPointer() != Registers.NONE;
  }

  @Override
  public void close() {
    process.close();
    memory.close();
  }

  private record MapCpu(Map<Integer, Long> registers) implements Cpu {
    @Override
    public long read(int register) {
      return registers.getOrDefault(register, 0L);
    }

    @Override
    public void write(int register, long value) {
      registers.put(register, value);
    }
  }
}
