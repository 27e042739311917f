package dev.retstack.machine.linux;

import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.isa.system.StatLayout;
import dev.retstack.machine.linux.call.CallRegisters;
import dev.retstack.machine.linux.call.InVain;
import dev.retstack.machine.linux.call.SystemCall;
import dev.retstack.machine.linux.call.SystemCallException;
import dev.retstack.machine.linux.file.FileTable;
import dev.retstack.machine.linux.file.Folder;
import dev.retstack.machine.linux.file.Names;
import dev.retstack.machine.linux.file.OpenFile;
import dev.retstack.machine.memory.GuestMemory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** System calls on names: opening, asking, making, removing. */
final class PathCalls {
  private static final int PATH_MAX = 4096;
  private static final int AT_FDCWD = -100;
  private static final int AT_SYMLINK_NOFOLLOW = 0x100;
  private static final int AT_REMOVEDIR = 0x200;
  private static final int AT_SYMLINK_FOLLOW = 0x400;
  private static final int AT_EMPTY_PATH = 0x1000;
  private static final int RENAME_NOREPLACE = 1;
  private static final int W_OK = 2;

  /** {@code STATX_BASIC_STATS}: all that {@code stat} reports. */
  private static final int STATX_BASIC = 0x7FF;

  private static final int BLOCK_BYTES = 4096;

  /** {@code st_blocks} counts in these, whatever the size of a block. */
  private static final int COUNTED_BYTES = 512;

  /**
   * Head of {@code struct linux_dirent64}: number, place of the next one, length, kind; the name.
   */
  private static final int ENTRY_HEAD = 19;

  private static final String EXECUTABLE_LINK = "/proc/self/exe";

  private final GuestMemory memory;
  private final FileTable files;
  private final CallRegisters registers;
  private final StatLayout stat;
  private final String executable;
  private final InVain inVain;

  /** The first name of the system call that is carried out; null: none. */
  private Path asked;

  PathCalls(
      GuestMemory memory,
      FileTable files,
      CallRegisters registers,
      StatLayout stat,
      String executable,
      InVain inVain) {
    this.memory = memory;
    this.files = files;
    this.registers = registers;
    this.stat = stat;
    this.executable = executable;
    this.inVain = inVain;
  }

  void register(Map<String, SystemCall> all) {
    Map<String, SystemCall> calls = new HashMap<>();
    registerQuestions(calls);
    registerChanges(calls);
    calls.forEach((name, call) -> all.put(name, a -> watched(call, a)));
  }

  /** Carries it out, and notes whether the name that it has was found. */
  private long watched(SystemCall call, long[] a) throws IOException {
    asked = null;
    try {
      long result = call.call(a);
      if (asked != null) {
        inVain.found(asked.toString());
      }
      return result;
    } catch (SystemCallException e) {
      failed(e.errno());
      throw e;
    } catch (IOException e) {
      failed(FileTable.errno(e));
      throw e;
    }
  }

  private void failed(Errno why) {
    if (why == Errno.ENOENT && asked != null) {
      inVain.file(asked.toString());
    }
  }

  private void registerQuestions(Map<String, SystemCall> calls) {
    calls.put("open", a -> files.open(path(AT_FDCWD, a[0]), (int) a[1], (int) a[2]));
    calls.put("creat", a -> files.create(path(AT_FDCWD, a[0]), (int) a[1]));
    calls.put("openat", a -> files.open(path(a[0], a[1]), (int) a[2], (int) a[3]));
    for (String wide : memory.wordBytes() == Long.BYTES ? List.of("", "64") : List.of("64")) {
      // without 64 and where words have 32 bits the sizes have 32: no C library asks any more
      calls.put("fstat" + wide, a -> status(files.get(a[0]), a[0], stat, a[1]));
      calls.put("stat" + wide, a -> statusOf(path(AT_FDCWD, a[0]), true, stat, a[1]));
      calls.put("lstat" + wide, a -> statusOf(path(AT_FDCWD, a[0]), false, stat, a[1]));
    }
    calls.put("newfstatat", a -> statusAt(a[0], a[1], a[3], stat, a[2]));
    calls.put("fstatat64", a -> statusAt(a[0], a[1], a[3], stat, a[2]));
    calls.put("statx", this::statusExtended);
    calls.put("access", a -> access(path(AT_FDCWD, a[0]), a[1]));
    calls.put("faccessat", a -> access(path(a[0], a[1]), a[2]));
    calls.put("faccessat2", a -> access(path(a[0], a[1]), a[2]));
    calls.put("readlink", a -> link(AT_FDCWD, a[0], a[1], a[2]));
    calls.put("readlinkat", a -> link(a[0], a[1], a[2], a[3]));
    calls.put("getcwd", this::workingDirectory);
    calls.put("chdir", a -> changeTo(path(AT_FDCWD, a[0])));
    calls.put("fchdir", a -> changeTo(files.folder(a[0])));
    calls.put("getdents64", this::entries);
  }

