package dev.retstack.machine.linux;

import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.linux.call.InVain;
import dev.retstack.machine.linux.call.SystemCallException;
import dev.retstack.machine.linux.shared.AddressRanges;
import dev.retstack.machine.linux.shared.MappedFile;
import dev.retstack.machine.linux.shared.Sysroot;
import dev.retstack.machine.memory.GuestMemory;
import dev.retstack.machine.memory.Mapping;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The heap, the stack and the mappings of a process, in the guest memory beside its image.
 *
 * <p>Fixed places make runs alike. With 64-bit addresses mappings start at 0x20_0000_0000, and the
 * stack ends at 0x3f_f000_0000. With 32-bit addresses they start at 0x4000_0000, and the stack ends
 * at 0x7f00_0000: mips has no user addresses above 0x7fff_ffff.
 */
final class AddressSpace {
  /** {@code vm.max_map_count} of Linux. */
  private static final int MAPPINGS_MAX = 65_530;

  /** Addresses for mappings that are one region of the engine, where they are enough. */
  private static final long RESERVED = 1L << 30;

  /** Addresses for each byte that a program may have: mappings lie apart. */
  private static final int RESERVED_PER_BYTE = 4;

  private static final long BREAK_STEP_MIN = 256L << 10;
  private static final long BREAK_STEP_MAX = 16L << 20;
  private static final int COPY_BYTES = 1 << 20;

  private final GuestMemory memory;
  private final long bytesMax;
  private final long mappingsFrom;
  private final long mappingsTo;
  private final long stackTop;
  private final boolean readImpliesExecute;
  private final InVain inVain;
  private final List<Range> reserved = new ArrayList<>();
  private final AddressRanges<MappedFile> files = new AddressRanges<>();

  private long stackBottom;
  private long mappedBytes;
  private boolean hasReserve;
  private long breakStart;
  private long breakNow;

  /** Pages up to here are mapped for the heap; those above the break cannot be touched. */
  private long breakMapped;

  /** Empty: the program does not see it. */
  private record Range(long start, long size, Optional<String> label) {}

  /**
   * @param readImpliesExecute true where what may be read may be executed, whatever the program
   *     asks for
   * @param inVain hears what was beyond the limits
   */
  AddressSpace(
      GuestMemory memory, long imageEnd, long bytesMax, boolean readImpliesExecute, InVain inVain) {
    this.memory = memory;
    this.bytesMax = bytesMax;
    this.readImpliesExecute = readImpliesExecute;
    this.inVain = inVain;
    boolean wide = memory.wordBytes() == 8;
    this.mappingsFrom = Sysroot.interpreterBase(memory.wordBytes());
    this.mappingsTo = wide ? 0x30_0000_0000L : 0x7000_0000L;
    this.stackTop = wide ? 0x3F_F000_0000L : 0x7F00_0000L;
    this.breakStart = GuestMemory.pageUp(imageEnd) + GuestMemory.PAGE;
    this.breakNow = breakStart;
    this.breakMapped = breakStart;
  }

  /** End of the stack: one past its highest address. */
  long stackTop() {
    return stackTop;
  }

  /** Maps the stack; returns its lowest address. */
  long mapStack(long size, boolean executable) {
    int permissions = granted(GuestMemory.READ | GuestMemory.WRITE);
    memory.map(stackTop - size, size, permissions | (executable ? GuestMemory.EXECUTE : 0));
    stackBottom = stackTop - size;
    return stackBottom;
  }

  /** The permissions that a program gets for those that it asks for. */
  private int granted(int permissions) {
    boolean more = readImpliesExecute && (permissions & GuestMemory.READ) != 0;
    return more ? permissions | GuestMemory.EXECUTE : permissions;
  }

  /** Maps a page of the kernel's code above the stack; returns its address. */
  long mapCode(byte[] code) {
    long page = stackTop + (64 << 10);
    mapCode(page, code, "[vdso]");
    return page;
  }

  /** Maps a page of the kernel's code at an address, with its name in {@code /proc/self/maps}. */
  void mapCode(long page, byte[] code, String label) {
    memory.map(page, GuestMemory.PAGE, GuestMemory.READ | GuestMemory.WRITE);
    memory.write(page, code);
    memory.protect(page, GuestMemory.PAGE, GuestMemory.READ | GuestMemory.EXECUTE);
    reserved.add(new Range(page, GuestMemory.PAGE, Optional.of(label)));
  }

  /** Keeps the program from changing a range: the tracer's own pages. */
  void reserve(long start, long size) {
    reserved.add(new Range(start, size, Optional.empty()));
  }

