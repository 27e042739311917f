package dev.retstack.fleet.linux;

import dev.retstack.fleet.core.GuestMemory;
import dev.retstack.fleet.isa.Registers;
import dev.retstack.fleet.isa.SyscallAbi;
import java.util.List;

/**
 * A system call as the registers have it: what is asked for, and the answer. Registers of 32-bit
 * programs are zero-extended.
 */
final class CallRegisters {
  private final SyscallAbi abi;
  private final Registers registers;
  private final GuestMemory memory;
  private final Cpu cpu;
  private final Dialect dialect;

  CallRegisters(SyscallAbi abi, Registers registers, GuestMemory memory, Cpu cpu, Dialect dialect) {
    this.abi = abi;
    this.registers = registers;
    this.memory = memory;
    this.cpu = cpu;
    this.dialect = dialect;
  }

  /** Which system call. */
  long number() {
    if (abi.immediateNumberAt().isPresent()) {
      long at = cpu.read(registers.pc()) + abi.immediateNumberAt().getAsInt();
      int immediate = memory.isMapped(at, 1) ? memory.readByte(at) & 0xFF : 0;
      if (immediate != 0) {
        return immediate;
      }
    }
    return read(abi.numberRegister());
  }

  /** Six arguments, whatever the call needs; those in memory that cannot be read are zero. */
  long[] arguments() {
    List<Integer> inRegisters = abi.argumentRegisters();
    long[] arguments = new long[SyscallAbi.ARGUMENTS];
    for (int i = 0; i < Math.min(arguments.length, inRegisters.size()); i++) {
      arguments[i] = read(inRegisters.get(i));
    }
    if (abi.furtherArgumentsAt().isPresent()) {
      long sp = read(registers.sp()) + abi.furtherArgumentsAt().getAsLong();
      for (int i = inRegisters.size(); i < arguments.length; i++) {
        long at = sp + (long) (i - inRegisters.size()) * memory.wordBytes();
        // Most calls have fewer arguments: memory that is not there is none of their business.
        arguments[i] = memory.isMapped(at, memory.wordBytes()) ? memory.readWord(at) : 0;
      }
    }
    return arguments;
  }

  /** The result register, as the program finds it. */
  long result() {
    return read(abi.resultRegister());
  }

  /** Answers with a result. */
  void succeed(long result) {
    answer(result, false);
  }

  /** Answers with an error. */
  void fail(Errno errno) {
    int number = errno.number(dialect);
    answer(abi.errorFlag().isPresent() ? number : -number, true);
  }

  private void answer(long result, boolean failure) {
    cpu.write(abi.resultRegister(), result);
    abi.errorFlag()
        .ifPresent(f -> cpu.write(f.register(), f.after(cpu.read(f.register()), failure)));
    abi.resumeAfter()
        .ifPresent(bytes -> cpu.write(registers.pc(), cpu.read(registers.pc()) + bytes));
  }

  private long read(int register) {
    long value = cpu.read(register);
    return memory.wordBytes() == Long.BYTES ? value : value & 0xFFFF_FFFFL;
  }
}
