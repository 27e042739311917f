package dev.retstack.machine.loader.dwarf;

import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.machine.loader.elf.Symbol;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Where the functions of an image begin in their sources. A function has the line of its
 * declaration, where the file describes its functions. Else it has the first line that the table
 * gives its entry: that of its head, where later ones at the same address are of its body.
 *
 * <p>Files are named as the compiler noted them. DWARF 5 has the folder it ran in, earlier versions
 * do not: their files may be relative to it.
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
   * Reads the line tables and the declarations of the functions that an image has. A table that
   * cannot be read gives no line at all, declarations that cannot be read leave the lines of the
   * table, and either gives a sentence: {@link #trouble}.
   */
  public static SourceLines of(ElfFile elf) {
    if (elf.relocatable() || DebugSection.find(elf, LineReader.SECTION).isEmpty()) {
      return NONE; // of an object that was not linked, the addresses are open
    }
    long[] entries = elf.functions().stream().mapToLong(Symbol::address).toArray();
    try {
      LineReader rows = new LineReader(elf, entries);
      rows.read();
      return declared(elf, rows, entries);
    } catch (ElfFormatException e) {
      return new SourceLines(List.of(), new int[0], new int[0], e.getMessage());
    }
  }

  private static SourceLines declared(ElfFile elf, LineReader rows, long[] entries) {
    String trouble = "";
    try {
      DeclarationReader declarations = new DeclarationReader(elf, rows, entries);
      declarations.read();
      declarations.replace(rows.fileOf(), rows.lineOf());
    } catch (ElfFormatException e) {
      trouble = e.getMessage();
    }
    return of(rows.names().files(), rows.fileOf(), rows.lineOf(), trouble);
  }

  /** Keeps the files in which functions begin. */
  private static SourceLines of(List<String> all, int[] fileOf, int[] lineOf, String trouble) {
    int[] kept = new int[all.size()];
    List<String> files = new ArrayList<>();
    for (int i = 0; i < lineOf.length; i++) {
      if (lineOf[i] > 0) {
        if (kept[fileOf[i]] == 0) {
          files.add(all.get(fileOf[i]));
          kept[fileOf[i]] = files.size();
        }
        fileOf[i] = kept[fileOf[i]] - 1;
      }
    }
    return new SourceLines(files, fileOf, lineOf, trouble);
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

  /** What of lines or declarations cannot be read, and which lines there are therefore. */
  public Optional<String> trouble() {
    return trouble.isEmpty() ? Optional.empty() : Optional.of(trouble);
  }
}
