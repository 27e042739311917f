package dev.retstack.machine.linux.file;

import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.linux.call.SystemCallException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * A folder that is open: its entries in the order of their names, as they were when it was read.
 */
public final class Folder implements OpenFile {
  /** A program that reads a larger folder gets an error. */
  private static final int ENTRIES_MAX = 65_536;

  private final FileTable files;
  private final Names.Place place;
  private final Path name;
  private List<Entry> entries;
  private int next;

  /**
   * What is in it.
   *
   * @param type {@code d_type}
   */
  public record Entry(String name, long inode, int type) {}

  /**
   * @param name in full, as the program gave it
   */
  Folder(FileTable files, Names.Place place, Path name) {
    this.files = files;
    this.place = place;
    this.name = name;
  }

  Path name() {
    return name;
  }

  @Override
  public int mode() throws IOException {
    return place.mode();
  }

  @Override
  public long inode(long descriptor) {
    return files.number(place.path());
  }

  @Override
  public int read(byte[] into, int length) {
    throw new SystemCallException(Errno.EISDIR);
  }

  @Override
  public long seek(long offset, int whence) {
    if (whence != 0 || offset < 0 || offset > Integer.MAX_VALUE) {
      throw new SystemCallException(Errno.EINVAL);
    }
    next = (int) offset;
    entries = offset == 0 ? null : entries;
    return offset;
  }

  /** The entry at the current place; null behind the last one. */
  public Entry peek() throws IOException {
    entries = entries == null ? read() : entries;
    return next < entries.size() ? entries.get(next) : null;
  }

  /** Moves to the next entry; returns its place. */
  public int skip() {
    return ++next;
  }

  private List<Entry> read() throws IOException {
    SortedSet<String> names = place.isPassage() ? files.names().seenIn(place.path()) : inFolder();
    List<Entry> all = new ArrayList<>();
    all.add(new Entry(".", files.number(place.path()), 4));
    Path parent = place.path().getParent();
    all.add(new Entry("..", files.number(parent == null ? place.path() : parent), 4));
    for (String entry : names) {
      Path path = place.path().resolve(entry);
      int type = 0;
      try {
        type = files.status(files.names().find(path, false)).mode() >> 12 & 15;
      } catch (SystemCallException e) {
        // it is gone: its type is not known
      }
      all.add(new Entry(entry, files.number(path), type));
    }
    return all;
  }

  private SortedSet<String> inFolder() throws IOException {
    SortedSet<String> names = new TreeSet<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(place.path())) {
      for (Path path : stream) {
        if (names.size() == ENTRIES_MAX) {
          throw new SystemCallException(Errno.ENOMEM);
        }
        names.add(path.getFileName().toString());
      }
    }
    return names;
  }
}
