package dev.retstack.machine.linux;

import dev.retstack.machine.isa.system.Dialect.OpenFlags;
import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.linux.call.CallRegisters;
import dev.retstack.machine.linux.call.SystemCall;
import dev.retstack.machine.linux.call.SystemCallException;
import dev.retstack.machine.linux.file.FileTable;
import dev.retstack.machine.linux.file.HostFile;
import dev.retstack.machine.linux.file.OpenFile;
import dev.retstack.machine.memory.GuestAccessException;
import dev.retstack.machine.memory.GuestMemory;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** System calls on descriptors: reading, writing, placing, duplicating. */
final class FileCalls {
  private static final int IOV_MAX = 1024;
  private static final int COPY_BYTES = 64 << 10;

  /** Bytes that Linux moves at most in one call. */
  private static final long COUNT_MAX = 0x7FFF_F000L;

  private static final int F_DUPFD = 0;
  private static final int F_GETFD = 1;
  private static final int F_SETFD = 2;
  private static final int F_GETFL = 3;
  private static final int F_SETFL = 4;
  private static final int F_DUPFD_CLOEXEC = 1030;
  private static final int FD_CLOEXEC = 1;

  /** Commands that ask for a lock: {@code struct flock}, with 64-bit fields, and of open files. */
  private static final Set<Integer> ASK_LOCK = Set.of(5, 12, 36);

  /** Locks or waits for a lock. */
  private static final Set<Integer> LOCK = Set.of(6, 7, 13, 14, 37, 38);

  private static final short F_UNLCK = 2;

  private final GuestMemory memory;
  private final FileTable files;
  private final CallRegisters registers;
  private final FileWaits waits;
  private final int closeOnExec;
  private final Runnable brokenPipe;

  /**
   * @param closeOnExec {@code O_CLOEXEC}
   * @param brokenPipe signals the program that its output has no reader
   */
  FileCalls(
      GuestMemory memory,
      FileTable files,
      CallRegisters registers,
      FileWaits waits,
      int closeOnExec,
      Runnable brokenPipe) {
    this.memory = memory;
    this.files = files;
    this.registers = registers;
    this.waits = waits;
    this.closeOnExec = closeOnExec;
    this.brokenPipe = brokenPipe;
  }

  void register(Map<String, SystemCall> calls) {
    calls.put("read", a -> read(files.get(a[0]), a[1], count(a[2])));
    calls.put("write", a -> write(files.get(a[0]), a[1], count(a[2]), 0));
    calls.put("readv", a -> vector(a, (file, at, size) -> read(file, at, size)));
    calls.put("writev", a -> vector(a, (file, at, size) -> write(file, at, size, 0)));
    calls.put("pread64", this::readAt);
    calls.put("pwrite64", this::writeAt);
    calls.put("lseek", a -> files.get(a[0]).seek(registers.signed(a[1]), (int) a[2]));
    calls.put("_llseek", this::longSeek);
    calls.put("ftruncate", a -> truncate(files.get(a[0]), registers.signed(a[1])));
    calls.put("ftruncate64", a -> truncate(files.get(a[0]), registers.wide(a, 1)));
    calls.put("close", this::close);
    calls.put("dup", a -> files.duplicate(a[0], 0, false));
    calls.put("dup2", a -> files.duplicateTo(a[0], a[1], false));
    calls.put("dup3", this::duplicateTo);
    calls.put("fcntl", this::control);
    calls.put("fcntl64", this::control);
    calls.put("ioctl", this::deviceControl);
    // the host keeps what it was given
    for (String name : List.of("fsync", "fdatasync", "flock", "fadvise64", "fallocate")) {
      calls.put(name, this::nothing);
    }
    int word = memory.wordBytes();
    calls.put("sendfile", a -> copy(a, word));
    calls.put("sendfile64", a -> copy(a, Long.BYTES));
  }

  private long nothing(long[] a) {
    files.get(a[0]);
    return 0;
  }

  private long truncate(OpenFile file, long size) throws IOException {
    file.truncate(size);
    return 0;
  }

  private long duplicateTo(long[] a) throws IOException {
    if ((int) a[0] == (int) a[1]) {
      throw new SystemCallException(Errno.EINVAL);
    }
    return files.duplicateTo(a[0], a[1], OpenFlags.has((int) a[2], closeOnExec));
  }

