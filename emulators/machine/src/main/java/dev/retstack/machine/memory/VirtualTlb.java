package dev.retstack.machine.memory;

import dev.retstack.machine.isa.Isa;
import dev.retstack.unicorn.Hook;
import dev.retstack.unicorn.TlbEntry;
import dev.retstack.unicorn.UcConst;
import dev.retstack.unicorn.Unicorn;
import it.unimi.dsi.fastutil.longs.LongIterator;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.lang.foreign.MemorySegment;
import java.util.function.LongSupplier;

/**
 * Joins {@link GuestMemory} and an engine: maps its regions into the engine and answers the virtual
 * TLB from its page permissions.
 *
 * <p>Pages are passed to the engine as writable or as executable, never as both: only then do
 * stores take the engine's fast path (measured 4-7 times faster). A page that the program may write
 * and execute changes sides when it is used the other way.
 */
public final class VirtualTlb implements Hook.TlbFill, MemoryListener {
  /**
   * Fills in one slice above which the engine's TLB is too small: it grows only when it is flushed.
   */
  private static final int CROWDED = 512;

  /** The engine's smallest page: 1 KiB on Arm. More than any {@code UC_MEM_*}. */
  private static final long SMALLEST_PAGE = 1024;

  private final Unicorn engine;
  private final Isa.Leaves leaves;
  private final int pcRegister;
  private final LongSupplier time;
  private final Runnable codeChanged;
  private final Runnable mappingsChanged;
  private final LongOpenHashSet executing = new LongOpenHashSet();
  private GuestMemory memory;

  /** True while the engine drops translations, for which it looks pages up by a fetch. */
  private boolean removing;

  /** True when the engine was given a page as code that is not code. */
  private boolean lookedUp;

  /** True while several changes are made, which the listener hears of at the end. */
  private boolean together;

  private boolean changed;
  private int fills;
  private long allFills;

  /** True where the slice that runs began with an empty TLB. */
  private boolean flushed;

  /** True where the last look-up was refused only to leave the block. */
  private boolean left;

  /**
   * What the instruction at {@link #leftPc} was left for, {@code page | access}: asked again, it is
   * given.
   */
  private final LongOpenHashSet leftFor = new LongOpenHashSet();

  private long leftPc;
  private long leftTime;

  /** True while those pages are looked up outside of the program. */
  private boolean refilling;

  private long refusedAddress;
  private int refusedAccess = -1;

  /** A page whose accesses are shown to the engine as ones of no memory, at another place. */
  private long missingPage = -1;

  private long missingAt;

  /**
   * The page table of an engine.
   *
   * @param isa says where the core must start again at an instruction that uses a page for the
   *     first time
   * @param time instructions executed: an instruction met again is another one
   * @param codeChanged runs when translations were dropped
   * @param mappingsChanged runs when memory was mapped or unmapped
   */
  public VirtualTlb(
      Unicorn engine, Isa isa, LongSupplier time, Runnable codeChanged, Runnable mappingsChanged) {
    this.engine = engine;
    this.leaves = isa.engine().leaves();
    this.pcRegister = isa.registers().pc();
    this.time = time;
    this.codeChanged = codeChanged;
    this.mappingsChanged = mappingsChanged;
  }

  public void serve(GuestMemory guestMemory) {
    this.memory = guestMemory;
  }

  /** Address of the page of the last refused access; see {@link #refusedAccess}. */
  public long refusedAddress() {
    return refusedAddress;
  }

  /** Forgets the last refusal: the program continues. */
  public void forgetRefused() {
    refusedAccess = -1;
  }

  /**
   * From here on accesses of a page fail as those of no memory do: the engine reports their
   * address, as of another page.
   *
   * @param page -1: none
   * @param at where nothing is mapped
   */
  public void missing(long page, long at) {
    missingPage = page;
    missingAt = at;
    engine.ctl_flush_tlb();
  }

  /** {@code UC_MEM_*} of the last refused access, -1 where none was. */
  public int refusedAccess() {
    return refusedAccess;
  }

  /**
   * Between two slices: lets the engine's TLB grow where it was crowded. The fills of a slice that
   * began with an empty TLB say nothing: each page in use takes one.
   */
  public void endOfSlice() {
    boolean crowded = fills > CROWDED && !flushed;
    if (crowded) {
      engine.ctl_flush_tlb();
    }
    flushed = crowded;
    allFills += fills;
    fills = 0;
  }

  /** How often the engine asked for a page, in all slices that have ended. */
  public long fills() {
    return allFills;
  }

