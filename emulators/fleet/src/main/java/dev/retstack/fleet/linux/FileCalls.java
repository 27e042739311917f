package dev.retstack.fleet.linux;

import dev.retstack.fleet.isa.Errno;
import dev.retstack.fleet.isa.StatLayout;
import dev.retstack.fleet.memory.GuestAccessException;
import dev.retstack.fleet.memory.GuestMemory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** System calls on files: reading, writing, opening, asking. */
final class FileCalls {
  private static final int PATH_MAX = 4096;
  private static final int IOV_MAX = 1024;
  private static final int COPY_BYTES = 64 << 10;

  /** Linux moves at most so many bytes in one call. */
  private static final long COUNT_MAX = 0x7FFF_F000L;

  private static final long AT_EMPTY_PATH = 0x1000;

  /** {@code STATX_BASIC_STATS}: all that {@code stat} tells. */
  private static final int STATX_BASIC = 0x7FF;

  private static final int BLOCK_BYTES = 4096;

  /** {@code st_blocks} counts in these, whatever the size of a block. */
  private static final int COUNTED_BYTES = 512;

  private static final int F_DUPFD = 0;
  private static final int F_GETFD = 1;
  private static final int F_SETFD = 2;
  private static final int F_GETFL = 3;
  private static final int F_SETFL = 4;
  private static final int F_DUPFD_CLOEXEC = 1030;
  private static final int O_RDWR = 2;

  private final GuestMemory memory;
  private final FileTable files;
  private final CallRegisters registers;
  private final StatLayout stat;
  private final String executable;

  FileCalls(
      GuestMemory memory,
      FileTable files,
      CallRegisters registers,
      StatLayout stat,
      String executable) {
    this.memory = memory;
    this.files = files;
    this.registers = registers;
    this.stat = stat;
    this.executable = executable;
  }

  void register(Map<String, SystemCall> calls) {
    calls.put("read", a -> read(files.get(a[0]), a[1], count(a[2])));
    calls.put("write", a -> write(files.get(a[0]), a[1], count(a[2])));
    calls.put("readv", a -> vector(a, (file, at, size) -> read(file, at, size)));
    calls.put("writev", a -> vector(a, (file, at, size) -> write(file, at, size)));
    calls.put("pread64", this::readAt);
    calls.put("lseek", a -> files.get(a[0]).seek(registers.signed(a[1]), (int) a[2]));
    calls.put("_llseek", this::longSeek);
    calls.put("close", this::close);
    calls.put("open", a -> files.open(path(a[0]), (int) a[1]));
    calls.put("openat", a -> files.open(path(a[1]), (int) a[2]));
    calls.put("dup", a -> files.duplicate(a[0], 0));
    calls.put("dup2", a -> files.duplicateTo(a[0], a[1]));
    calls.put("dup3", a -> files.duplicateTo(a[0], a[1]));
    calls.put("fcntl", this::control);
    calls.put("fcntl64", this::control);
    calls.put("ioctl", this::deviceControl);
    for (String wide : memory.wordBytes() == Long.BYTES ? List.of("", "64") : List.of("64")) {
      // without 64 and where words have 32 bits they tell sizes in 32: no C library asks any more
      calls.put("fstat" + wide, a -> status(files.get(a[0]), a[0], stat, a[1]));
      calls.put("stat" + wide, a -> statusOf(path(a[0]), stat, a[1]));
      calls.put("lstat" + wide, a -> statusOf(path(a[0]), stat, a[1]));
    }
    calls.put("newfstatat", a -> statusAt(a[0], a[1], a[3], stat, a[2]));
    calls.put("fstatat64", a -> statusAt(a[0], a[1], a[3], stat, a[2]));
    calls.put("statx", this::statusExtended);
    calls.put("access", a -> access(path(a[0])));
    calls.put("faccessat", a -> access(path(a[1])));
    calls.put("faccessat2", a -> access(path(a[1])));
    calls.put("readlink", a -> link(path(a[0]), a[1], a[2]));
    calls.put("readlinkat", a -> link(path(a[1]), a[2], a[3]));
    calls.put("getcwd", this::workingDirectory);
  }

  /** A move of bytes between a file and memory; may move fewer than asked. */
  @FunctionalInterface
  private interface Transfer {
    long move(OpenFile file, long address, long size) throws IOException;
  }