  private void registerChanges(Map<String, SystemCall> calls) {
    calls.put("mkdir", a -> makeFolder(AT_FDCWD, a[0], a[1]));
    calls.put("mkdirat", a -> makeFolder(a[0], a[1], a[2]));
    calls.put("rmdir", a -> remove(AT_FDCWD, a[0], true));
    calls.put("unlink", a -> remove(AT_FDCWD, a[0], false));
    calls.put("unlinkat", a -> remove(a[0], a[1], (a[2] & AT_REMOVEDIR) != 0));
    calls.put("rename", a -> rename(AT_FDCWD, a[0], AT_FDCWD, a[1], 0));
    calls.put("renameat", a -> rename(a[0], a[1], a[2], a[3], 0));
    calls.put("renameat2", a -> rename(a[0], a[1], a[2], a[3], a[4]));
    calls.put("symlink", a -> makeLink(a[0], AT_FDCWD, a[1]));
    calls.put("symlinkat", a -> makeLink(a[0], a[1], a[2]));
    calls.put("link", a -> makeName(AT_FDCWD, a[0], AT_FDCWD, a[1], 0));
    calls.put("linkat", a -> makeName(a[0], a[1], a[2], a[3], a[4]));
    calls.put("truncate", a -> truncate(a[0], registers.signed(a[1])));
    calls.put("truncate64", a -> truncate(a[0], registers.wide(a, 1)));
    calls.put("chmod", a -> permit(path(AT_FDCWD, a[0]), a[1]));
    calls.put("fchmodat", a -> permit(path(a[0], a[1]), a[2]));
    calls.put("fchmod", this::permitOpen);
    calls.put("umask", a -> files.mask((int) a[0]));
    // times and owners are not kept: a program that sets them continues
    for (String name :
        List.of("utimensat", "utimensat_time64", "utime", "utimes", "fchown", "fchown32")) {
      calls.put(name, a -> 0);
    }
    for (String name : List.of("chown", "chown32", "lchown", "lchown32")) {
      calls.put(name, a -> access(path(AT_FDCWD, a[0]), W_OK));
    }
    calls.put("fchownat", a -> access(path(a[0], a[1]), W_OK));
  }

  private long statusExtended(long[] a) throws IOException {
    long done = statusAt(a[0], a[1], a[2], StatLayout.EXTENDED, a[4]);
    memory.writeInt(a[4], STATX_BASIC);
    return done;
  }

  private long statusAt(long folder, long name, long flags, StatLayout layout, long address)
      throws IOException {
    String text = text(name);
    if (text.isEmpty() && (flags & AT_EMPTY_PATH) != 0) {
      if ((int) folder == AT_FDCWD) {
        return statusOf(files.names().current(), true, layout, address);
      }
      return status(files.get(folder), folder, layout, address);
    }
    return statusOf(path(folder, text), (flags & AT_SYMLINK_NOFOLLOW) == 0, layout, address);
  }

  private long statusOf(Path name, boolean follow, StatLayout layout, long address)
      throws IOException {
    return status(files.status(name, follow), layout, address);
  }

  private long status(OpenFile file, long descriptor, StatLayout layout, long address)
      throws IOException {
    return status(
        new FileTable.Status(file.mode(), file.size(), file.inode(descriptor), file.names(), true),
        layout,
        address);
  }

