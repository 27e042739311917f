package dev.retstack.unicorn;

/** Called when an instruction does not decode ({@code UC_HOOK_INSN_INVALID}). */
@FunctionalInterface
public interface InvalidInstructionHook {
  /**
   * The guest tried an instruction that does not exist.
   *
   * @return true to go on at the program counter, which the hook must then have moved; false to end
   *     the emulation with {@link UcError#INSN_INVALID}
   */
  boolean onInvalidInstruction();
}
