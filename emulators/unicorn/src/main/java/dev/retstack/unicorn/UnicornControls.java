package dev.retstack.unicorn;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The part of {@link Unicorn} that is {@code uc_ctl}, whose control word is
 *
 * <pre>
 *  31  30 29      26 25      16 15      0
 * [ R/W  | arguments | reserved | type   ]
 * </pre>
 */
@SuppressWarnings("MemberName") // the names of the C macros
abstract sealed class UnicornControls permits Unicorn {
  private static final int ARGUMENTS_SHIFT = 26;
  private static final int ACCESS_SHIFT = 30;

  /* struct uc_tb {uint64_t pc; uint16_t icount; uint16_t size;} */
  private static final long TB_PC = 0;
  private static final long TB_ICOUNT = 8;
  private static final long TB_SIZE = 10;
  private static final long TB_BYTES = 16;

  /** Control word of {@code uc_ctl_request_cache}, for a hook in C. */
  public static final int CTL_REQUEST_CACHE =
      word(UcConst.UC_CTL_TB_REQUEST_CACHE, 2, UcConst.UC_CTL_IO_READ_WRITE);

  /** The engine; C owns it. */
  final long uc;

  /** Checks which thread may call. */
  final Ownership ownership;

  private final MemorySegment out;
  private boolean inBlockHook;
  private long block;

  UnicornControls(long uc, Arena arena) {
    this.uc = uc;
    out = arena.allocate(TB_BYTES, Long.BYTES);
    ownership =
        new Ownership(
            () -> {
              var _ = NativeUnicorn.uc_query(uc, UcConst.UC_QUERY_PAGE_SIZE, out.address());
            });
  }

  /** Chooses the TLB ({@code UcConst.UC_TLB_*}); before hooks and the first start. */
  public void ctl_tlb_mode(int mode) {
    set(UcConst.UC_CTL_TLB_TYPE, mode, "uc_ctl_tlb_mode");
  }

  /** Chooses the CPU model ({@code UC_CPU_*}); right after {@link Unicorn#open}. */
  public void ctl_set_cpu_model(int model) {
    setFirst(UcConst.UC_CTL_CPU_MODEL, model, "uc_ctl_set_cpu_model");
  }

  /** Sets the bytes for translated code; right after {@link Unicorn#open}. 1 MiB suits a fleet. */
  public void ctl_set_tcg_buffer_size(int size) {
    setFirst(UcConst.UC_CTL_TCG_BUFFER_SIZE, size, "uc_ctl_set_tcg_buffer_size");
  }

  /** Returns the bytes for translated code; Unicorn may have adjusted them. */
  public int ctl_get_tcg_buffer_size() {
    return get(UcConst.UC_CTL_TCG_BUFFER_SIZE, "uc_ctl_get_tcg_buffer_size");
  }

  /** Returns the page size of the guest in bytes. */
  public int ctl_get_page_size() {
    return get(UcConst.UC_CTL_UC_PAGE_SIZE, "uc_ctl_get_page_size");
  }

  /**
   * Forgets the translations of a range, end exclusive: what makes code patched by the host run.
   */
  public void ctl_remove_cache(long start, long end) {
    set(UcConst.UC_CTL_TB_REMOVE_CACHE, start, end, "uc_ctl_remove_cache");
  }

  /** Forgets all translations. */
  public void ctl_flush_tb() {
    command(UcConst.UC_CTL_TB_FLUSH, "uc_ctl_flush_tb");
  }

  /** Forgets what the TLB hook answered; needed after it changed its mind about a page. */
  public void ctl_flush_tlb() {
    command(UcConst.UC_CTL_TLB_FLUSH, "uc_ctl_flush_tlb");
  }

  /**
   * Looks a virtual address up as an access by the program would, asking the TLB hook where the TLB
   * does not hold it; the answer stays in the TLB.
   *
   * @param prot {@code UcConst.UC_PROT_*}, one of them
   * @return true where the access is allowed
   */
  public boolean vmem_translate(long address, int prot) {
    ownership.check();
    return NativeUnicorn.uc_vmem_translate(uc, address, prot, out.address()) == UcConst.UC_ERR_OK;
  }