  /** Moves the end of the heap; returns where it is then, which is the old place on failure. */
  long setBreak(long wanted) {
    if (Long.compareUnsigned(wanted, breakStart) < 0 || wanted - breakStart < 0) {
      return breakNow;
    }
    if (wanted - breakStart > bytesMax) {
      inVain.memory(wanted - breakNow);
      return breakNow;
    }
    if (!mapBreak(GuestMemory.pageUp(wanted))) {
      return breakNow;
    }
    long oldEnd = GuestMemory.pageUp(breakNow);
    long newEnd = GuestMemory.pageUp(wanted);
    if (newEnd > oldEnd) {
      int permissions = granted(GuestMemory.READ | GuestMemory.WRITE);
      memory.protect(oldEnd, newEnd - oldEnd, permissions);
    } else if (newEnd < oldEnd) {
      // Memory that comes back must be zero again.
      clear(newEnd, oldEnd - newEnd);
      memory.protect(newEnd, oldEnd - newEnd, 0);
    }
    breakNow = wanted;
    return breakNow;
  }

  /** The heap grows in few large regions, since programs move the break in many small steps. */
  private boolean mapBreak(long end) {
    if (end <= breakMapped) {
      return true;
    }
    long step =
        Math.clamp(breakMapped - breakStart, BREAK_STEP_MIN, Math.min(BREAK_STEP_MAX, bytesMax));
    long size = Math.max(end - breakMapped, GuestMemory.pageUp(step));
    if (!hasRoom(size) || memory.overlaps(breakMapped, size)) {
      size = end - breakMapped;
    }
    if (memory.overlaps(breakMapped, size) || isRefused(size)) {
      return false;
    }
    memory.map(breakMapped, size, 0);
    mappedBytes += size;
    breakMapped += size;
    return true;
  }

  /** Maps zeroed pages anywhere; returns their address. */
  long map(long length, int permissions) {
    long size = pages(length);
    requireBudget(size);
    reserve();
    long address = memory.findFree(mappingsFrom, size, mappingsTo);
    if (address == 0) {
      throw new SystemCallException(Errno.ENOMEM);
    }
    mapAt(address, size, permissions);
    return address;
  }

  /** Behind the shared objects that are loaded with the program. */
  private void reserve() {
    if (hasReserve) {
      return;
    }
    hasReserve = true;
    long from = mappingsFrom;
    for (Mapping mapping : memory.mappings()) {
      long end = mapping.start() + mapping.host().byteSize();
      from = end > from && end < mappingsTo ? end : from;
    }
    long wanted = Math.max(RESERVED, RESERVED_PER_BYTE * Math.min(bytesMax, mappingsTo));
    memory.reserve(from, Math.min(mappingsTo - from, GuestMemory.pageUp(wanted)));
  }

  /**
   * Maps zeroed pages at an address.
   *
   * @param replace what is mapped there is unmapped first; else it is an error
   */
  long mapFixed(long address, long length, int permissions, boolean replace) {
    long size = pages(length);
    requireOwn(address, size);
    if (memory.overlaps(address, size)) {
      if (!replace) {
        throw new SystemCallException(Errno.EEXIST);
      }
      if (memory.isWithinOne(address, size)) {
        int granted = granted(permissions);
        requireRoomFor(memory.moreProtected(address, size, granted));
        memory.renew(address, size, granted);
        files.remove(address, size);
        return address;
      }
      unmap(address, size);
    }
    requireBudget(size);
    mapAt(address, size, permissions);
    return address;
  }

  /** Unmaps what is mapped in a range. */
  void unmap(long address, long length) {
    long size = pages(length);
    requireOwn(address, size);
    long freed = memory.mappedBytes(address, size);
    if (freed == 0) {
      return;
    }
    requireRoomFor(memory.moreWithout(address, size));
    memory.unmap(address, size);
    files.remove(address, size);
    mappedBytes = Math.max(0, mappedBytes - freed);
  }

  /** Refuses a change that makes more mappings than the limit allows. */
  private void requireRoomFor(int more) {
    if (more > 0 && memory.mappingCount() + more > MAPPINGS_MAX) {
      inVain.mapping(MAPPINGS_MAX);
      throw new SystemCallException(Errno.ENOMEM);
    }
  }

  /** True for memory that holds neither the program nor a file that it mapped. */
  boolean isOfNoFile(long address) {
    return Long.compareUnsigned(address, breakStart) >= 0 && files().at(address).isEmpty();
  }

  /** Which mappings are of which files. */
  AddressRanges<MappedFile> files() {
    return files;
  }

  /** Where the heap begins. */
  long breakStart() {
    return breakStart;
  }

  /** What a mapped page is called that is of no file; empty where the program does not see it. */
  Optional<String> label(long page) {
    for (Range r : reserved) {
      if (Long.compareUnsigned(page - r.start, r.size) < 0) {
        return r.label;
      }
    }
    if (page >= breakStart && page < breakMapped) {
      return page < breakNow ? Optional.of("[heap]") : Optional.empty();
    }
    return Optional.of(page >= stackBottom && page < stackTop ? "[stack]" : "");
  }

