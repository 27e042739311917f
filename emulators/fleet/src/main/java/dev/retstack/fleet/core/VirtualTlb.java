package dev.retstack.fleet.core;

import dev.retstack.unicorn.TlbEntry;
import dev.retstack.unicorn.TlbFillHook;
import dev.retstack.unicorn.UcConst;
import dev.retstack.unicorn.Unicorn;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.lang.foreign.MemorySegment;

/**
 * Joins {@link GuestMemory} and an engine: maps its regions into the engine and answers the virtual
 * TLB from its page permissions.
 *
 * <p>Pages are told to the engine as writable or as executable, never as both: only then do stores
 * take the engine's fast path (measured 4-7 times faster). A page that the program may write and
 * execute changes sides when it is used the other way.
 */
final class VirtualTlb implements TlbFillHook, MemoryListener {
  /**
   * Fills in one slice above which the engine's TLB is too small: it grows only when it is flushed.
   */
  private static final int CROWDED = 512;

  /** No address of a page. */
  private static final long NO_PAGE = 1;

  private final Unicorn engine;
  private final boolean leavesForPages;
  private final Runnable codeChanged;
  private final LongOpenHashSet executing = new LongOpenHashSet();
  private GuestMemory memory;

  /** True while the engine drops translations, for which it looks pages up by a fetch. */
  private boolean removing;

  /** True when it was told of a page as code that is not. */
  private boolean lookedUp;

  private int fills;

  /** True where the last look-up was refused only to leave the block. */
  private boolean left;

  /** The page it was for: when it is asked for again, it is given. */
  private long leftFor = NO_PAGE;

  private long refusedAddress;
  private int refusedAccess = -1;

  /**
   * The page table of an engine.
   *
   * @param leavesForPages true where the core must start again at an instruction that uses a page
   *     for the first time: see {@link dev.retstack.fleet.isa.Isa.Engine}
   * @param codeChanged told when translations were dropped
   */
  VirtualTlb(Unicorn engine, boolean leavesForPages, Runnable codeChanged) {
    this.engine = engine;
    this.leavesForPages = leavesForPages;
    this.codeChanged = codeChanged;
  }

  void serve(GuestMemory guestMemory) {
    this.memory = guestMemory;
  }

  /** Address of the page of the last refused access; see {@link #refusedAccess}. */
  long refusedAddress() {
    return refusedAddress;
  }

  /** {@code UC_MEM_*} of the last refused access, -1 where none was. */
  int refusedAccess() {
    return refusedAccess;
  }

  /** Between two slices: lets the engine's TLB grow where it was crowded. */
  void endOfSlice() {
    if (fills > CROWDED) {
      engine.ctl_flush_tlb();
    }
    fills = 0;
  }

  @Override
  public boolean onFill(long address, int access, TlbEntry result) {
    if (leavesForPages && access != UcConst.UC_MEM_FETCH && !removing && mustLeave(address)) {
      return false;
    }
    fills++;
    Region region = memory.find(address);
    if (region == null) {
      if (access == UcConst.UC_MEM_FETCH && !removing) {
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

  private boolean mustLeave(long address) {
    left = leftFor != address;
    leftFor = left ? address : NO_PAGE;
    return left;
  }

  /**
   * True where the engine failed only because it had to leave a block, and shall be started again
   * where it stands.
   */
  boolean startAgain() {
    boolean again = left;
    left = false;
    return again;
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
    refusedAddress = address;
    refusedAccess = access;
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
  }

  @Override
  public void unmapped(long address, long size) {
    remove(
        () -> {
          engine.ctl_remove_cache(address, address + size);
          engine.mem_unmap(address, size);
        });
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
    codeChanged.run();
  }
}
