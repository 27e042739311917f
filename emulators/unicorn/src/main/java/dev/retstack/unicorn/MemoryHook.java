package dev.retstack.unicorn;

/** Called for accesses to memory ({@code UC_HOOK_MEM_*}). */
@FunctionalInterface
public interface MemoryHook {
  /**
   * The guest accesses memory, or tries to.
   *
   * @param type what it does, one of {@code UcConst.UC_MEM_*}
   * @param address the guest address
   * @param size bytes
   * @param value what is written; without meaning for a read
   * @return for accesses that fail (unmapped, protected): true if the hook made the access possible
   *     and it shall be tried again, false to end the emulation with the error; ignored for
   *     accesses that succeed
   */
  boolean onAccess(int type, long address, int size, long value);
}