  /** Pages of a range, each of which the program has; ENOMEM where it has not. */
  long requireMapped(long address, long length) {
    if (address % GuestMemory.PAGE != 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    long size = GuestMemory.pageUp(length);
    if (length < 0 || size < 0 || !memory.isMapped(address, size)) {
      throw new SystemCallException(Errno.ENOMEM);
    }
    for (long page = address; page != address + size; page += GuestMemory.PAGE) {
      if (label(page).isEmpty()) {
        throw new SystemCallException(Errno.ENOMEM);
      }
    }
    return size / GuestMemory.PAGE;
  }

  /** How much of memory the program sees. */
  long visibleBytes() {
    long bytes = 0;
    for (Mapping mapping : memory.mappings()) {
      long end = mapping.start() + mapping.host().byteSize();
      for (long page = mapping.start(); page != end; page += GuestMemory.PAGE) {
        bytes += label(page).isPresent() ? GuestMemory.PAGE : 0;
      }
    }
    return bytes;
  }

  /** The lowest address of the stack, which alone grows down, for an address in it. */
  long beginningOfStack(long address) {
    if (Long.compareUnsigned(address, stackBottom) < 0
        || Long.compareUnsigned(address, stackTop) >= 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    return stackBottom;
  }

  /** Changes permissions of mapped pages. */
  void protect(long address, long length, int permissions) {
    if (length == 0) {
      return;
    }
    long size = pages(length);
    requireOwn(address, size);
    if (!memory.isMapped(address, size)) {
      throw new SystemCallException(Errno.ENOMEM);
    }
    int granted = granted(permissions);
    requireRoomFor(memory.moreProtected(address, size, granted));
    memory.protect(address, size, granted);
  }

  /** Makes a mapping shorter or longer, elsewhere where it must and {@code mayMove}. */
  long resize(long address, long oldLength, long newLength, boolean mayMove) {
    long oldSize = pages(oldLength);
    long newSize = pages(newLength);
    requireOwn(address, oldSize);
    if (!memory.isMapped(address, oldSize)) {
      throw new SystemCallException(Errno.EFAULT);
    }
    if (newSize <= oldSize) {
      if (newSize < oldSize) {
        unmap(address + newSize, oldSize - newSize);
      }
      return address;
    }
    int permissions = onePermission(address, oldSize);
    long more = newSize - oldSize;
    if (inMappings(address, newSize) && !memory.overlaps(address + oldSize, more)) {
      requireBudget(more);
      mapAt(address + oldSize, more, permissions);
      return address;
    }
    if (!mayMove) {
      throw new SystemCallException(Errno.ENOMEM);
    }
    long moved = map(newSize, permissions);
    for (long done = 0; done < oldSize; done += COPY_BYTES) {
      int piece = (int) Math.min(COPY_BYTES, oldSize - done);
      memory.write(moved + done, memory.read(address + done, piece));
    }
    unmap(address, oldSize);
    return moved;
  }

  /** Permissions of a range whose pages are all alike; Linux moves no other. */
  private int onePermission(long address, long size) {
    int permissions = memory.permissionsAt(address);
    for (long page = address; page != address + size; page += GuestMemory.PAGE) {
      if (memory.permissionsAt(page) != permissions) {
        throw new SystemCallException(Errno.EFAULT);
      }
    }
    return permissions;
  }

  private void mapAt(long address, long size, int permissions) {
    memory.map(address, size, granted(permissions));
    mappedBytes += size;
  }

  private void clear(long address, long size) {
    byte[] zeroes = new byte[(int) Math.min(size, COPY_BYTES)];
    for (long done = 0; done < size; done += zeroes.length) {
      int piece = (int) Math.min(zeroes.length, size - done);
      memory.write(address + done, piece == zeroes.length ? zeroes : new byte[piece]);
    }
  }

  private boolean inMappings(long address, long size) {
    return address >= mappingsFrom && address <= mappingsTo && size <= mappingsTo - address;
  }

  private void requireBudget(long size) {
    if (isRefused(size)) {
      throw new SystemCallException(Errno.ENOMEM);
    }
  }

  /** True where that many bytes more are within the limit. */
  boolean hasRoom(long size) {
    return size <= bytesMax - mappedBytes;
  }

  private boolean isRefused(long size) {
    if (!hasRoom(size)) {
      inVain.memory(size);
      return true;
    }
    if (memory.mappingCount() >= MAPPINGS_MAX) {
      inVain.mapping(MAPPINGS_MAX);
      return true;
    }
    return false;
  }

  /** A range of whole pages, below the end of the address space, none of them the tracer's. */
  private void requireOwn(long address, long size) {
    long last = address + size - 1;
    boolean inSpace = memory.wordBytes() == 8 ? address >= 0 && last >= 0 : last <= 0xFFFF_FFFFL;
    if (address % GuestMemory.PAGE != 0 || !inSpace) {
      throw new SystemCallException(Errno.EINVAL);
    }
    for (Range r : reserved) {
      if (address < r.start + r.size && r.start <= last) {
        throw new SystemCallException(Errno.EINVAL);
      }
    }
  }

  /** Length in whole pages: more than none, at most what guest memory maps at a time. */
  private static long pages(long length) {
    if (length <= 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    if (length > GuestMemory.MAX_MAPPING_BYTES) {
      throw new SystemCallException(Errno.ENOMEM);
    }
    return GuestMemory.pageUp(length);
  }
}
