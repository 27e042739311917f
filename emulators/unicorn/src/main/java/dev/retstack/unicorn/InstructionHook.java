package dev.retstack.unicorn;

/** Called for an instruction that needs no arguments: x86 {@code syscall}, {@code sysenter}. */
@FunctionalInterface
public interface InstructionHook {
  /** The instruction ran; its operands are in the registers. */
  void onInstruction();
}
