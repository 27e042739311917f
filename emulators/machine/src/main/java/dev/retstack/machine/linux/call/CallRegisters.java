package dev.retstack.machine.linux.call;

import dev.retstack.machine.isa.call.Registers;
import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.isa.system.SyscallAbi;
import dev.retstack.machine.memory.GuestMemory;
import java.nio.ByteOrder;
import java.util.List;

/**
 * The registers of a system call: what the program asks for, and the answer. Words of 32-bit
 * programs are zero-extended. Their 64-bit arguments take two places.
 */
public final class CallRegisters {
  private final SyscallAbi abi;
  private final Registers registers;
  private final GuestMemory memory;
  private final Cpu cpu;

  public CallRegisters(SyscallAbi abi, Registers registers, GuestMemory memory, Cpu cpu) {
    this.abi = abi;
    this.registers = registers;
    this.memory = memory;
    this.cpu = cpu;
  }

  /** Which system call. */
  public long number() {
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
  public long[] arguments() {
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

  /** A word as a signed number. */
  public long signed(long word) {
    return memory.wordBytes() == Long.BYTES ? word : (int) word;
  }

  /**
   * A 64-bit argument.
   *
   * @param arguments of the call
   * @param index how many arguments come before it, each a word
   */
  public long wide(long[] arguments, int index) {
    if (memory.wordBytes() == Long.BYTES) {
      return arguments[index];
    }
    int first = abi.pairsAligned() && index % 2 != 0 ? index + 1 : index;
    return memory.order() == ByteOrder.BIG_ENDIAN
        ? join(arguments[first], arguments[first + 1])
        : join(arguments[first + 1], arguments[first]);
  }

  /** A 64-bit number of its halves. */
  public static long join(long high, long low) {
    return (high << 32) | (low & 0xFFFF_FFFFL);
  }

  /** The result register, as the program finds it. */
  public long result() {
    return read(abi.resultRegister());
  }

  /**
   * Value of the register that shows errors, as the program finds it; 0 without such a register.
   */
  public long errorFlag() {
    return abi.errorFlag().map(f -> read(f.register())).orElse(0L);
  }

  /** Answers with a result. */
  public void succeed(long result) {
    answer(result, false);
  }

  /** Answers with an error. */
  public void fail(Errno errno) {
    int number = abi.dialect().number(errno);
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