  /** Lets {@link #ctl_set_exits} decide where a run ends, in place of {@code until}. */
  public void ctl_exits_enable() {
    set(UcConst.UC_CTL_UC_USE_EXITS, 1, "uc_ctl_exits_enable");
  }

  /** Forgets the exits and lets {@code until} decide again. */
  public void ctl_exits_disable() {
    set(UcConst.UC_CTL_UC_USE_EXITS, 0, "uc_ctl_exits_disable");
  }

  /** Sets the addresses at which a run ends. */
  public void ctl_set_exits(long... exits) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment list = arena.allocateFrom(JAVA_LONG, exits);
      set(UcConst.UC_CTL_UC_EXITS, list.address(), exits.length, "uc_ctl_set_exits");
    }
  }

  /**
   * Returns the exact number of instructions of a block; see {@link #ctl_request_block} for when to
   * ask.
   *
   * @param address of the block
   */
  public int ctl_request_cache(long address) {
    request(address);
    return Short.toUnsignedInt(out.get(JAVA_SHORT, TB_ICOUNT));
  }

  /**
   * Returns a block as it was translated. To be asked in a {@link Hook.Block} for the block that
   * the hook was called with: that one is translated. Another might have to be fetched, and where
   * that fails Unicorn jumps over the frames of Java.
   *
   * @param address of the block
   */
  public TranslationBlock ctl_request_block(long address) {
    request(address);
    return new TranslationBlock(
        out.get(JAVA_LONG, TB_PC),
        Short.toUnsignedInt(out.get(JAVA_SHORT, TB_ICOUNT)),
        Short.toUnsignedInt(out.get(JAVA_SHORT, TB_SIZE)));
  }

  /** A block hook is about to be called. */
  void enterBlock(long address) {
    block = address;
    inBlockHook = true;
  }

  /** The block hook has returned. */
  void leaveBlock() {
    inBlockHook = false;
  }

  private void request(long address) {
    ownership.check();
    if (!inBlockHook || address != block) {
      throw new IllegalStateException(
          "ctl_request_cache(0x%x): ask in a block hook, for the block it was called with"
              .formatted(address));
    }
    int code = NativeUnicorn.uc_ctl(uc, CTL_REQUEST_CACHE, address, out.address());
    UnicornException.check(code, "uc_ctl_request_cache", address);
  }

  private void command(int type, String name) {
    ownership.check();
    UnicornException.check(NativeUnicorn.uc_ctl(uc, word(type, 0, UcConst.UC_CTL_IO_WRITE)), name);
  }

  /** Sets an {@code int}. */
  private void set(int type, int value, String name) {
    ownership.check();
    write(type, value, name);
  }

  /** What must be set before the machine is made. */
  private void setFirst(int type, int value, String name) {
    ownership.checkFirst();
    write(type, value, name);
  }

  private void write(int type, int value, String name) {
    int word = word(type, 1, UcConst.UC_CTL_IO_WRITE);
    UnicornException.check(NativeUnicorn.uc_ctl(uc, word, value), name, value);
  }

  /** Sets two {@code uint64_t}. */
  private void set(int type, long first, long second, String name) {
    ownership.check();
    int word = word(type, 2, UcConst.UC_CTL_IO_WRITE);
    UnicornException.check(NativeUnicorn.uc_ctl(uc, word, first, second), name, first, second);
  }

  /** Gets a {@code uint32_t}. */
  private int get(int type, String name) {
    ownership.check();
    out.set(JAVA_LONG, 0, 0);
    int word = word(type, 1, UcConst.UC_CTL_IO_READ);
    UnicornException.check(NativeUnicorn.uc_ctl(uc, word, out.address()), name);
    return out.get(JAVA_INT, 0);
  }

  private static int word(int type, int arguments, int access) {
    return type | arguments << ARGUMENTS_SHIFT | access << ACCESS_SHIFT;
  }
}
