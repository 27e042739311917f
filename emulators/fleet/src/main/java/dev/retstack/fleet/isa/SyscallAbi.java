package dev.retstack.fleet.isa;

import java.util.List;

/**
 * How a program of an ISA asks Linux for something. Registers are Unicorn's register ids.
 *
 * @param trap how the engine tells that a system call was made
 * @param trapNumber the instruction id or interrupt number of {@code trap}
 * @param numberRegister holds the number of the system call
 * @param argumentRegisters hold its arguments, in order: six
 * @param resultRegister takes the result; errors are negative numbers
 * @param numbers which table the number is of
 * @param platform what {@code AT_PLATFORM} and {@code uname -m} say
 */
public record SyscallAbi(
    Trap trap,
    int trapNumber,
    int numberRegister,
    List<Integer> argumentRegisters,
    int resultRegister,
    Numbers numbers,
    String platform) {

  /** How the engine tells of a system call. */
  public enum Trap {
    /** A hook on an instruction ({@code UC_HOOK_INSN}). */
    INSTRUCTION,
    /** A hook on interrupts ({@code UC_HOOK_INTR}). */
    INTERRUPT
  }

  /** Linux numbers its system calls per architecture; newer ones share a table. */
  public enum Numbers {
    /** {@code arch/x86/entry/syscalls/syscall_64.tbl}. */
    X86_64,
    /** {@code include/uapi/asm-generic/unistd.h}: aarch64, riscv64, riscv32. */
    GENERIC
  }

  /** Number of argument registers. */
  public static final int ARGUMENTS = 6;

  public SyscallAbi {
    argumentRegisters = List.copyOf(argumentRegisters);
    if (argumentRegisters.size() != ARGUMENTS) {
      throw new IllegalArgumentException(
          argumentRegisters.size() + " argument registers of a system call: six");
    }
  }
}
