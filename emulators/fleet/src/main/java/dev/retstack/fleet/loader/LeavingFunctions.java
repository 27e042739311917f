package dev.retstack.fleet.loader;

import dev.retstack.fleet.loader.elf.ElfFile;
import dev.retstack.fleet.loader.elf.Symbol;
import java.util.List;

/**
 * Functions of a file that leave the frames of their callers or look for them, by their names.
 *
 * @param unwinders read return addresses, and must see the true ones
 * @param askers read their own return address, and must see the true one
 * @param longjmps go back to where setjmp was called
 */
public record LeavingFunctions(List<Symbol> unwinders, List<Symbol> askers, List<Symbol> longjmps) {
  /**
   * Functions that read the return addresses of the frames below them: those by which exceptions
   * are thrown and backtraces taken (Itanium C++ ABI, "Exception Handling", level I), and glibc's
   * {@code backtrace}.
   */
  private static final List<String> UNWINDERS =
      List.of(
          "_Unwind_RaiseException",
          "_Unwind_Resume",
          "_Unwind_Resume_or_Rethrow",
          "_Unwind_ForcedUnwind",
          "_Unwind_Backtrace",
          "backtrace");

  /** Functions of C libraries that ask by their return address which file calls them. */
  private static final List<String> ASKERS =
      List.of("dlopen", "dlmopen", "dlsym", "dlvsym", "dl_iterate_phdr");

  /**
   * How the names end of functions that go back to where setjmp was called: {@code siglongjmp},
   * {@code __longjmp} and {@code ____longjmp_chk} are glibc's.
   */
  private static final List<String> LONGJMPS = List.of("longjmp", "longjmp_chk");

  public LeavingFunctions {
    unwinders = List.copyOf(unwinders);
    askers = List.copyOf(askers);
    longjmps = List.copyOf(longjmps);
  }

  /** Those of a program or of a shared object. */
  public static LeavingFunctions of(ElfFile elf) {
    return new LeavingFunctions(
        named(elf, UNWINDERS),
        named(elf, ASKERS),
        elf.functions().stream()
            .filter(symbol -> symbol.kind() == Symbol.Kind.FUNCTION)
            .filter(f -> LONGJMPS.stream().anyMatch(f.name()::endsWith))
            .toList());
  }

  private static List<Symbol> named(ElfFile elf, List<String> names) {
    return names.stream()
        .flatMap(name -> elf.symbol(name).stream())
        .filter(symbol -> symbol.kind() == Symbol.Kind.FUNCTION)
        .toList();
  }
}