  private long readAt(long[] a) throws IOException {
    OpenFile file = files.get(a[0]);
    int most = (int) Math.min(count(a[2]), COPY_BYTES);
    long place = registers.wide(a, 3);
    if (place < 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    if (!memory.isMapped(a[1], most)) {
      throw new SystemCallException(Errno.EFAULT);
    }
    byte[] bytes = new byte[most];
    int got = file.readAt(place, bytes);
    memory.write(a[1], Arrays.copyOf(bytes, got));
    return got;
  }

  /** {@code lseek} of 32-bit programs: the offset in halves, the result in memory. */
  private long longSeek(long[] a) throws IOException {
    OpenFile file = files.get(a[0]);
    if (!memory.isMapped(a[3], Long.BYTES)) {
      throw new SystemCallException(Errno.EFAULT);
    }
    memory.writeLong(a[3], file.seek(CallRegisters.join(a[1], a[2]), (int) a[4]));
    return 0;
  }

  private long read(OpenFile file, long address, long size) throws IOException {
    int most = (int) Math.min(size, COPY_BYTES);
    if (!memory.isMapped(address, most)) {
      throw new SystemCallException(Errno.EFAULT);
    }
    byte[] bytes = new byte[most];
    int got = most == 0 ? 0 : file.read(bytes, most);
    memory.write(address, Arrays.copyOf(bytes, got));
    return got;
  }

  private long write(OpenFile file, long address, long size) throws IOException {
    long done = 0;
    while (done < size) {
      int piece = (int) Math.min(size - done, COPY_BYTES);
      byte[] bytes;
      try {
        bytes = memory.read(address + done, piece);
      } catch (GuestAccessException e) {
        if (done > 0) {
          return done;
        }
        throw e;
      }
      file.write(bytes);
      done += piece;
    }
    if (size == 0) {
      file.write(new byte[0]);
    }
    return done;
  }

  private long vector(long[] a, Transfer transfer) throws IOException {
    OpenFile file = files.get(a[0]);
    int entries = (int) a[2];
    if (entries < 0 || entries > IOV_MAX) {
      throw new SystemCallException(Errno.EINVAL);
    }
    int word = memory.wordBytes();
    long done = 0;
    for (long i = 0; i < entries; i++) {
      long entry = a[1] + i * 2 * word;
      long size = count(memory.readWord(entry + word));
      long moved;
      try {
        moved = transfer.move(file, memory.readWord(entry), size);
      } catch (GuestAccessException | SystemCallException e) {
        if (done > 0) {
          return done;
        }
        throw e;
      }
      done += moved;
      if (moved < size) {
        break;
      }
    }
    return done;
  }

  private long close(long[] a) throws IOException {
    files.close(a[0]);
    return 0;
  }

  private long control(long[] a) {
    files.get(a[0]);
    return switch ((int) a[1]) {
      case F_DUPFD, F_DUPFD_CLOEXEC -> files.duplicate(a[0], (int) a[2]);
      case F_GETFD, F_SETFD, F_SETFL -> 0;
      case F_GETFL -> O_RDWR;
      default -> throw new SystemCallException(Errno.EINVAL);
    };
  }

  /** No file is a terminal. */
  private long deviceControl(long[] a) {
    files.get(a[0]);
    throw new SystemCallException(Errno.ENOTTY);
  }

  private long statusExtended(long[] a) throws IOException {
    long done = statusAt(a[0], a[1], a[2], StatLayout.EXTENDED, a[4]);
    memory.writeInt(a[4], STATX_BASIC);
    return done;
  }

  private long statusAt(long folder, long name, long flags, StatLayout layout, long address)
      throws IOException {
    String path = path(name);
    if (path.isEmpty() && (flags & AT_EMPTY_PATH) != 0) {
      return status(files.get(folder), folder, layout, address);
    }
    return statusOf(path, layout, address);
  }

  private long statusOf(String name, StatLayout layout, long address) throws IOException {
    OpenFile file = files.find(name, 0);
    try {
      return status(file, 0, layout, address);
    } finally {
      files.release(file);
    }
  }

  private long status(OpenFile file, long descriptor, StatLayout layout, long address)
      throws IOException {
    // Zeroed as a whole first: the guest sees no padding of earlier contents; times and owners are
    // 0.
    memory.write(address, new byte[layout.bytes()]);
    write(address, layout.inode(), file.inode(descriptor));
    write(address, layout.mode(), file.mode());
    write(address, layout.links(), 1);
    write(address, layout.size(), file.size());
    write(address, layout.blockSize(), BLOCK_BYTES);
    write(address, layout.blocks(), (file.size() + COUNTED_BYTES - 1) / COUNTED_BYTES);
    return 0;
  }

  private void write(long structure, StatLayout.Field field, long value) {
    long address = structure + field.at();
    switch (field.bytes()) {
      case Long.BYTES -> memory.writeLong(address, value);
      case Integer.BYTES -> memory.writeInt(address, (int) value);
      default -> memory.writeShort(address, (short) value);
    }
  }

  private long access(String name) throws IOException {
    files.release(files.find(name, 0));
    return 0;
  }

  private long link(String name, long address, long length) {
    if (!name.equals("/proc/self/exe")) {
      throw new SystemCallException(Errno.ENOENT);
    }
    byte[] target = executable.getBytes(StandardCharsets.UTF_8);
    int size = (int) length;
    if (size <= 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    int told = Math.min(size, target.length);
    memory.write(address, Arrays.copyOf(target, told));
    return told;
  }

  private long workingDirectory(long[] a) {
    if (Long.compareUnsigned(a[1], 2) < 0) {
      throw new SystemCallException(Errno.ERANGE);
    }
    memory.write(a[0], new byte[] {'/', 0});
    return 2;
  }

  /** A name in guest memory, at most as long as Linux takes. */
  private String path(long address) {
    for (int length = 0; length < PATH_MAX; length++) {
      if (memory.readByte(address + length) == 0) {
        return memory.readString(address, length);
      }
    }
    throw new SystemCallException(Errno.ENAMETOOLONG);
  }

  private long count(long wanted) {
    if (registers.signed(wanted) < 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    return Math.min(wanted, COUNT_MAX);
  }
}
