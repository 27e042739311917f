package dev.retstack.machine.linux;

import dev.retstack.machine.isa.system.Dialect;
import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.linux.call.InVain;
import dev.retstack.machine.linux.call.SystemCall;
import dev.retstack.machine.linux.call.SystemCallException;
import dev.retstack.machine.linux.file.FileTable;
import dev.retstack.machine.linux.file.HostFile;
import dev.retstack.machine.linux.shared.CodeMappings;
import dev.retstack.machine.linux.shared.MappedFile;
import dev.retstack.machine.memory.GuestMemory;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;

/** System calls on memory. */
final class MemoryCalls {
  private static final long PROTECTION_BITS = 7;

  /** From the beginning of the mapping on, which must be one that grows down. */
  private static final long PROT_GROWSDOWN = 0x0100_0000;

  private static final long MAP_FIXED = 0x10;
  private static final long MAP_FIXED_NOREPLACE = 0x10_0000;
  private static final long MREMAP_MAYMOVE = 1;

  /** {@code MS_ASYNC}, {@code MS_INVALIDATE}, {@code MS_SYNC}. */
  private static final long MS_ALL = 7;

  private static final long MS_ASYNC_OR_SYNC = 5;

  private static final int MMAP_ARGUMENTS = 6;

  /** Offsets of mmap2 count these, whatever the size of a page. */
  private static final long MMAP2_UNIT = 4096;

  private static final long MAP_TYPE = 0xf;
  private static final long MAP_PRIVATE = 2;

  private static final int PIECE_BYTES = 1 << 20;

  private final AddressSpace space;
  private final GuestMemory memory;
  private final FileTable files;
  private final CodeMappings code;
  private final long anonymous;
  private final long noReserve;
  private final InVain inVain;

  /**
   * @param code hears of files mapped to be executed
   * @param dialect flags of mappings
   * @param inVain what the program asks for in vain
   */
  MemoryCalls(
      AddressSpace space,
      GuestMemory memory,
      FileTable files,
      CodeMappings code,
      Dialect dialect,
      InVain inVain) {
    this.space = space;
    this.memory = memory;
    this.files = files;
    this.code = code;
    this.anonymous = dialect.mapAnonymous();
    this.noReserve = dialect.mapNoReserve();
    this.inVain = inVain;
  }

  void register(Map<String, SystemCall> calls) {
    calls.put("brk", a -> space.setBreak(a[0]));
    calls.put("mmap", a -> map(a, 1));
    calls.put("mmap2", a -> map(a, MMAP2_UNIT));
    calls.put("old_mmap", a -> map(words(a[0]), 1));
    calls.put("munmap", this::unmap);
    calls.put("mprotect", this::protect);
    calls.put("mremap", this::remap);
    calls.put("madvise", a -> 0);
    calls.put("mincore", this::resident);
    calls.put("msync", this::synchronize);
    calls.put("cacheflush", a -> 0);
    calls.put("riscv_flush_icache", a -> 0);
  }

  /** The arguments of {@code old_mmap}: it passes one pointer to all of them. */
  private long[] words(long address) {
    long[] words = new long[MMAP_ARGUMENTS];
    for (int i = 0; i < words.length; i++) {
      words[i] = memory.readWord(address + (long) i * memory.wordBytes());
    }
    return words;
  }

