package dev.retstack.machine.loader;

import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.ElfFormatException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.LinkedHashMap;
import java.util.Map;

/** Shared objects that were read: all cores of a process map the same few. */
public final class SharedObjects {
  private static final int MOST = 32;

  private record Key(Path file, long size, FileTime changed, long base) {}

  private static final Map<Key, LoadedImage> READ =
      new LinkedHashMap<>(MOST, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, LoadedImage> eldest) {
          return size() > MOST;
        }
      };

  private SharedObjects() {}

  /**
   * The shared object in a file, its addresses as the file has them.
   *
   * @throws ElfFormatException where it is none
   */
  public static LoadedImage read(Path file) throws IOException {
    return read(file, 0);
  }

  /**
   * The program in a file that loads shared objects, placed at an address.
   *
   * @throws ElfFormatException where it is none
   */
  public static LoadedImage interpreter(Path file, long base) throws IOException {
    return read(file, base);
  }

  private static LoadedImage read(Path file, long base) throws IOException {
    BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
    Key key = new Key(file, attributes.size(), attributes.lastModifiedTime(), base);
    synchronized (READ) {
      LoadedImage known = READ.get(key);
      if (known == null) {
        known = LoadedImage.of(base == 0 ? ElfFile.parseShared(file) : placed(file, base));
        READ.put(key, known);
      }
      return known;
    }
  }

  private static ElfFile placed(Path file, long base) throws IOException {
    ElfFile.Limits limits = ElfFile.Limits.DEFAULT;
    return ElfFile.parse(
        file, new ElfFile.Limits(limits.fileBytesMax(), limits.memoryBytesMax(), base));
  }
}
