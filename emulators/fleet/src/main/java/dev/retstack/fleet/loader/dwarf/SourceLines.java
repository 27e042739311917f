package dev.retstack.fleet.loader.dwarf;

import dev.retstack.fleet.loader.elf.ElfFile;
import dev.retstack.fleet.loader.elf.ElfFormatException;
import dev.retstack.fleet.loader.elf.Symbol;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Where the functions of an image begin in their sources. A function has the first line that the
 * table gives its entry: that of its head, where later ones at the same address are of its body.
 *
 * <p>Files are named as the compiler noted them. DWARF 5 tells the folder it ran in, the versions
 * before do not: their files may be relative to it.
 */
public final class SourceLines {
  private static final SourceLines NONE = new SourceLines(List.of(), new int[0], new int[0], "");

  private final List<String> files;
  private final int[] fileOf;
  private final int[] lineOf;
  private final String trouble;

  private SourceLines(List<String> files, int[] fileOf, int[] lineOf, String trouble) {
    this.files = List.copyOf(files);
    this.fileOf = fileOf;
    this.lineOf = lineOf;
    this.trouble = trouble;
  }

  /**
   * Reads the line tables of an image for the functions that it has. A table that cannot be read
   * gives no line at all, and a sentence: {@link #trouble}.
   */
  public static SourceLines of(ElfFile elf) {
    if (elf.relocatable() || elf.section(LineReader.SECTION).isEmpty()) {
      return NONE; // of an object that was not linked, the addresses are open
    }
    long[] entries = elf.functions().stream().mapToLong(Symbol::address).toArray();
    try {
      LineReader reader = new LineReader(elf, entries);
      reader.read();
      return new SourceLines(reader.files(), reader.fileOf(), reader.lineOf(), "");
    } catch (ElfFormatException e) {
      return new SourceLines(List.of(), new int[0], new int[0], e.getMessage());
    }
  }

  /** The files in which functions begin, each once. */
  public List<String> files() {
    return files;
  }

  /** Number of functions whose line is known. */
  public int known() {
    return (int) Arrays.stream(lineOf).filter(line -> line > 0).count();
  }

  /**
   * The line of a function in its file, from 1; 0 where it is not known.
   *
   * @param function its index in {@link ElfFile#functions}
   */
  public int line(int function) {
    return function < lineOf.length ? lineOf[function] : 0;
  }

  /** The index of its file in {@link #files}, where the line is known. */
  public int file(int function) {
    return fileOf[function];
  }

  /** Why the image has no lines although it has a table of them. */
  public Optional<String> trouble() {
    return trouble.isEmpty() ? Optional.empty() : Optional.of(trouble);
  }
}