  /**
   * {@code sendfile}, from a regular file to what never waits. Elsewhere it is EINVAL: programs
   * read and write then.
   *
   * @param offsetBytes of the place in memory where the place in the file is
   */
  private long copy(long[] a, int offsetBytes) throws IOException {
    OpenFile to = files.get(a[0]);
    OpenFile from = files.get(a[1]);
    if (!(from instanceof HostFile) || !to.doesNotWait()) {
      throw new SystemCallException(Errno.EINVAL);
    }
    long size = count(a[3]);
    long start = a[2] == 0 ? from.seek(0, 1) : offset(a[2], offsetBytes);
    if (start < 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    long done = 0;
    int got = 1;
    while (done < size && got > 0) {
      byte[] bytes = new byte[(int) Math.min(size - done, COPY_BYTES)];
      got = from.readAt(start + done, bytes);
      try {
        done += to.write(Arrays.copyOf(bytes, got));
      } catch (SystemCallException e) {
        if (done == 0) {
          throw e;
        }
        break;
      }
    }
    if (a[2] == 0) {
      from.seek(start + done, 0);
    } else if (offsetBytes == Long.BYTES) {
      memory.writeLong(a[2], start + done);
    } else {
      memory.writeInt(a[2], (int) (start + done));
    }
    return done;
  }

  private long offset(long address, int bytes) {
    return bytes == Long.BYTES ? memory.readLong(address) : memory.readInt(address);
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

  private long writeAt(long[] a) throws IOException {
    OpenFile file = files.get(a[0]);
    long place = registers.wide(a, 3);
    if (place < 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    int most = (int) Math.min(count(a[2]), COPY_BYTES);
    return file.writeAt(place, memory.read(a[1], most));
  }

  private long read(OpenFile file, long address, long size) throws IOException {
    int most = (int) Math.min(size, COPY_BYTES);
    if (!memory.isMapped(address, most)) {
      throw new SystemCallException(Errno.EFAULT);
    }
    if (most < file.leastRead()) {
      throw new SystemCallException(Errno.EINVAL);
    }
    if (most > 0 && !mayRead(file)) {
      requireWaiting(file);
      return waits.await(() -> mayRead(file), () -> read(file, address, size), 0);
    }
    byte[] bytes = new byte[most];
    int got = most == 0 ? 0 : file.read(bytes, most);
    memory.write(address, Arrays.copyOf(bytes, got));
    return got;
  }

  private static boolean mayRead(OpenFile file) {
    return file.doesNotWait() || (file.events() & (OpenFile.IN | OpenFile.HANG_UP)) != 0;
  }

  private void requireWaiting(OpenFile file) {
    if (files.isNonBlocking(file)) {
      throw new SystemCallException(Errno.EAGAIN);
    }
  }

  /**
   * Writes.
   *
   * @param already bytes that were written before the program had to wait
   */
  private long write(OpenFile file, long address, long size, long already) throws IOException {
    long done = already;
    if (size == 0) {
      file.write(new byte[0]);
    }
    while (done < size) {
      int piece = (int) Math.min(size - done, COPY_BYTES);
      int written;
      try {
        written = file.write(memory.read(address + done, piece));
      } catch (GuestAccessException | SystemCallException e) {
        if (e instanceof SystemCallException failure && failure.errno() == Errno.EPIPE) {
          brokenPipe.run();
        }
        if (done > 0) {
          return done;
        }
        throw e;
      }
      done += written;
      if (written < piece) {
        if (done == 0 || !files.isNonBlocking(file)) {
          requireWaiting(file);
          long sofar = done;
          return waits.await(
              () -> (file.events() & (OpenFile.OUT | OpenFile.ERROR)) != 0,
              () -> write(file, address, size, sofar),
              sofar);
        }
        return done;
      }
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
    int command = (int) a[1];
    files.get(a[0]);
    if (ASK_LOCK.contains(command)) {
      memory.writeShort(a[2], F_UNLCK); // no other process locks anything
      return 0;
    }
    return switch (command) {
      case F_DUPFD -> files.duplicate(a[0], (int) a[2], false);
      case F_DUPFD_CLOEXEC -> files.duplicate(a[0], (int) a[2], true);
      case F_GETFD -> files.closesOnExec(a[0]) ? FD_CLOEXEC : 0;
      case F_SETFD -> {
        files.closesOnExec(a[0], (a[2] & FD_CLOEXEC) != 0);
        yield 0;
      }
      case F_GETFL -> files.flags(a[0]);
      case F_SETFL -> {
        files.flags(a[0], (int) a[2]);
        yield 0;
      }
      default -> {
        if (!LOCK.contains(command)) {
          throw new SystemCallException(Errno.EINVAL);
        }
        yield 0;
      }
    };
  }

  /** No file is a terminal. */
  private long deviceControl(long[] a) {
    files.get(a[0]);
    throw new SystemCallException(Errno.ENOTTY);
  }

  private long count(long wanted) {
    if (registers.signed(wanted) < 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    return Math.min(wanted, COUNT_MAX);
  }
}
