package dev.retstack.fleet.probe.site;

import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.loader.LibraryCalls;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.Symbol;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The code of shared objects in the memory of one core, by address. */
public final class SharedCode {
  /**
   * Code of one file.
   *
   * @param image the file, its addresses as the file has them
   * @param bias what is added to them
   * @param start first address in memory
   * @param end one past the last
   */
  public record Part(LoadedImage image, long bias, long start, long end) {
    boolean holds(long address) {
      return Long.compareUnsigned(address - start, end - start) < 0;
    }

    private boolean isOf(Part other) {
      return image.equals(other.image) && bias == other.bias;
    }
  }

  private final LoadedImage program;
  private final boolean libraryCalls;
  private final Part whole;
  private final List<Part> parts = new ArrayList<>();
  private final List<Part> words = new ArrayList<>();

  /** None yet, beside a program whose calls of libraries are none of functions. */
  public SharedCode(LoadedImage program) {
    this(program, false);
  }

  /**
   * None yet, beside a program.
   *
   * @param libraryCalls true where calls of functions in other files count as functions
   */
  public SharedCode(LoadedImage program, boolean libraryCalls) {
    this.program = program;
    this.libraryCalls = libraryCalls;
    whole = new Part(program, 0, 0, 0);
  }

  /** Another one. */
  public void add(Part part) {
    parts.add(part);
    List<LibraryCalls.Place> calledByAddress = words(part);
    if (!calledByAddress.isEmpty()) {
      long start = calledByAddress.getFirst().site();
      long end = calledByAddress.getLast().site() + program.isa().wordBytes();
      Part all = new Part(part.image, part.bias, start, end);
      if (!words.contains(all)) {
        words.add(all);
      }
    }
  }

  /** What begins in a range is gone. */
  public void remove(long base, long length) {
    parts.removeIf(part -> Long.compareUnsigned(part.start - base, length) < 0);
    words.removeIf(some -> parts.stream().noneMatch(part -> part.isOf(some)));
  }

  /** Of each shared object the words by which functions are called, where such calls count. */
  public List<Part> words() {
    return List.copyOf(words);
  }

  /** The one at an address; the program itself where there is none. */
  Part at(long address) {
    for (int i = 0; i < parts.size(); i++) { // asked for each new site: few, and nearly always none
      if (parts.get(i).holds(address)) {
        return parts.get(i);
      }
    }
    for (int i = 0; i < words.size(); i++) {
      if (words.get(i).holds(address)) {
        return words.get(i);
      }
    }
    return whole;
  }

  /** The card of calls of functions in other files; empty where they do not count. */
  Optional<AbiCard> libraryCallCard() {
    return libraryCalls ? LibraryCalls.card(program.isa()) : Optional.empty();
  }

  /** The function of another file that is entered at an address, where such count. */
  Optional<Symbol> libraryCall(long address) {
    Part part = at(address);
    return libraryCalls ? part.image.libraryCalls().at(address - part.bias) : Optional.empty();
  }

  /** The places of the program's own at which functions of other files are entered. */
  List<LibraryCalls.Place> libraryCalls() {
    return libraryCalls ? program.libraryCalls().places() : List.of();
  }

  /** The same of a part, if it is instrumented: where they stand in memory. */
  List<LibraryCalls.Place> libraryCalls(Part part) {
    return counts(part)
        ? part.image.libraryCalls().places().stream()
            .map(place -> moved(place, part.bias))
            .filter(place -> part.holds(place.site()))
            .toList()
        : List.of();
  }

  /** Words of a part's file that get addresses of functions of other files, where these count. */
  List<LibraryCalls.Place> words(Part part) {
    return counts(part)
        ? part.image.libraryCalls().words().stream().map(place -> moved(place, part.bias)).toList()
        : List.of();
  }

  /** The code of the program. */
  List<Part> wholeProgram() {
    return program.elf().codePages().stream()
        .map(pages -> new Part(program, 0, pages.address(), pages.address() + pages.size()))
        .toList();
  }

  private boolean counts(Part part) {
    return libraryCalls && !part.image.conventions().isEmpty();
  }

  private static LibraryCalls.Place moved(LibraryCalls.Place place, long bias) {
    return new LibraryCalls.Place(place.symbol().movedBy(bias), place.site() + bias);
  }

  /** True where two addresses are of one function. */
  boolean sameFunction(long one, long other) {
    Part part = at(one);
    if (!part.equals(at(other))) {
      return false;
    }
    ElfFile elf = part.image.elf();
    return elf.functionAt(one - part.bias)
        .filter(f -> elf.functionAt(other - part.bias).filter(f::equals).isPresent())
        .isPresent();
  }

  /** The program. */
  LoadedImage program() {
    return program;
  }
}
