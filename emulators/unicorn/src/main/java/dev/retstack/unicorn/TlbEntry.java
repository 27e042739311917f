package dev.retstack.unicorn;

/** The answer to a request for a translation; a view of the library's {@code uc_tlb_entry}. */
public final class TlbEntry {
  private long entry;

  TlbEntry() {}

  /** Points this view at a native entry; 0 takes it away again. Returns where it pointed. */
  long pointTo(long address) {
    long before = entry;
    entry = address;
    return before;
  }

  /**
   * Sets the translation of the page.
   *
   * @param paddr physical address of the page: where it was mapped with {@code mem_map}
   * @param perms what is allowed there, {@code UcConst.UC_PROT_*} or-ed
   */
  public void set(long paddr, int perms) {
    if (entry == 0) {
      throw new IllegalStateException("tlb entry used after its hook returned: set it inside");
    }
    NativeUnicorn.setTlbEntry(entry, paddr, perms);
  }
}
