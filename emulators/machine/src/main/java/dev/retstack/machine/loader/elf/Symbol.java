package dev.retstack.machine.loader.elf;

/**
 * A named address of an image.
 *
 * @param name as in the symbol table, control characters replaced
 * @param address where it is loaded
 * @param size bytes, 0 = unknown
 * @param kind what the name stands for
 * @param binding how far the name reaches
 * @param localEntry bytes from {@code address} to where calls of the same program enter: not 0
 *     where a function begins with code for calls by pointer only (ppc64 ELFv2)
 */
public record Symbol(
    String name, long address, long size, Kind kind, Binding binding, int localEntry) {

  /** The first instruction that every call of the function comes to. */
  public long entry() {
    return address + localEntry;
  }

  /** This symbol at another address. */
  public Symbol movedTo(long elsewhere) {
    return new Symbol(name, elsewhere, size, kind, binding, 0);
  }

  /** True where an address lies in it; one without a size holds its first byte. */
  public boolean holds(long pc) {
    return Long.compareUnsigned(pc - address, Math.max(1, size)) < 0;
  }

  /** This symbol in a file that stands {@code bias} bytes higher. */
  public Symbol movedBy(long bias) {
    return new Symbol(name, address + bias, size, kind, binding, localEntry);
  }

  /** This symbol with this length. */
  Symbol cutTo(long bytes) {
    return new Symbol(name, address, bytes, kind, binding, localEntry);
  }

  /** What a name stands for ({@code STT_*}). */
  public enum Kind {
    /** Not said: a label of hand-written assembler or of a linker script. */
    NONE,
    /** Data. */
    OBJECT,
    /** A function. */
    FUNCTION,
    /** A function that picks another at start-up ({@code STT_GNU_IFUNC}). */
    INDIRECT_FUNCTION;

    boolean isFunction() {
      return this == FUNCTION || this == INDIRECT_FUNCTION;
    }
  }

  /** How far a name reaches ({@code STB_*}), the strongest first. */
  public enum Binding {
    /** The whole program. */
    GLOBAL,
    /** The whole program, unless another defines it. */
    WEAK,
    /** The symbol is known in its file only. */
    LOCAL
  }
}