  private long status(FileTable.Status of, StatLayout layout, long address) {
    // Zeroed as a whole first: the guest sees no padding of earlier contents; times and owners are
    // 0.
    memory.write(address, new byte[layout.bytes()]);
    write(address, layout.inode(), of.inode());
    write(address, layout.mode(), of.mode());
    write(address, layout.links(), of.names());
    write(address, layout.size(), of.size());
    write(address, layout.blockSize(), BLOCK_BYTES);
    write(address, layout.blocks(), (of.size() + COUNTED_BYTES - 1) / COUNTED_BYTES);
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

  private long access(Path name, long how) throws IOException {
    FileTable.Status of = files.status(name, true);
    if ((how & W_OK) != 0 && !of.isWritable()) {
      throw new SystemCallException(Errno.EACCES);
    }
    return 0;
  }

  private long link(long folder, long name, long address, long length) throws IOException {
    int size = (int) length;
    if (size <= 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    Path path = path(folder, name);
    String target = path.toString().equals(EXECUTABLE_LINK) ? executable : files.link(path);
    byte[] bytes = target.getBytes(StandardCharsets.UTF_8);
    int told = Math.min(size, bytes.length);
    memory.write(address, Arrays.copyOf(bytes, told));
    return told;
  }

  private long workingDirectory(long[] a) {
    byte[] name = files.names().current().toString().getBytes(StandardCharsets.UTF_8);
    if (Long.compareUnsigned(a[1], name.length + 1L) < 0) {
      throw new SystemCallException(Errno.ERANGE);
    }
    memory.write(a[0], Arrays.copyOf(name, name.length + 1));
    return name.length + 1L;
  }

  private long changeTo(Path folder) throws IOException {
    files.names().current(folder);
    return 0;
  }

  /** As many entries of a folder as fit. */
  private long entries(long[] a) throws IOException {
    if (!(files.get(a[0]) instanceof Folder folder)) {
      throw new SystemCallException(Errno.ENOTDIR);
    }
    long room = Math.min(a[2] & 0xFFFF_FFFFL, 1 << 20);
    long at = a[1];
    long done = 0;
    for (Folder.Entry entry = folder.peek(); entry != null; entry = folder.peek()) {
      byte[] name = entry.name().getBytes(StandardCharsets.UTF_8);
      int bytes = (ENTRY_HEAD + name.length + 1 + 7) & ~7;
      if (done + bytes > room) {
        if (done == 0) {
          throw new SystemCallException(Errno.EINVAL);
        }
        break;
      }
      memory.write(at + done, new byte[bytes]);
      memory.writeLong(at + done, entry.inode());
      memory.writeLong(at + done + 8, folder.skip());
      memory.writeShort(at + done + 16, (short) bytes);
      memory.write(at + done + 18, new byte[] {(byte) entry.type()});
      memory.write(at + done + ENTRY_HEAD, name);
      done += bytes;
    }
    return done;
  }

  private long makeFolder(long folder, long name, long mode) throws IOException {
    files.makeFolder(path(folder, name), (int) mode);
    return 0;
  }

  private long remove(long folder, long name, boolean isFolder) throws IOException {
    files.remove(path(folder, name), isFolder);
    return 0;
  }

  private long rename(long folder, long name, long newFolder, long newName, long flags)
      throws IOException {
    if ((flags & ~RENAME_NOREPLACE) != 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    files.rename(path(folder, name), path(newFolder, newName), flags == 0);
    return 0;
  }

  private long makeLink(long target, long folder, long name) throws IOException {
    files.makeLink(path(folder, name), text(target));
    return 0;
  }

  private long makeName(long folder, long name, long newFolder, long newName, long flags)
      throws IOException {
    if ((flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH)) != 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    boolean follow = (flags & AT_SYMLINK_FOLLOW) != 0;
    files.makeName(path(folder, name), follow, path(newFolder, newName));
    return 0;
  }

  private long truncate(long name, long size) throws IOException {
    files.truncate(path(AT_FDCWD, name), size);
    return 0;
  }

  private long permit(Path name, long mode) throws IOException {
    files.permit(name, (int) mode);
    return 0;
  }

  private long permitOpen(long[] a) throws IOException {
    files.permit(files.get(a[0]), (int) a[1]);
    return 0;
  }

  /** A name in guest memory, in full. */
  private Path path(long folder, long address) {
    return path(folder, text(address));
  }

  private Path path(long folder, String name) {
    boolean isFull = name.startsWith("/");
    boolean isHere = isFull || (int) folder == AT_FDCWD;
    Path path = Names.full(isHere ? files.names().current() : files.folder(folder), name);
    asked = asked == null ? path : asked;
    return path;
  }

  /** A name in guest memory, at most as long as Linux takes. */
  private String text(long address) {
    for (int length = 0; length < PATH_MAX; length++) {
      if (memory.readByte(address + length) == 0) {
        return memory.readString(address, length);
      }
    }
    throw new SystemCallException(Errno.ENAMETOOLONG);
  }
}
