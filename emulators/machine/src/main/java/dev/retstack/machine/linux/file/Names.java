package dev.retstack.machine.linux.file;

import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.linux.call.SystemCallException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The names of files as a program sees them: those of the host, of which only what is below an
 * allowed folder is there. The folders on the way to one are there too, and show nothing else.
 *
 * <p>The program begins in the working directory of this process if that is allowed, else in the
 * first folder that it may write to, else in the root folder. Names below {@code /tmp} are below
 * the first folder that it may write to, unless they are allowed themselves.
 */
public final class Names {
  private static final int NAME_MAX = 255;

  /** As Linux: more are a circle. */
  private static final int LINKS_MAX = 40;

  private static final int WRITE_BITS = 0222;
  private static final int PASSAGE = 0040555;
  private static final Path ROOT = Path.of("/");
  private static final Path TEMPORARY = Path.of("/tmp");

  /** How much of what is around the allowed folders is there. */
  private enum Kind {
    NOTHING,
    PASSAGE,
    READABLE,
    WRITABLE
  }

  private final List<Path> readable;
  private final List<Path> writable;
  private Path current;

  /**
   * @param readable files and folders
   * @param writable folders
   */
  public Names(List<Path> readable, List<Path> writable) {
    this.readable = readable;
    this.writable = writable;
    Path here = Path.of("").toAbsolutePath();
    if (kind(here).compareTo(Kind.READABLE) >= 0 || (writable.isEmpty() && isPassage(here))) {
      current = here;
    } else {
      current = writable.isEmpty() ? ROOT : writable.getFirst().toAbsolutePath().normalize();
    }
  }

  /**
   * Where a name leads.
   *
   * @param path on the host; nothing may be there yet
   * @param isWritable true where the program may change it
   * @param isPassage true for a folder on the way to an allowed one
   */
  public record Place(Path path, boolean isWritable, boolean isPassage) {
    /** {@code st_mode}; ENOENT where nothing is there. */
    int mode() throws IOException {
      if (isPassage) {
        return PASSAGE;
      }
      try {
        int mode = (int) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
        return isWritable ? mode : mode & ~WRITE_BITS;
      } catch (NoSuchFileException e) {
        throw new SystemCallException(Errno.ENOENT);
      }
    }

    /** {@code st_nlink}; 1 for what the program may not change. */
    int names() throws IOException {
      boolean mayHaveMore = isWritable && isFile();
      return mayHaveMore ? (int) Files.getAttribute(path, "unix:nlink") : 1;
    }

    boolean isFolder() {
      return isPassage || Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
    }

    boolean isFile() {
      return Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS);
    }

