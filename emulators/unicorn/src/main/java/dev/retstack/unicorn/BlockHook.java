package dev.retstack.unicorn;

/** Called before each translated block of a range ({@code UC_HOOK_BLOCK}). */
@FunctionalInterface
public interface BlockHook {
  /**
   * A block is about to run. After {@link Unicorn#emu_stop()} here, none of it has run, the program
   * counter is {@code address}, and starting there again is exact; this hook then fires again.
   *
   * @param address where the block begins
   * @param size its length in bytes
   */
  void onBlock(long address, int size);
}
