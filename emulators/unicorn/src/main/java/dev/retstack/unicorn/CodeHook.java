package dev.retstack.unicorn;

/** Called before each instruction of a range ({@code UC_HOOK_CODE}). */
@FunctionalInterface
public interface CodeHook {
  /**
   * An instruction is about to run.
   *
   * <p>Do not ask for a stop here: the emulation stops before the instruction, and this hook fires
   * again on resume. The place to stop is a {@link BlockHook}.
   *
   * @param address where the instruction is
   * @param size its length in bytes
   */
  void onCode(long address, int size);
}