  /**
   * @param unit what the last argument counts in bytes
   */
  private long map(long[] a, long unit) throws IOException {
    long flags = a[3];
    int permissions = permissions(a[2]);
    if ((flags & anonymous) != 0) {
      long address = place(a, permissions);
      mayRun(address, a[1], permissions);
      return address;
    }
    if (!(files.get(a[4]) instanceof HostFile file)) {
      inVain.call("mmap of a stream");
      throw new SystemCallException(Errno.ENODEV);
    }
    if ((flags & MAP_TYPE) != MAP_PRIVATE && (permissions & GuestMemory.WRITE) != 0) {
      inVain.call("mmap of a file to write to it");
      throw new SystemCallException(Errno.EACCES); // it is open for reading
    }
    long offset = a[5] * unit;
    if (offset < 0 || offset % GuestMemory.PAGE != 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    long address = place(a, GuestMemory.READ | GuestMemory.WRITE);
    fill(address, file, offset, a[1]);
    space.protect(address, a[1], permissions);
    boolean shared = (flags & MAP_TYPE) != MAP_PRIVATE;
    long end = address + GuestMemory.pageUp(a[1]);
    String name = files.name(file);
    MappedFile mapped = new MappedFile(address, offset, file.inode(0), name, shared);
    space.files().add(address, end, mapped);
    code.mapped(file.path(), address, offset, GuestMemory.pageUp(a[1]), permissions);
    return address;
  }

  /** Behind the end of the file stay zeroes. */
  private void fill(long address, HostFile file, long offset, long length) throws IOException {
    byte[] piece = new byte[(int) Math.min(length, PIECE_BYTES)];
    int got = 1;
    for (long done = 0; done < length && got > 0; done += got) {
      byte[] into = length - done < piece.length ? new byte[(int) (length - done)] : piece;
      got = file.readAt(offset + done, into);
      memory.write(address + done, got == into.length ? into : Arrays.copyOf(into, got));
    }
  }

  private long place(long[] a, int permissions) {
    if ((a[3] & noReserve) != 0 && !space.hasRoom(a[1])) {
      // a C library asks for more addresses than it needs, and does with less
      throw new SystemCallException(Errno.ENOMEM);
    }
    if ((a[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0) {
      long address = space.mapFixed(a[0], a[1], permissions, (a[3] & MAP_FIXED_NOREPLACE) == 0);
      code.unmapped(address, a[1]);
      return address;
    }
    return space.map(a[1], permissions);
  }

  /** Pages are always in memory. */
  private long resident(long[] a) {
    long pages = space.requireMapped(a[0], a[1]);
    for (long i = 0; i < pages; i++) {
      memory.writeByte(a[2] + i, (byte) 1);
    }
    return 0;
  }

  /** No mapping is written to a file: what is mapped is in step with it. */
  private long synchronize(long[] a) {
    if ((a[2] & ~MS_ALL) != 0 || (a[2] & MS_ASYNC_OR_SYNC) == MS_ASYNC_OR_SYNC) {
      throw new SystemCallException(Errno.EINVAL);
    }
    space.requireMapped(a[0], a[1]);
    return 0;
  }

  private long unmap(long[] a) {
    space.unmap(a[0], a[1]);
    code.unmapped(a[0], a[1]);
    return 0;
  }

  private long protect(long[] a) {
    int permissions = permissions(a[2] & ~PROT_GROWSDOWN);
    if ((a[2] & PROT_GROWSDOWN) != 0 && a[1] != 0) {
      long from = space.beginningOfStack(a[0]);
      space.protect(from, a[0] + a[1] - from, permissions);
    } else {
      space.protect(a[0], a[1], permissions);
    }
    mayRun(a[0], a[1], permissions);
    return 0;
  }

  private void mayRun(long address, long length, int permissions) {
    if ((permissions & GuestMemory.EXECUTE) != 0 && space.isOfNoFile(address)) {
      inVain.code(address, GuestMemory.pageUp(length));
    }
  }

  private long remap(long[] a) {
    if ((a[3] & ~MREMAP_MAYMOVE) != 0) {
      inVain.call("mremap to a fixed address");
      throw new SystemCallException(Errno.EINVAL);
    }
    return space.resize(a[0], a[1], a[2], (a[3] & MREMAP_MAYMOVE) != 0);
  }

  /** PROT_READ, PROT_WRITE and PROT_EXEC have the bits of guest memory. */
  private static int permissions(long protection) {
    if ((protection & ~PROTECTION_BITS) != 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    return (int) protection;
  }
}