    boolean exists() {
      return isPassage || Files.exists(path, LinkOption.NOFOLLOW_LINKS);
    }
  }

  /** The working directory. */
  public Path current() {
    return current;
  }

  /** Changes the working directory. */
  public void current(Path folder) throws IOException {
    if (!find(folder, true).isFolder()) {
      throw new SystemCallException(Errno.ENOTDIR);
    }
    current = folder.normalize();
  }

  /** A name in full, its links and {@code ..} as they are. */
  public static Path full(Path folder, String name) {
    if (name.isEmpty()) {
      throw new SystemCallException(Errno.ENOENT);
    }
    try {
      Path path = folder.resolve(name);
      for (Path part : path) {
        if (part.toString().length() > NAME_MAX) {
          throw new SystemCallException(Errno.ENAMETOOLONG);
        }
      }
      return path;
    } catch (InvalidPathException e) {
      throw new SystemCallException(Errno.ENOENT);
    }
  }

  /**
   * Where a name leads.
   *
   * @param follow true where a link in its last part is followed
   * @throws SystemCallException ENOENT where it leads to nothing that is allowed
   */
  public Place find(Path name, boolean follow) throws IOException {
    Path path = real(name, follow);
    Kind kind = path == null ? Kind.NOTHING : kind(path);
    if (kind.compareTo(Kind.READABLE) < 0 && !writable.isEmpty() && name.startsWith(TEMPORARY)) {
      Path below = writable.getFirst().toAbsolutePath().resolve(TEMPORARY.relativize(name));
      path = real(below, follow);
      kind = path == null ? Kind.NOTHING : kind(path);
    }
    if (kind == Kind.NOTHING) {
      throw new SystemCallException(Errno.ENOENT);
    }
    return new Place(path, kind == Kind.WRITABLE, kind == Kind.PASSAGE);
  }

  /** The path without links, whether its last part exists or not; null: there is none. */
  private Path real(Path name, boolean follow) throws IOException {
    return real(name, follow ? LINKS_MAX + 1 : 0);
  }

  /**
   * The real path, where {@code links} links in the last part are followed; the last may be
   * dangling.
   */
  private Path real(Path name, int links) throws IOException {
    Path last = name.getFileName();
    boolean isPlain = last != null && !last.toString().equals(".") && !last.toString().equals("..");
    try {
      if (!isPlain) {
        return name.toRealPath();
      }
      Path parent = name.getParent().toRealPath();
      if (!Files.isDirectory(parent)) {
        throw new NotDirectoryException(parent.toString());
      }
      Path plain = parent.resolve(last);
      if (links == 0 || !Files.isSymbolicLink(plain)) {
        return plain;
      }
      if (links == 1) {
        throw new FileSystemLoopException(plain.toString());
      }
      return real(parent.resolve(Files.readSymbolicLink(plain)), links - 1);
    } catch (NoSuchFileException e) {
      return null;
    } catch (FileSystemException e) {
      boolean mayKnow = kind(name.normalize()) != Kind.NOTHING;
      throw new SystemCallException(mayKnow ? errno(e) : Errno.ENOENT);
    }
  }

  /** The error number of a failure of the host. */
  static Errno errno(IOException e) {
    String reason =
        e instanceof FileSystemException f && f.getReason() != null ? f.getReason() : "";
    return switch (e) {
      case NoSuchFileException _ -> Errno.ENOENT;
      case AccessDeniedException _ -> Errno.EACCES;
      case FileAlreadyExistsException _ -> Errno.EEXIST;
      case DirectoryNotEmptyException _ -> Errno.ENOTEMPTY;
      case NotDirectoryException _ -> Errno.ENOTDIR;
      case FileSystemLoopException _ -> Errno.ELOOP;
      default ->
          reason.startsWith("Too many levels of symbolic links")
              ? Errno.ELOOP
              : switch (reason) {
                case "Not a directory" -> Errno.ENOTDIR;
                case "Is a directory" -> Errno.EISDIR;
                case "File name too long" -> Errno.ENAMETOOLONG;
                case "Directory not empty" -> Errno.ENOTEMPTY;
                case "No space left on device" -> Errno.ENOSPC;
                case "Read-only file system" -> Errno.EROFS;
                case "Invalid argument" -> Errno.EINVAL;
                default -> Errno.EIO;
              };
    };
  }

  private Kind kind(Path real) {
    if (writable.stream().anyMatch(root -> isBelow(root, real))) {
      return Kind.WRITABLE;
    }
    if (readable.stream().anyMatch(root -> isBelow(root, real))) {
      return Kind.READABLE;
    }
    return isPassage(real) ? Kind.PASSAGE : Kind.NOTHING;
  }

  private static boolean isBelow(Path root, Path real) {
    try {
      return real.startsWith(root.toRealPath());
    } catch (IOException e) {
      return false;
    }
  }

  private boolean isPassage(Path path) {
    return path.equals(ROOT) || roots().anyMatch(root -> root.startsWith(path));
  }

  private Stream<Path> roots() {
    return Stream.concat(readable.stream(), writable.stream())
        .map(root -> root.toAbsolutePath().normalize());
  }

  /** What is seen in a folder on the way to allowed ones. */
  SortedSet<String> seenIn(Path passage) {
    SortedSet<String> names = new TreeSet<>();
    roots()
        .filter(root -> root.startsWith(passage) && !root.equals(passage))
        .forEach(root -> names.add(root.getName(passage.getNameCount()).toString()));
    return names;
  }
}
