package dev.retstack.fleet.probe.site;

import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.fleet.loader.elf.ElfFile;
import java.util.ArrayList;
import java.util.List;

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
  private final Part whole;
  private final List<Part> parts = new ArrayList<>();

  /** None yet, beside a program. */
  public SharedCode(LoadedImage program) {
    this.program = program;
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
