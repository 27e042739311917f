package dev.retstack.machine.linux.file;

import dev.retstack.machine.isa.system.Dialect.OpenFlags;
import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.linux.call.SystemCallException;
import dev.retstack.machine.linux.shared.Sysroot;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.ToLongFunction;

/** The file descriptors of a process, and the files that it may name. */
public final class FileTable {
  /** Most descriptors at a time; what RLIMIT_NOFILE says. */
  public static final int DESCRIPTORS_MAX = 256;

  /** Above the numbers of streams. */
  private static final long FIRST_NUMBER = 1000;

  /** Most files and folders that a program makes. */
  private static final int MADE_MAX = 65_536;

  /** As {@code ls} shows them. */
  private static final String PERMISSIONS = "rwxrwxrwx";

  private static final int ACCESS_MODE = 3;
  private static final int READ_WRITE = 2;

  private final OpenFile[] files = new OpenFile[DESCRIPTORS_MAX];
  private final boolean[] closesOnExec = new boolean[DESCRIPTORS_MAX];

  /** Flags of files that are open, as the program sees them. */
  private final Map<OpenFile, Integer> flags = new HashMap<>();

  /** The names by which files were opened. */
  private final Map<OpenFile, String> openedAs = new HashMap<>();

  private final Streams streams;
  private final OpenFile.Quota quota;
  private final OpenFlags known;
  private final Names names;
  private final Optional<Sysroot> sysroot;
  private final SplittableRandom random;
  private final Words words;
  private final Map<Path, Long> numbers = new HashMap<>();
  private long lastNumber = FIRST_NUMBER - 1;
  private int made;
  private int mask = 0022;

  /**
   * The streams of the host.
   *
   * @param outputMax most bytes that the program prints, and by which its files grow
   */
  public record Streams(InputStream in, OutputStream out, OutputStream err, long outputMax) {}

  /** Finds what the kernel reports about the process, such as {@code /proc/self/comm}. */
  public interface Words {
    /**
     * What it writes itself.
     *
     * @param numbers of files of the host
     */
    Optional<OpenFile> find(String name, ToLongFunction<Path> numbers);

    /** The program's own file on the host, where the name is one of it. */
    Optional<Path> program(String name);
  }

  /** Three descriptors: input, output, errors. */
  public FileTable(
      Streams streams,
      OpenFlags known,
      Names names,
      Optional<Sysroot> sysroot,
      SplittableRandom random,
      Words words) {
    this.streams = streams;
    this.known = known;
    this.names = names;
    this.sysroot = sysroot;
    this.random = random;
    this.words = words;
    quota = new OpenFile.Quota(streams.outputMax());
    files[0] = new OpenFile.Input(streams.in());
    files[1] = new OpenFile.Output(streams.out(), quota);
    files[2] = new OpenFile.Output(streams.err(), quota);
    for (int fd = 0; fd <= 2; fd++) {
      flags.put(files[fd], READ_WRITE);
    }
  }

  /** The file of a descriptor. */
  public OpenFile get(long descriptor) {
    int fd = (int) descriptor;
    if (fd < 0 || fd >= files.length || files[fd] == null) {
      throw new SystemCallException(Errno.EBADF);
    }
    return files[fd];
  }

  /** True while this descriptor, or another one, stands for a file. */
  public boolean isOpenAs(int descriptor, OpenFile file) {
    return file.equals(files[descriptor]) || has(file);
  }

  private boolean has(OpenFile file) {
    return Arrays.asList(files).contains(file);
  }

  /** True where a descriptor is in use. */
  public boolean isOpen(int fd) {
    return fd >= 0 && fd < files.length && files[fd] != null;
  }

  /** Names below which a descriptor leads: those of a folder that is open. */
  public Path folder(long descriptor) {
    if (get(descriptor) instanceof Folder folder) {
      return folder.name();
    }
    throw new SystemCallException(Errno.ENOTDIR);
  }

  /** The name by which a file was opened. */
  public String name(OpenFile file) {
    return openedAs.getOrDefault(file, "");
  }

  /** The names that the program may use. */
  public Names names() {
    return names;
  }

  /** Opens a file; returns the lowest free descriptor. */
  public int open(Path name, int how, int mode) throws IOException {
    OpenFile file = find(name, how, mode);
    int descriptor = add(file, how);
    openedAs.putIfAbsent(file, name.normalize().toString());
    return descriptor;
  }

  /** Opens a file for writing, new or emptied. */
  public int create(Path name, int mode) throws IOException {
    return open(name, known.create() | known.truncate() | 1, mode);
  }

