package dev.retstack.fleet.linux;

import dev.retstack.fleet.core.GuestAccessException;
import dev.retstack.fleet.core.GuestMemory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;

/** System calls on files: reading, writing, opening, asking. */
final class FileCalls {
  private static final int PATH_MAX = 4096;
  private static final int IOV_MAX = 1024;
  private static final int COPY_BYTES = 64 << 10;

  /** Linux moves at most so many bytes in one call. */
  private static final long COUNT_MAX = 0x7FFF_F000L;

  private static final long AT_EMPTY_PATH = 0x1000;
  private static final int F_DUPFD = 0;
  private static final int F_GETFD = 1;
  private static final int F_SETFD = 2;
  private static final int F_GETFL = 3;
  private static final int F_SETFL = 4;
  private static final int F_DUPFD_CLOEXEC = 1030;
  private static final int O_RDWR = 2;

  private final GuestMemory memory;
  private final FileTable files;
  private final StatLayout stat;
  private final String executable;

  FileCalls(GuestMemory memory, FileTable files, StatLayout stat, String executable) {
    this.memory = memory;
    this.files = files;
    this.stat = stat;
    this.executable = executable;
  }

  void register(Map<String, SystemCall> calls) {
    calls.put("read", a -> read(files.get(a[0]), a[1], count(a[2])));
    calls.put("write", a -> write(files.get(a[0]), a[1], count(a[2])));
    calls.put("readv", a -> vector(a, (file, at, size) -> read(file, at, size)));
    calls.put("writev", a -> vector(a, (file, at, size) -> write(file, at, size)));
    calls.put("lseek", a -> files.get(a[0]).seek(a[1], (int) a[2]));
    calls.put("close", this::close);
    calls.put("open", a -> files.open(path(a[0]), (int) a[1]));
    calls.put("openat", a -> files.open(path(a[1]), (int) a[2]));
    calls.put("dup", a -> files.duplicate(a[0], 0));
    calls.put("dup2", a -> files.duplicateTo(a[0], a[1]));
    calls.put("dup3", a -> files.duplicateTo(a[0], a[1]));
    calls.put("fcntl", this::control);
    calls.put("ioctl", this::deviceControl);
    calls.put("fstat", a -> status(files.get(a[0]), a[0], a[1]));
    calls.put("stat", a -> statusOf(path(a[0]), a[1]));
    calls.put("lstat", a -> statusOf(path(a[0]), a[1]));
    calls.put("newfstatat", this::statusAt);
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
    if (a[2] < 0 || a[2] > IOV_MAX) {
      throw new SystemCallException(Errno.EINVAL);
    }
    int word = memory.wordBytes();
    long done = 0;
    for (long i = 0; i < a[2]; i++) {
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

  private long statusAt(long[] a) throws IOException {
    String name = path(a[1]);
    if (name.isEmpty() && (a[3] & AT_EMPTY_PATH) != 0) {
      return status(files.get(a[0]), a[0], a[2]);
    }
    return statusOf(name, a[2]);
  }

  private long statusOf(String name, long address) throws IOException {
    OpenFile file = files.find(name, 0);
    try {
      return status(file, 0, address);
    } finally {
      files.release(file);
    }
  }

  private long status(OpenFile file, long inode, long address) throws IOException {
    stat.write(memory, address, file.mode(), inode + 1, file.size());
    return 0;
  }

  private long access(String name) throws IOException {
    files.release(files.find(name, 0));
    return 0;
  }

  private long link(String name, long address, long size) {
    if (!name.equals("/proc/self/exe")) {
      throw new SystemCallException(Errno.ENOENT);
    }
    byte[] target = executable.getBytes(StandardCharsets.UTF_8);
    if (size <= 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    int length = (int) Math.min(size, target.length);
    memory.write(address, Arrays.copyOf(target, length));
    return length;
  }

  private long workingDirectory(long[] a) {
    if (a[1] < 2) {
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

  private static long count(long wanted) {
    if (wanted < 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    return Math.min(wanted, COUNT_MAX);
  }
}
