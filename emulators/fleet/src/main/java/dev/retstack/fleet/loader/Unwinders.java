package dev.retstack.fleet.loader;

import java.util.List;

/**
 * The functions of an image that read the return addresses of the frames below them: those by which
 * exceptions are thrown and backtraces taken (Itanium C++ ABI, "Exception Handling", level I), and
 * glibc's {@code backtrace}. A file without symbols has none.
 */
final class Unwinders {
  private static final List<String> NAMES =
      List.of(
          "_Unwind_RaiseException",
          "_Unwind_Resume",
          "_Unwind_Resume_or_Rethrow",
          "_Unwind_ForcedUnwind",
          "_Unwind_Backtrace",
          "backtrace");

  private Unwinders() {}

  /** Those of an image, but functions that are instrumented: these are the program's own. */
  static List<Symbol> of(ElfFile elf, List<Long> sites) {
    return NAMES.stream()
        .flatMap(name -> elf.symbol(name).stream())
        .filter(symbol -> symbol.kind() == Symbol.Kind.FUNCTION)
        .filter(symbol -> sites.stream().noneMatch(site -> contains(symbol, site)))
        .toList();
  }

  private static boolean contains(Symbol function, long address) {
    return Long.compareUnsigned(address - function.address(), Math.max(1, function.size())) < 0;
  }
}