  /** A second descriptor for the same file, the lowest free one at or above {@code from}. */
  public int duplicate(long descriptor, int from, boolean isClosedOnExec) {
    OpenFile file = get(descriptor);
    if (from < 0 || from >= files.length) {
      throw new SystemCallException(Errno.EINVAL);
    }
    for (int fd = from; fd < files.length; fd++) {
      if (files[fd] == null) {
        files[fd] = file;
        closesOnExec[fd] = isClosedOnExec;
        return fd;
      }
    }
    throw new SystemCallException(Errno.EMFILE);
  }

  /** Makes {@code target} stand for the same file. */
  public int duplicateTo(long descriptor, long target, boolean isClosedOnExec) throws IOException {
    OpenFile file = get(descriptor);
    int fd = (int) target;
    if (fd < 0 || fd >= files.length) {
      throw new SystemCallException(Errno.EBADF);
    }
    if (files[fd] != null && !file.equals(files[fd])) {
      close(fd);
    }
    files[fd] = file;
    closesOnExec[fd] = isClosedOnExec;
    return fd;
  }

  /** Gives a descriptor back. */
  public void close(long descriptor) throws IOException {
    OpenFile file = get(descriptor);
    files[(int) descriptor] = null;
    closesOnExec[(int) descriptor] = false;
    release(file);
  }

  /** Closes a file unless a descriptor still stands for it. */
  public void release(OpenFile file) throws IOException {
    if (!has(file)) {
      flags.remove(file);
      openedAs.remove(file);
      file.close();
    }
  }

  /** Gives the host's files back and lets its streams see all output. */
  public void closeAll() throws IOException {
    for (int fd = 0; fd < files.length; fd++) {
      if (files[fd] != null) {
        close(fd);
      }
    }
    streams.out().flush();
    streams.err().flush();
  }

  /** Flags of an open file. */
  public int flags(long descriptor) {
    return flags.getOrDefault(get(descriptor), 0);
  }

  /** True where an operation on it fails instead of waiting. */
  public boolean isNonBlocking(OpenFile file) {
    return OpenFlags.has(flags.getOrDefault(file, 0), known.nonBlocking());
  }

  /** Sets those flags of an open file that may be set. */
  public void flags(long descriptor, int value) {
    OpenFile file = get(descriptor);
    int settable = known.append() | known.nonBlocking();
    flags.put(file, (flags(descriptor) & ~settable) | (value & settable));
    if (file instanceof HostFile host) {
      host.appends(OpenFlags.has(value, known.append()));
    }
  }

  /** True where a descriptor is closed by exec. */
  public boolean closesOnExec(long descriptor) {
    get(descriptor);
    return closesOnExec[(int) descriptor];
  }

  /** Sets that. */
  public void closesOnExec(long descriptor, boolean value) {
    get(descriptor);
    closesOnExec[(int) descriptor] = value;
  }

  /** The error number of a failure of the host. */
  public static Errno errno(IOException e) {
    return Names.errno(e);
  }

  /** Permissions that new files do not have; returns those before. */
  public int mask(int value) {
    int before = mask;
    mask = value & 0777;
    return before;
  }

  /** The file of a name, without a new descriptor; the caller releases it. */
  private OpenFile find(Path name, int how, int mode) throws IOException {
    Optional<OpenFile> known = special(name);
    return known.isPresent() ? known.get() : hostFile(name, how, mode);
  }

  private Optional<OpenFile> special(Path name) {
    String text = name.normalize().toString();
    return switch (text) {
      case "/dev/stdin" -> Optional.of(get(0));
      case "/dev/stdout" -> Optional.of(get(1));
      case "/dev/stderr" -> Optional.of(get(2));
      case "/dev/null" -> Optional.of(new OpenFile.Null());
      case "/dev/zero" -> Optional.of(new OpenFile.Source(null));
      case "/dev/random", "/dev/urandom" -> Optional.of(new OpenFile.Source(random));
      case "/dev/tty" -> throw new SystemCallException(Errno.ENXIO);
      default -> words.find(text, this::number);
    };
  }

