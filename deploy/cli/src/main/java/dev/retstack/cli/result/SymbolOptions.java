package dev.retstack.cli.result;

import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.FileTrouble;
import dev.retstack.cli.command.Terminal;
import dev.retstack.graph.check.Count;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.graph.symbol.SourceLine;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.machine.loader.dwarf.SourceLines;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.machine.loader.elf.Symbol;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Option;

/** {@code --symbols}: names for the functions of programs that were stripped. */
public final class SymbolOptions {
  private static final byte[] MAGIC = {0x7f, 'E', 'L', 'F'};

  @Option(
      names = "--symbols",
      paramLabel = "FILE|DIR",
      description =
          "Names for functions of stripped programs: the ELF file before strip, or what objcopy"
              + " --only-keep-debug made of it; or a folder of such files. They are matched by"
              + " build-id. May be repeated.")
  private List<Path> given = List.of();

  /** Images without names that a sentence lists. */
  private static final int NAMED = 3;

  /** Where the names of a build-id come from. */
  private final Map<String, Path> files = new LinkedHashMap<>();

  boolean isGiven() {
    return !given.isEmpty();
  }

  /**
   * Reads the files.
   *
   * @throws CommandException where one cannot be read, is no ELF file, or has no names
   */
  public LateSymbols read() {
    Map<String, SymbolTable> functions = new LinkedHashMap<>();
    for (Path path : given) {
      if (Files.isDirectory(path)) {
        elfFiles(path).forEach(file -> addIfAny(file, functions));
      } else if (!add(file(path), path, functions)) {
        throw CommandException.badInput(
            "--symbols: %s names no function: give the file as it was before strip"
                .formatted(path));
      }
    }
    if (!given.isEmpty() && functions.isEmpty()) {
      throw CommandException.badInput(
          "--symbols: no file in %s names a function"
              .formatted(given.stream().map(Path::toString).collect(Collectors.joining(", "))));
    }
    return new LateSymbols(functions);
  }

  /**
   * Says which images got names; where none are given, which have none.
   *
   * @throws CommandException where none did: the files are of other programs
   */
  void noteNames(Collection<ImageInfo> images, Terminal terminal) {
    if (given.isEmpty()) {
      noteNameless(images, terminal);
      return;
    }
    List<ImageInfo> named = images.stream().filter(image -> files.containsKey(image.id())).toList();
    for (ImageInfo image : named) {
      terminal.note(
          "%s named by %s"
              .formatted(
                  Count.grouped(
                      image.symbols().size(),
                      "function of %s is".formatted(image.name()),
                      "functions of %s are".formatted(image.name())),
                  files.get(image.id())));
    }
    if (named.isEmpty()) {
      throw CommandException.badInput(
          "--symbols: no build-id of %s is that of an image of the trace: %s"
              .formatted(
                  files.entrySet().stream()
                      .map(file -> "%s (%s)".formatted(file.getValue(), file.getKey()))
                      .collect(Collectors.joining(", ")),
                  images.stream()
                      .map(image -> "%s (%s)".formatted(image.name(), image.id()))
                      .collect(Collectors.joining(", "))));
    }
  }

  private static void noteNameless(Collection<ImageInfo> images, Terminal terminal) {
    List<String> nameless =
        images.stream()
            .filter(image -> image.symbols().size() == 0)
            .map(ImageInfo::name)
            .distinct()
            .sorted()
            .toList();
    if (!nameless.isEmpty()) {
      terminal.note(
          "no names of functions in %s: stripped; --symbols FILE gives them, of the file before strip or its debug file"
              .formatted(
                  String.join(", ", nameless.subList(0, Math.min(NAMED, nameless.size())))
                      + (nameless.size() > NAMED
                          ? " and %d more".formatted(nameless.size() - NAMED)
                          : "")));
    }
  }

  /** Says what was read, where nobody knows yet which images come. */
  public void noteNames(Terminal terminal) {
    files.forEach((id, file) -> terminal.note("names of build-id %s from %s".formatted(id, file)));
  }

  private static ElfFile file(Path path) {
    try {
      return ElfFile.parse(path);
    } catch (ElfFormatException e) {
      throw CommandException.badInput("--symbols: " + e.getMessage(), e);
    } catch (IOException e) {
      throw FileTrouble.reading(path, e);
    }
  }

  /** Skips files of a folder that are not programs. */
  private void addIfAny(Path path, Map<String, SymbolTable> functions) {
    try {
      add(ElfFile.parse(path), path, functions);
    } catch (ElfFormatException _) {
      // an object file, a script's cache: it names no program
    } catch (IOException e) {
      throw FileTrouble.reading(path, e);
    }
  }

  private boolean add(ElfFile elf, Path path, Map<String, SymbolTable> functions) {
    SymbolTable table = functions(elf);
    if (table.size() == 0) {
      return false;
    }
    SymbolTable before = functions.get(elf.buildId());
    if (before == null || before.size() < table.size()) { // the stripped one may lie beside it
      functions.put(elf.buildId(), table);
      files.put(elf.buildId(), path);
    }
    return true;
  }

  /** The names of a file's functions, and where they begin in their sources. */
  static SymbolTable functions(ElfFile elf) {
    SourceLines lines = SourceLines.of(elf);
    List<SymbolTable.Symbol> functions = new ArrayList<>();
    for (Symbol s : elf.functions()) {
      int i = functions.size();
      int line = lines.line(i);
      SourceLine source =
          line == 0 ? SourceLine.NONE : new SourceLine(lines.files().get(lines.file(i)), line);
      functions.add(new SymbolTable.Symbol(elf.name(s), s.address(), s.size(), source));
    }
    return SymbolTable.of(functions);
  }

  private static List<Path> elfFiles(Path folder) {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(Files::isRegularFile).filter(SymbolOptions::isElf).sorted().toList();
    } catch (IOException e) {
      throw CommandException.badInput(
          FileTrouble.whyNotFolder("read", folder, e) + "; let this user read it", e);
    }
  }

  private static boolean isElf(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      return Arrays.equals(in.readNBytes(MAGIC.length), MAGIC);
    } catch (IOException _) {
      return false;
    }
  }
}
