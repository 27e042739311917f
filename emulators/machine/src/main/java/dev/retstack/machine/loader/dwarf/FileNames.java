package dev.retstack.machine.loader.dwarf;

import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.schema.chunk.Chunks;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The files that units name, each once, and the numbers that they have here. */
final class FileNames {
  /** Characters of the names of all files at most; a Linux kernel has some 200,000. */
  private static final int FILE_TEXT_MAX = 4 << 20;

  /** Bytes of names that are looked at, since each unit names its files again. */
  private static final int TEXT_READ_MAX = 256 << 20;

  private final ElfFile elf;

  /** The sections of names, read when one names a file. */
  private final byte[][] texts = new byte[3][];

  private final List<String> files = new ArrayList<>();
  private final Map<String, Integer> numbers = new HashMap<>();
  private int fileText;
  private int textRead;

  /**
   * @param table {@code .debug_line}
   */
  FileNames(ElfFile elf, byte[] table) {
    this.elf = elf;
    this.texts[LineHeader.IN_LINE] = table;
  }

  List<String> files() {
    return files;
  }

  /**
   * The number of a file of a unit in {@link #files}; negative where the unit has none such.
   *
   * @param in where a message says that it was read
   */
  int number(LineHeader header, long inUnit, DwarfBytes in) throws ElfFormatException {
    int first = header.tellsFirstFolder() ? 0 : 1;
    if (inUnit < first || inUnit >= header.fileCount()) {
      return -1;
    }
    int file = (int) inUnit;
    if (header.numberOf[file] == 0) {
      String path = path(header, file, in);
      Integer known = numbers.get(path);
      if (known == null) {
        fileText += path.length();
        if (fileText > FILE_TEXT_MAX) {
          throw in.refuse("the length of all names of files", "larger", "at most " + FILE_TEXT_MAX);
        }
        known = files.size();
        files.add(path);
        numbers.put(path, known);
      }
      header.numberOf[file] = known + 1;
    }
    return header.numberOf[file] - 1;
  }

  private String path(LineHeader header, int inUnit, DwarfBytes in) throws ElfFormatException {
    String path = text(header.file(inUnit), in);
    int folder = header.folderOf(inUnit);
    if (folder >= 0 && folder < header.folderCount()) {
      path =
          within(
              folder > 0 || header.tellsFirstFolder() ? text(header.folder(folder), in) : "", path);
    }
    if (header.tellsFirstFolder() && header.folderCount() > 0 && !isAbsolute(path)) {
      path = within(text(header.folder(0), in), path);
    }
    if (path.length() > Chunks.FILE_MAX) {
      throw in.refuse(
          "the name of a file", path.length() + " characters", "at most " + Chunks.FILE_MAX);
    }
    return path;
  }

  private static String within(String folder, String path) {
    return folder.isEmpty() || isAbsolute(path) ? path : folder + "/" + path;
  }

  /** Whether a path is absolute on Unix or on Windows. */
  private static boolean isAbsolute(String path) {
    return path.startsWith("/")
        || path.startsWith("\\")
        || (path.length() > 1 && path.charAt(1) == ':');
  }

  private String text(long place, DwarfBytes in) throws ElfFormatException {
    int where = (int) (place >>> Integer.SIZE);
    if (texts[where] == null) {
      texts[where] =
          DebugSection.read(
              elf,
              where == LineHeader.IN_STR ? ".debug_str" : ".debug_line_str",
              DebugSection.NO_LINES);
    }
    byte[] bytes = texts[where];
    int start = (int) place;
    int end = start;
    while (end < bytes.length && bytes[end] != 0 && end - start <= Chunks.FILE_MAX) {
      end++;
    }
    if (end >= bytes.length || bytes[end] != 0) {
      throw in.refuse(
          "the name of a file",
          "at 0x%x without an end".formatted(start),
          "at most %d bytes and a zero".formatted(Chunks.FILE_MAX));
    }
    textRead += end - start;
    if (textRead > TEXT_READ_MAX) {
      throw in.refuse("the length of all names of files", "larger", "at most " + TEXT_READ_MAX);
    }
    return new String(bytes, start, end - start, StandardCharsets.UTF_8);
  }
}