  private OpenFile hostFile(Path name, int how, int mode) throws IOException {
    boolean writes = (how & ACCESS_MODE) != 0;
    boolean makes = OpenFlags.has(how, known.create());
    if (!writes && !makes) {
      Optional<Path> object = readOnly(name);
      if (object.isPresent()) {
        Names.Place place = new Names.Place(object.get(), false, false);
        return HostFile.open(place, number(object.get()), 0, quota);
      }
    }
    boolean exclusive = makes && OpenFlags.has(how, known.exclusive());
    Names.Place place = names.find(name, !exclusive && !OpenFlags.has(how, known.noFollow()));
    boolean unnamed = OpenFlags.has(how, known.unnamed());
    if (unnamed) {
      place = names.find(unusedIn(name), false);
    }
    boolean isNew = !place.exists();
    if (place.isFolder()) {
      if (writes || makes) {
        throw new SystemCallException(Errno.EISDIR);
      }
      return new Folder(this, place, name.normalize());
    }
    if (isNew) {
      if (!makes && !unnamed) {
        throw new SystemCallException(Errno.ENOENT);
      }
      Names.Place fresh = place;
      make(place, mode, () -> Files.createFile(fresh.path()));
    } else if (exclusive) {
      throw new SystemCallException(Errno.EEXIST);
    } else if (OpenFlags.has(how, known.folder())) {
      throw new SystemCallException(Errno.ENOTDIR);
    } else if (!place.isFile()) {
      throw new SystemCallException(Files.isSymbolicLink(place.path()) ? Errno.ELOOP : Errno.ENXIO);
    }
    if (writes && !place.isWritable()) {
      throw new SystemCallException(Errno.EACCES);
    }
    HostFile file = HostFile.open(place, number(place.path()), how, quota);
    file.appends(OpenFlags.has(how, known.append()));
    if (writes && OpenFlags.has(how, known.truncate())) {
      file.truncate(0);
    }
    if (unnamed) {
      Files.delete(place.path());
      forget(place.path());
    }
    return file;
  }

  /** The program itself, or a shared object: it may be read wherever it is on the host. */
  private Optional<Path> readOnly(Path name) {
    return words
        .program(name.normalize().toString())
        .or(() -> sysroot.flatMap(root -> root.find(name.toString())));
  }

  private Path unusedIn(Path folder) throws IOException {
    for (int i = 0; i < MADE_MAX; i++) {
      Path name = folder.resolve(".unnamed-" + i);
      if (!names.find(name, false).exists()) {
        return name;
      }
    }
    throw new SystemCallException(Errno.EEXIST);
  }

  /** What makes a file or folder that is not a plain file. */
  @FunctionalInterface
  interface Making {
    void make() throws IOException;
  }

  private void make(Names.Place place, Making making) throws IOException {
    requireWritable(place);
    if (made == MADE_MAX) {
      throw new SystemCallException(Errno.ENOSPC);
    }
    made++;
    try {
      making.make();
    } catch (FileAlreadyExistsException e) {
      throw new SystemCallException(Errno.EEXIST);
    }
  }

  private void make(Names.Place place, int mode, Making making) throws IOException {
    make(place, making);
    // so that the program can continue with what it made, whatever the mode
    setMode(place.path(), (mode & ~mask) | 0600);
  }

  private static void requireWritable(Names.Place place) {
    if (!place.isWritable()) {
      throw new SystemCallException(place.exists() ? Errno.EACCES : Errno.ENOENT);
    }
  }

