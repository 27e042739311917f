package dev.retstack.unicorn;

/**
 * A hook that was added to an engine; the key to {@link Unicorn#hook_del}. The interfaces in it are
 * what each kind of hook calls.
 */
public final class Hook {
  /** The library's handle. */
  final long handle;

  /** What is to be kept reachable, or released, with this hook. */
  final Object resource;

  Hook(long handle, Object resource) {
    this.handle = handle;
    this.resource = resource;
  }

  /** Called before each translated block of a range ({@code UC_HOOK_BLOCK}). */
  @FunctionalInterface
  public interface Block {
    /**
     * A block is about to run. After {@link Unicorn#emu_stop()} here, none of it has run, the
     * program counter is {@code address}, and starting there again is exact; this hook then fires
     * again.
     *
     * @param address where the block begins
     * @param size its length in bytes
     */
    void onBlock(long address, int size);
  }

  /** Called before each instruction of a range ({@code UC_HOOK_CODE}). */
  @FunctionalInterface
  public interface Code {
    /**
     * An instruction is about to run.
     *
     * <p>Do not ask for a stop here: the emulation stops before the instruction, and this hook
     * fires again on resume. The place to stop is a {@link Block}.
     *
     * @param address where the instruction is
     * @param size its length in bytes
     */
    void onCode(long address, int size);
  }

  /** Called for an instruction that needs no arguments: x86 {@code syscall}, {@code sysenter}. */
  @FunctionalInterface
  public interface Instruction {
    /** The instruction ran; its operands are in the registers. */
    void onInstruction();
  }

  /** Called for an interrupt, exception or system call of the guest ({@code UC_HOOK_INTR}). */
  @FunctionalInterface
  public interface Interrupt {
    /**
     * The guest raised an exception.
     *
     * @param number what the emulated architecture calls it: the vector on x86, QEMU's exception
     *     index elsewhere (aarch64 {@code svc} is 2, riscv {@code ecall} is 8 from user mode)
     */
    void onInterrupt(int number);
  }

  /** Called when an instruction does not decode ({@code UC_HOOK_INSN_INVALID}). */
  @FunctionalInterface
  public interface InvalidInstruction {
    /**
     * The guest tried an instruction that does not exist.
     *
     * @return true to continue at the program counter, which the hook must then have moved; false
     *     to end the emulation with {@link UcError#INSN_INVALID}
     */
    boolean onInvalidInstruction();
  }

  /** Called for accesses to memory ({@code UC_HOOK_MEM_*}). */
  @FunctionalInterface
  public interface Memory {
    /**
     * The guest accesses memory, or tries to.
     *
     * @param type what it does, one of {@code UcConst.UC_MEM_*}
     * @param address the guest address
     * @param size bytes
     * @param value what is written; without meaning for a read
     * @return for accesses that fail (unmapped, protected): true if the hook made the access
     *     possible and it shall be tried again, false to end the emulation with the error; ignored
     *     for accesses that succeed
     */
    boolean onAccess(int type, long address, int size, long value);
  }

  /** Called for the x86 instruction {@code in}. */
  @FunctionalInterface
  public interface PortIn {
    /**
     * The guest reads a port.
     *
     * @param port port number
     * @param size bytes: 1, 2 or 4
     * @return what the guest reads
     */
    int onIn(int port, int size);
  }

  /** Called for the x86 instruction {@code out}. */
  @FunctionalInterface
  public interface PortOut {
    /**
     * The guest writes a port.
     *
     * @param port port number
     * @param size bytes: 1, 2 or 4
     * @param value what the guest writes
     */
    void onOut(int port, int size, int value);
  }

  /**
   * Called when the virtual TLB lacks a page ({@code UC_HOOK_TLB_FILL}); it acts as the page table.
   */
  @FunctionalInterface
  public interface TlbFill {
    /**
     * A translation is asked for.
     *
     * <p>Answer with pages that are writable or executable, never both: then stores take the fast
     * path. After a change of mind about a page call {@link Unicorn#ctl_flush_tlb()}.
     *
     * @param address virtual address of the page
     * @param accessType {@code UcConst.UC_MEM_READ}, {@code UC_MEM_WRITE} or {@code UC_MEM_FETCH}
     * @param result where to put the translation; valid during the call only
     * @return true if {@code result} is set and permits the access; false to refuse it: the
     *     emulation ends with {@link UcError#EXCEPTION} and the exact program counter
     */
    boolean onFill(long address, int accessType, TlbEntry result);
  }
}
