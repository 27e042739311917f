package dev.retstack.fleet.linux;

import dev.retstack.fleet.isa.Errno;
import dev.retstack.fleet.linux.shared.Sysroot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The file descriptors of a process, and the names that it may open. */
final class FileTable {
  /** Most descriptors at a time; what RLIMIT_NOFILE says. */
  static final int DESCRIPTORS_MAX = 64;

  private static final int ACCESS_MODE = 3;

  private final OpenFile[] files = new OpenFile[DESCRIPTORS_MAX];

  /** Above the numbers of streams. */
  private static final long FIRST_NUMBER = 1000;

  private final LinuxOptions options;
  private final Optional<Sysroot> sysroot;
  private final Map<Path, Long> numbers = new HashMap<>();

  FileTable(LinuxOptions options, Optional<Sysroot> sysroot) {
    this.options = options;
    this.sysroot = sysroot;
    files[0] = new OpenFile.Input(options.stdin());
    OpenFile.Quota quota = new OpenFile.Quota(options.outputBytesMax());
    files[1] = new OpenFile.Output(options.stdout(), quota);
    files[2] = new OpenFile.Output(options.stderr(), quota);
  }

  OpenFile get(long descriptor) {
    int fd = (int) descriptor;
    if (fd < 0 || fd >= files.length || files[fd] == null) {
      throw new SystemCallException(Errno.EBADF);
    }
    return files[fd];
  }

  /** Opens a file; returns the lowest free descriptor. */
  int open(String name, int flags) throws IOException {
    return add(find(name, flags));
  }

  /** A second descriptor for the same file, the lowest free one at or above {@code from}. */
  int duplicate(long descriptor, int from) {
    OpenFile file = get(descriptor);
    for (int fd = Math.max(0, from); fd < files.length; fd++) {
      if (files[fd] == null) {
        files[fd] = file;
        return fd;
      }
    }
    throw new SystemCallException(Errno.EMFILE);
  }

  /** Makes {@code target} stand for the same file. */
  int duplicateTo(long descriptor, long target) throws IOException {
    OpenFile file = get(descriptor);
    int fd = (int) target;
    if (fd < 0 || fd >= files.length) {
      throw new SystemCallException(Errno.EBADF);
    }
    if (files[fd] != null && !file.equals(files[fd])) {
      close(fd);
    }
    files[fd] = file;
    return fd;
  }

  void close(long descriptor) throws IOException {
    OpenFile file = get(descriptor);
    files[(int) descriptor] = null;
    release(file);
  }

  /** Closes a file unless a descriptor still stands for it. */
  void release(OpenFile file) throws IOException {
    if (!Arrays.asList(files).contains(file)) {
      file.close();
    }
  }

  /** Gives the host's files back and lets its streams see all output. */
  void closeAll() throws IOException {
    for (int fd = 0; fd < files.length; fd++) {
      if (files[fd] != null) {
        close(fd);
      }
    }
    options.stdout().flush();
    options.stderr().flush();
  }

  /** The file of a name, without a new descriptor; the caller releases it. */
  OpenFile find(String name, int flags) throws IOException {
    return switch (name) {
      case "/dev/stdin" -> get(0);
      case "/dev/stdout" -> get(1);
      case "/dev/stderr" -> get(2);
      case "/dev/null" -> new OpenFile.Null();
      default -> hostFile(name, flags);
    };
  }

  private OpenFile hostFile(String name, int flags) throws IOException {
    boolean none = options.readable().isEmpty() && sysroot.isEmpty();
    if (none || name.isEmpty() || name.indexOf('\0') >= 0) {
      throw new SystemCallException(Errno.ENOENT);
    }
    if ((flags & ACCESS_MODE) != 0) {
      throw new SystemCallException(Errno.EACCES);
    }
    Optional<Path> object = sysroot.flatMap(root -> root.find(name));
    if (object.isPresent()) {
      return open(object.get());
    }
    try {
      // The real path: a link must not lead out of what is allowed.
      Path real = Path.of(name).toRealPath();
      for (Path allowed : options.readable()) {
        if (real.startsWith(allowed.toRealPath()) && Files.isRegularFile(real)) {
          return open(real);
        }
      }
    } catch (NoSuchFileException | InvalidPathException e) {
      throw new SystemCallException(Errno.ENOENT);
    }
    throw new SystemCallException(Errno.ENOENT);
  }

  private OpenFile open(Path real) throws IOException {
    return OpenFile.HostFile.open(
        real, numbers.computeIfAbsent(real, path -> FIRST_NUMBER + numbers.size()));
  }

  private int add(OpenFile file) throws IOException {
    for (int fd = 0; fd < files.length; fd++) {
      if (files[fd] == null) {
        files[fd] = file;
        return fd;
      }
    }
    file.close();
    throw new SystemCallException(Errno.EMFILE);
  }
}
