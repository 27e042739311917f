package dev.retstack.fleet.probe.site;

import dev.retstack.fleet.isa.AbiCard;
import dev.retstack.fleet.loader.LibraryCalls;
import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.fleet.loader.elf.ElfFile;
import dev.retstack.fleet.loader.elf.Symbol;
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
  }

  private final LoadedImage program;
  private final boolean libraryCalls;
  private final Part whole;
  private final List<Part> parts = new ArrayList<>();

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
  }

  /** What begins in a range is gone. */
  public void remove(long base, long length) {
    parts.removeIf(part -> Long.compareUnsigned(part.start - base, length) < 0);
  }

  /** The one at an address; the program itself where there is none. */
  Part at(long address) {
    for (int i = 0; i < parts.size(); i++) { // asked for each new site: few, and nearly always none
      if (parts.get(i).holds(address)) {
        return parts.get(i);
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
    return libraryCalls
        ? part.image.libraryCalls().at(address - part.bias).map(place -> place.symbol())
        : Optional.empty();
  }

  /** The places of the program's own at which functions of other files are entered. */
  List<LibraryCalls.Place> libraryCalls() {
    return libraryCalls ? program.libraryCalls().places() : List.of();
  }

  /** The same of a part, if it is instrumented: where they stand in memory. */
  List<LibraryCalls.Place> libraryCalls(Part part) {
    if (!libraryCalls || part.image.conventions().isEmpty()) {
      return List.of();
    }
    return part.image.libraryCalls().places().stream()
        .map(
            place ->
                new LibraryCalls.Place(place.symbol().movedBy(part.bias), place.site() + part.bias))
        .filter(place -> part.holds(place.site()))
        .toList();
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