  private static void setMode(Path path, int mode) throws IOException {
    StringBuilder text = new StringBuilder();
    for (int bit = PERMISSIONS.length() - 1; bit >= 0; bit--) {
      text.append(
          (mode >> bit & 1) != 0 ? PERMISSIONS.charAt(PERMISSIONS.length() - 1 - bit) : '-');
    }
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(text.toString()));
  }

  /** Makes a folder. */
  public void makeFolder(Path name, int mode) throws IOException {
    Names.Place place = names.find(name, false);
    if (place.exists()) {
      throw new SystemCallException(Errno.EEXIST);
    }
    make(place, mode | 0100, () -> Files.createDirectory(place.path()));
  }

  /** Removes a file or an empty folder. */
  public void remove(Path name, boolean isFolder) throws IOException {
    if (name.endsWith(".") || name.endsWith("..")) {
      throw new SystemCallException(Errno.EINVAL);
    }
    Names.Place place = names.find(name, false);
    if (!place.exists()) {
      throw new SystemCallException(Errno.ENOENT);
    }
    requireWritable(place);
    requireNoRoot(place);
    if (place.isFolder() != isFolder) {
      throw new SystemCallException(isFolder ? Errno.ENOTDIR : Errno.EISDIR);
    }
    Files.delete(place.path());
    forget(place.path());
  }

  /** The folders that were allowed stay where they are. */
  private void requireNoRoot(Names.Place place) throws IOException {
    if (!names.find(place.path().getParent(), false).isWritable()) {
      throw new SystemCallException(Errno.EACCES);
    }
  }

  /**
   * Gives a file or folder another name. Links stay where they are: none may be moved to where it
   * leads elsewhere.
   */
  public void rename(Path from, Path to, boolean replaces) throws IOException {
    Names.Place old = names.find(from, false);
    Names.Place there = names.find(to, false);
    if (!old.exists()) {
      throw new SystemCallException(Errno.ENOENT);
    }
    requireWritable(old);
    requireWritable(there);
    requireNoRoot(old);
    requireNoRoot(there);
    if (!old.isFolder() && !old.isFile()) {
      throw new SystemCallException(Errno.EPERM);
    }
    if (there.exists() && !old.path().equals(there.path())) {
      requireReplaceable(old, there, replaces);
    }
    Files.move(
        old.path(),
        there.path(),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
    Long number = numbers.remove(old.path());
    if (number != null) {
      numbers.put(there.path(), number);
    }
  }

  private static void requireReplaceable(Names.Place old, Names.Place there, boolean replaces) {
    if (!replaces) {
      throw new SystemCallException(Errno.EEXIST);
    }
    if (old.isFolder() != there.isFolder()) {
      throw new SystemCallException(there.isFolder() ? Errno.EISDIR : Errno.ENOTDIR);
    }
  }

  /** Changes permissions. */
  public void permit(Path name, int mode) throws IOException {
    Names.Place place = names.find(name, true);
    if (!place.exists()) {
      throw new SystemCallException(Errno.ENOENT);
    }
    requireWritable(place);
    setMode(place.path(), mode | 0600);
  }

  /** Changes permissions of an open file. */
  public void permit(OpenFile file, int mode) throws IOException {
    if (file instanceof HostFile host && Files.exists(host.path())) {
      if (!host.isWritable()) {
        throw new SystemCallException(Errno.EPERM);
      }
      setMode(host.path(), mode | 0600);
    }
  }

  /**
   * Makes a link to a name. It leads to its own folder or below, so that it stays among the allowed
   * files wherever its folder is moved; another one is EPERM.
   */
  public void makeLink(Path name, String target) throws IOException {
    Names.Place place = names.find(name, false);
    if (target.isEmpty()) {
      throw new SystemCallException(Errno.ENOENT);
    }
    if (place.exists()) {
      throw new SystemCallException(Errno.EEXIST);
    }
    Path to = Names.full(Path.of(""), target);
    for (Path part : to) {
      if (to.isAbsolute() || part.toString().equals("..")) {
        throw new SystemCallException(Errno.EPERM);
      }
    }
    make(place, () -> Files.createSymbolicLink(place.path(), to));
  }

  /** Gives a file a second name. Only files that the program may write to get one. */
  public void makeName(Path name, boolean follow, Path second) throws IOException {
    Names.Place old = names.find(name, follow);
    Names.Place place = names.find(second, false);
    if (!old.exists()) {
      throw new SystemCallException(Errno.ENOENT);
    }
    if (place.exists()) {
      throw new SystemCallException(Errno.EEXIST);
    }
    if (!old.isWritable() || !old.isFile()) {
      throw new SystemCallException(Errno.EPERM);
    }
    make(place, () -> Files.createLink(place.path(), old.path()));
    numbers.put(place.path(), number(old.path()));
  }

  /** Where a link leads. */
  public String link(Path name) throws IOException {
    Names.Place place = names.find(name, false);
    if (!place.exists()) {
      throw new SystemCallException(Errno.ENOENT);
    }
    if (!Files.isSymbolicLink(place.path())) {
      throw new SystemCallException(Errno.EINVAL);
    }
    return Files.readSymbolicLink(place.path()).toString();
  }

  /** Cuts a file off, or fills it up. */
  public void truncate(Path name, long size) throws IOException {
    OpenFile file = find(name, READ_WRITE, 0);
    try {
      file.truncate(size);
    } finally {
      release(file);
    }
  }

  /**
   * What is known of a file without opening it.
   *
   * @param names that it has
   * @param isWritable true where the program may change it
   */
  public record Status(int mode, long size, long inode, int names, boolean isWritable) {}

  /** Status of the file with a name. */
  public Status status(Path name, boolean follow) throws IOException {
    Optional<OpenFile> known = special(name);
    if (known.isPresent()) {
      return new Status(known.get().mode(), 0, known.get().inode(0), 1, true);
    }
    Optional<Path> object = readOnly(name);
    if (object.isPresent()) {
      return status(new Names.Place(object.get(), false, false));
    }
    return status(names.find(name, follow));
  }

  /** Status of the file at a place. */
  Status status(Names.Place place) throws IOException {
    int mode = place.mode();
    long size = place.isFile() ? Files.size(place.path()) : 0;
    return new Status(mode, size, number(place.path()), place.names(), place.isWritable());
  }

  /** The number by which a program knows a file: in the order in which it first asked. */
  long number(Path real) {
    return numbers.computeIfAbsent(real, _ -> ++lastNumber);
  }

  private void forget(Path real) {
    numbers.remove(real);
  }

  /** The lowest free descriptor, for a file. */
  public int add(OpenFile file, int how) throws IOException {
    for (int fd = 0; fd < files.length; fd++) {
      if (files[fd] == null) {
        files[fd] = file;
        closesOnExec[fd] = OpenFlags.has(how, known.closeOnExec());
        flags.putIfAbsent(file, how & (ACCESS_MODE | known.append() | known.nonBlocking()));
        return fd;
      }
    }
    release(file);
    throw new SystemCallException(Errno.EMFILE);
  }
}