  @Override
  public boolean onFill(long address, int access, TlbEntry result) {
    if (access != UcConst.UC_MEM_FETCH && !removing && mustLeave(address, access)) {
      return false;
    }
    if (GuestMemory.pageDown(address) == missingPage && access != UcConst.UC_MEM_FETCH) {
      result.set(missingAt + (address - missingPage), needed(access));
      return true;
    }
    fills++;
    Region region = memory.find(address);
    if (region == null) {
      boolean reserved = memory.isReserved(address); // the engine has memory there
      if (reserved && removing) {
        return lookUp(address, access, result);
      }
      if ((access == UcConst.UC_MEM_FETCH && !removing) || reserved) {
        return refuse(address, access);
      }
      // accepted, so that the access itself fails and its exact address is reported
      result.set(address, needed(access));
      return true;
    }
    int perms = region.permissionsAt(address);
    if ((perms & needed(access)) == 0) {
      return removing ? lookUp(address, access, result) : refuse(address, access);
    }
    int both = GuestMemory.WRITE | GuestMemory.EXECUTE;
    result.set(address, (perms & both) == both ? oneOf(perms, address, access) : perms);
    return true;
  }

  private boolean mustLeave(long address, int access) {
    if (refilling || !leaves.now(engine::reg_read)) {
      return false;
    }
    long pc = engine.reg_read(pcRegister);
    if (pc != leftPc || time.getAsLong() != leftTime) {
      leftFor.clear();
      leftPc = pc;
      leftTime = time.getAsLong();
    }
    left = leftFor.add((address & -SMALLEST_PAGE) | access);
    return left;
  }

  /**
   * True where the engine failed only because it had to leave a block, and shall be started again
   * where it stands.
   */
  public boolean startAgain() {
    boolean again = left;
    left = false;
    return again;
  }

  /**
   * In the hook of the block that the engine started again with: puts the pages into its TLB, so
   * that it need not ask. Not earlier: to translate the block is a use of a page too, and may push
   * them out. Where one is refused, the instruction asks again and is refused.
   */
  public void refill() {
    refilling = true;
    try {
      for (LongIterator uses = leftFor.iterator(); uses.hasNext(); ) {
        long use = uses.nextLong();
        engine.vmem_translate(use & -SMALLEST_PAGE, needed((int) (use & (SMALLEST_PAGE - 1))));
      }
    } finally {
      refilling = false;
    }
  }

  /** Permissions of a page that may be written and executed, for the use that is made of it. */
  private int oneOf(int perms, long address, int access) {
    long page = GuestMemory.pageDown(address);
    if (access == UcConst.UC_MEM_FETCH) {
      executing.add(page);
    } else if (access == UcConst.UC_MEM_WRITE && executing.contains(page) && !removing) {
      forget(page, GuestMemory.PAGE);
      executing.remove(page);
    }
    boolean asCode = access == UcConst.UC_MEM_FETCH || executing.contains(page);
    return perms & ~(asCode ? GuestMemory.WRITE : GuestMemory.EXECUTE);
  }

  /**
   * The engine looks for translations to drop and asks for any page as code. A refusal would be
   * taken for an error of the program; the answer is forgotten right after.
   */
  private boolean lookUp(long address, int access, TlbEntry result) {
    lookedUp = true;
    result.set(address, needed(access));
    return true;
  }

  private boolean refuse(long address, int access) {
    if (!refilling) {
      refusedAddress = address;
      refusedAccess = access;
    }
    return false;
  }

  private static int needed(int access) {
    return switch (access) {
      case UcConst.UC_MEM_FETCH -> GuestMemory.EXECUTE;
      case UcConst.UC_MEM_WRITE -> GuestMemory.WRITE;
      default -> GuestMemory.READ;
    };
  }

  @Override
  public void mapped(long address, MemorySegment host) {
    engine.mem_map_ptr(address, host, UcConst.UC_PROT_ALL);
    mappingsChanged.run();
  }

  @Override
  public void unmapped(long address, long size) {
    remove(
        () -> {
          engine.ctl_remove_cache(address, address + size);
          engine.mem_unmap(address, size);
        });
    mappingsChanged.run();
  }

  @Override
  public void shown(long address, long size, boolean code) {
    if (code) {
      forget(address, size); // of what was there before
    }
    mappingsChanged.run();
  }

  @Override
  public void hidden(long address, long size, boolean code) {
    if (code) {
      forget(address, size);
    }
    engine.ctl_flush_tlb();
    mappingsChanged.run();
  }

  @Override
  public void protectionChanged(long address, long size) {
    engine.ctl_flush_tlb();
    if ((memory.permissionsAt(address) & GuestMemory.EXECUTE) != 0) {
      forget(address, size); // it may have been written since it was translated
    }
  }

  @Override
  public void codeChanged(long address, long size) {
    forget(address, size);
  }

  private void forget(long address, long size) {
    remove(() -> engine.ctl_remove_cache(address, address + size));
  }

  /** Drops translations; the engine may ask for their pages meanwhile. */
  private void remove(Runnable what) {
    removing = true;
    try {
      what.run();
    } finally {
      removing = false;
    }
    if (lookedUp) {
      lookedUp = false;
      engine.ctl_flush_tlb();
    }
    if (together) {
      changed = true;
    } else {
      codeChanged.run();
    }
  }

  /** Makes several changes of code, which the listener hears of once. */
  public void together(Runnable changes) {
    together = true;
    try {
      changes.run();
    } finally {
      together = false;
      if (changed) {
        changed = false;
        codeChanged.run();
      }
    }
  }
}
