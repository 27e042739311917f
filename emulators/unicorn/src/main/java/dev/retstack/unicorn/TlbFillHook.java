package dev.retstack.unicorn;

/**
 * Called when the virtual TLB lacks a page ({@code UC_HOOK_TLB_FILL}); it stands for the page
 * table.
 */
@FunctionalInterface
public interface TlbFillHook {
  /**
   * A translation is asked for.
   *
   * <p>Answer with pages that are writable or executable, never both: then stores take the fast
   * path. After a change of mind about a page call {@link Unicorn#ctl_flush_tlb()}.
   *
   * @param address virtual address of the page
   * @param accessType {@code UcConst.UC_MEM_READ}, {@code UC_MEM_WRITE} or {@code UC_MEM_FETCH}
   * @param result where to put the translation; valid during the call only
   * @return true if {@code result} is set and permits the access; false to refuse it: the emulation
   *     ends with {@link UcError#EXCEPTION} and the exact program counter
   */
  boolean onFill(long address, int accessType, TlbEntry result);
}
