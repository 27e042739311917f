package dev.retstack.unicorn;

import static dev.retstack.unicorn.UnicornException.check;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.retstack.unicorn.library.LibraryLocator;
import dev.retstack.unicorn.library.UnicornLibrary;
import dev.retstack.unicorn.library.UnicornLoadException;
import dev.retstack.unicorn.library.UnicornVersion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One emulated CPU with its memory. Method names are those of the official Java binding.
 *
 * <p>An engine belongs to one thread at a time. While it is idle it may be handed to another; while
 * it runs, only its own hooks may call it. {@link #close()} ends it: not inside a hook, not while
 * it runs; a second close does nothing. Every method throws {@link UnicornException} for an error
 * of the library, and {@link IllegalStateException} for a call at the wrong time or from the wrong
 * thread.
 *
 * <pre>{@code
 * try (Unicorn uc = Unicorn.open(UcConst.UC_ARCH_X86, UcConst.UC_MODE_64)) {
 *   uc.mem_map(0x1000, 0x1000, UcConst.UC_PROT_ALL);
 *   uc.mem_write(0x1000, new byte[] {(byte) 0xff, (byte) 0xc0}); // inc eax
 *   uc.emu_start(0x1000, 0x1002);
 * }
 * }</pre>
 */
@SuppressWarnings("MemberName") // the names of the official binding
public final class Unicorn extends UnicornControls implements AutoCloseable {
  private static final AtomicInteger OPEN = new AtomicInteger();

  private final long kind;
  private final Arena arena;
  private final MemorySegment out;
  private final MemoryMap memory;
  private final RegisterFile registers;
  private final Hooks hooks;
  private final Set<CpuState> contexts = Collections.newSetFromMap(new IdentityHashMap<>());
  private Throwable parked;

  private Unicorn(long uc, int arch, int mode, MemorySegment out, Arena arena) {
    super(uc, arena);
    kind = (long) arch << Integer.SIZE | mode;
    this.out = out;
    this.arena = arena;
    memory = new MemoryMap(uc);
    registers = new RegisterFile(uc, arch, arena);
    hooks = new Hooks(uc, this, arena);
  }

  /**
   * Opens an engine.
   *
   * @param arch {@code UcConst.UC_ARCH_*}
   * @param mode {@code UcConst.UC_MODE_*} or-ed
   * @throws UnicornLoadException if there is no libunicorn that can be called
   */
  public static Unicorn open(int arch, int mode) {
    load();
    Arena arena = Arena.ofShared();
    try {
      MemorySegment out = arena.allocate(JAVA_LONG);
      check(NativeUnicorn.uc_open(arch, mode, out.address()), "uc_open", arch, mode);
      Unicorn engine = new Unicorn(out.get(JAVA_LONG, 0), arch, mode, out, arena);
      OPEN.incrementAndGet();
      return engine;
    } catch (Throwable t) {
      arena.close();
      throw t;
    }
  }

  /**
   * Loads the library and links its functions, unless that was done.
   *
   * @throws UnicornLoadException if there is no libunicorn that can be called
   */
  public static void load() {
    UnicornLibrary.get();
    try {
      NativeUnicorn.link();
    } catch (ExceptionInInitializerError e) {
      if (e.getCause() instanceof UnicornLoadException known) {
        throw known;
      }
      throw e;
    }
  }

  /** Returns the version of the library. */
  public static UnicornVersion version() {
    return library().version();
  }

  /** Returns which library is in use, loading it if none is yet. */
  public static LibraryLocator.Found library() {
    return UnicornLibrary.get().found();
  }

  /**
   * Returns whether the blocks that the library translates are bounded. If not, a guest's code may
   * end this process.
   */
  public static boolean isBounded() {
    return UnicornLibrary.get().isBounded();
  }

  /** Returns how many engines of this process are open. */
  public static int openEngines() {
    return OPEN.get();
  }

  /** Returns how many Java hooks of this process's engines are live. */
  public static int liveHooks() {
    return HookSlots.live();
  }

  @Override
  public void close() {
    if (!ownership.close()) {
      return;
    }
    contexts.forEach(CpuState::free);
    contexts.clear();
    // the engine first: C holds pointers into the arena and tokens of the hooks until then
    int code = NativeUnicorn.uc_close(uc);
    hooks.releaseAll();
    arena.close();
    OPEN.decrementAndGet();
    check(code, "uc_close");
  }

  /**
   * Asks the engine about itself.
   *
   * @param type {@code UcConst.UC_QUERY_*}
   */
  public long query(int type) {
    ownership.check();
    check(NativeUnicorn.uc_query(uc, type, out.address()), "uc_query", type);
    return out.get(JAVA_LONG, 0);
  }

  // ---- memory

  /** Maps zeroed memory; address and size are multiples of the page size. */
  public void mem_map(long address, long size, int perms) {
    ownership.check();
    memory.map(address, size, perms);
  }

  /**
   * Maps host memory, which guest and host then share. The engine keeps the segment reachable, but
   * not alive: its arena must be closed after the engine.
   *
   * @param host native, writable, aligned to a page and a whole number of pages
   */
  public void mem_map_ptr(long address, MemorySegment host, int perms) {
    ownership.check();
    memory.map(address, host, perms);
  }

  /** Unmaps whole pages. */
  public void mem_unmap(long address, long size) {
    ownership.check();
    memory.unmap(address, size);
  }

  /** Changes what is allowed on whole pages. */
  public void mem_protect(long address, long size, int perms) {
    ownership.check();
    memory.protect(address, size, perms);
  }

  /** Fills the array from guest memory. */
  public void mem_read(long address, byte[] bytes) {
    mem_read(address, MemorySegment.ofArray(bytes));
  }

  /** Fills the segment from guest memory. */
  public void mem_read(long address, MemorySegment bytes) {
    ownership.check();
    memory.read(address, bytes);
  }

  /** Writes the array to guest memory; code that was translated there stays in use. */
  public void mem_write(long address, byte[] bytes) {
    mem_write(address, MemorySegment.ofArray(bytes));
  }

  /** Writes the segment to guest memory; code that was translated there stays in use. */
  public void mem_write(long address, MemorySegment bytes) {
    ownership.check();
    memory.write(address, bytes);
  }

  // ---- registers

  /** Returns a register, zero-extended; of one wider than 64 bits the low part. */
  public long reg_read(int register) {
    ownership.check();
    return registers.read(register);
  }

  /** Sets a register; of one wider than 64 bits the low part, and the rest of 128 bits to zero. */
  public void reg_write(int register, long value) {
    ownership.check();
    registers.write(register, value);
  }

  /** Reads a wide register into the segment, which is as long as the register (16 for xmm0). */
  public void reg_read(int register, MemorySegment bytes) {
    ownership.check();
    registers.read(register, bytes);
  }

  /** Sets a wide register from the segment, which is as long as the register (16 for xmm0). */
  public void reg_write(int register, MemorySegment bytes) {
    ownership.check();
    registers.write(register, bytes);
  }

  /** Reads several registers; {@code out} is at least as long as {@code ids}. */
  public void reg_read_batch(int[] ids, long[] out) {
    ownership.check();
    registers.read(ids, out);
  }

  /** Sets several registers; {@code values} is at least as long as {@code ids}. */
  public void reg_write_batch(int[] ids, long[] values) {
    ownership.check();
    registers.write(ids, values);
  }

  /**
   * Host addresses of registers, for a hook in C that reads and writes them by itself: in the
   * host's byte order, good until the engine is closed. Found out by trying, and proven by it;
   * empty where that fails, on another system than Linux for one. No register changes.
   *
   * @param bytes of each of the registers: 4 or 8
   * @param ids two at least, registers that stand in one place: not those of a window that moves
   */
  public Optional<long[]> locateRegisters(int bytes, int... ids) {
    ownership.check();
    return RegisterStorage.locate(this, uc, kind, bytes, ids);
  }

  // ---- running

  /**
   * Runs the guest until an address, a stop or an error. There is no time limit and no instruction
   * limit, because Unicorn's are not exact: stop in a {@link Hook.Block}.
   *
   * @param begin where to start; for Thumb with bit 0 set
   * @param until where to end, before that instruction. With the virtual TLB not the first byte of
   *     a page whose predecessor is refused
   * @throws UnicornException if the guest ran into an error; the registers show where
   */
  public void emu_start(long begin, long until) {
    ownership.start();
    int code;
    try {
      code = NativeUnicorn.uc_emu_start(uc, begin, until);
    } finally {
      ownership.finish();
    }
    rethrow();
    check(code, "uc_emu_start", begin, until);
  }

  /** Asks the running guest to stop; in a block hook, before that block. Idle: does nothing. */
  public void emu_stop() {
    ownership.check();
    int code = NativeUnicorn.uc_emu_stop(uc);
    if (code != 0) {
      throw UnicornException.of("uc_emu_stop", code);
    }
  }

  /** Keeps the first Throwable of a hook until C has returned, and stops the guest. */
  void park(Throwable thrown) {
    if (parked == null) {
      parked = thrown;
    }
    NativeUnicorn.uc_emu_stop(uc);
  }

  private void rethrow() {
    Throwable thrown = parked;
    if (thrown != null) {
      parked = null;
      throw Unicorn.<RuntimeException>asIs(thrown);
    }
  }

  /** Throws anything: hooks declare no checked exceptions, but other languages throw them. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <T extends Throwable> T asIs(Throwable thrown) throws T {
    throw (T) thrown;
  }

  // ---- contexts

  /** Makes a place for the CPU's state. */
  public CpuState context_alloc() {
    ownership.check();
    check(NativeUnicorn.uc_context_alloc(uc, out.address()), "uc_context_alloc");
    CpuState context = new CpuState(this, out.get(JAVA_LONG, 0), NativeUnicorn.uc_context_size(uc));
    contexts.add(context);
    return context;
  }

  /** Copies the CPU's state, not the memory, into the context. */
  public void context_save(CpuState context) {
    ownership.check();
    check(NativeUnicorn.uc_context_save(uc, context.address()), "uc_context_save");
  }

  /** Copies the context into the CPU; it may come from another engine of the same kind. */
  public void context_restore(CpuState context) {
    ownership.check();
    check(NativeUnicorn.uc_context_restore(uc, context.address()), "uc_context_restore");
  }

  /** Frees a context that is still open. */
  void release(CpuState context) {
    if (contexts.contains(context)) {
      ownership.check();
      contexts.remove(context);
      context.free();
    }
  }

  // ---- hooks: begin and end are inclusive; begin > end means everywhere. Code that was translated
  // before a hook on code or memory was added runs without it until ctl_flush_tb

  /** Adds a hook on the instructions of a range. */
  public Hook hook_add_code(Hook.Code hook, long begin, long end) {
    return add(UcConst.UC_HOOK_CODE, Upcalls.CODE, hook, begin, end);
  }

  /** Adds a hook on the blocks that begin in a range. */
  public Hook hook_add_block(Hook.Block hook, long begin, long end) {
    return add(UcConst.UC_HOOK_BLOCK, Upcalls.BLOCK, hook, begin, end);
  }

  /** Adds a hook on interrupts, exceptions and system calls. */
  public Hook hook_add_intr(Hook.Interrupt hook) {
    return add(UcConst.UC_HOOK_INTR, Upcalls.INTERRUPT, hook, 1, 0);
  }

  /**
   * Adds a hook on an x86 instruction.
   *
   * @param instruction {@code X86Const.UC_X86_INS_SYSCALL} or {@code UC_X86_INS_SYSENTER}
   */
  public Hook hook_add_insn(Hook.Instruction hook, int instruction) {
    if (instruction != X86Const.UC_X86_INS_SYSCALL && instruction != X86Const.UC_X86_INS_SYSENTER) {
      throw new IllegalArgumentException(
          "instruction %d has no hook of this shape: syscall and sysenter have; for in and out use"
                  .formatted(instruction)
              + " hook_add_in and hook_add_out");
    }
    ownership.check();
    return hooks.addInstruction(Upcalls.INSTRUCTION, hook, instruction);
  }

  /** Adds a hook on the x86 instruction {@code in}. */
  public Hook hook_add_in(Hook.PortIn hook) {
    ownership.check();
    return hooks.addInstruction(Upcalls.PORT_IN, hook, X86Const.UC_X86_INS_IN);
  }

  /** Adds a hook on the x86 instruction {@code out}. */
  public Hook hook_add_out(Hook.PortOut hook) {
    ownership.check();
    return hooks.addInstruction(Upcalls.PORT_OUT, hook, X86Const.UC_X86_INS_OUT);
  }

  /** Adds a hook on instructions that do not decode. */
  public Hook hook_add_insn_invalid(Hook.InvalidInstruction hook) {
    return add(UcConst.UC_HOOK_INSN_INVALID, Upcalls.INVALID_INSTRUCTION, hook, 1, 0);
  }

  /**
   * Adds a hook on accesses to a range.
   *
   * @param type {@code UcConst.UC_HOOK_MEM_*} or-ed
   */
  public Hook hook_add_mem(int type, Hook.Memory hook, long begin, long end) {
    int memory =
        UcConst.UC_HOOK_MEM_VALID | UcConst.UC_HOOK_MEM_INVALID | UcConst.UC_HOOK_MEM_READ_AFTER;
    if (type == 0 || (type & ~memory) != 0) {
      throw new IllegalArgumentException(
          "hook type 0x%x is not of memory: use UC_HOOK_MEM_* only".formatted(type));
    }
    return add(type, Upcalls.MEMORY, hook, begin, end);
  }

  /**
   * Adds the page table of the virtual TLB; see {@link #ctl_tlb_mode}. From now on x86 segment
   * selectors cannot be written: a refusal to read the descriptor would crash the process.
   */
  public Hook hook_add_tlb_fill(Hook.TlbFill hook) {
    registers.refuseSelectors();
    return add(UcConst.UC_HOOK_TLB_FILL, Upcalls.TLB_FILL, hook, 1, 0);
  }

  /**
   * A function of libunicorn, for a hook in C that is handed what it calls.
   *
   * @throws UnicornLoadException where the library has no such function
   */
  public static MemorySegment function(String name) {
    return UnicornLibrary.get().function(name);
  }

  /**
   * A hook as a C function, for a hook in C that calls back: it is of no range, the engine does not
   * know of it. Good until the engine is closed; only for calls within {@link #emu_start}.
   */
  public NativeCallback callback(Hook.Block hook) {
    ownership.check();
    return hooks.callback(Upcalls.BLOCK, hook);
  }

  /**
   * Adds a hook that is a C function. Its type must not have additional arguments (not {@code
   * UC_HOOK_INSN}). Callback and user data are kept reachable, but their arenas must be closed
   * after the engine or {@link #hook_del}.
   *
   * @param type {@code UcConst.UC_HOOK_*}
   */
  public Hook hook_add_native(
      int type, MemorySegment callback, MemorySegment userData, long begin, long end) {
    ownership.check();
    if (type == UcConst.UC_HOOK_TLB_FILL) {
      registers.refuseSelectors();
    }
    return hooks.addNative(type, callback, userData, begin, end);
  }

  /** Removes a hook; in a hook it takes effect when the guest stops at the latest. */
  public void hook_del(Hook hook) {
    ownership.check();
    hooks.delete(hook);
  }

  private Hook add(int type, long upcall, Object hook, long begin, long end) {
    ownership.check();
    return hooks.add(type, upcall, hook, begin, end);
  }
}
