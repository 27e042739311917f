package dev.retstack.machine.loader;

import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.Symbol;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Functions of a file that leave the frames of their callers or look for them, by their names.
 *
 * @param unwinders read return addresses, and must see the true ones
 * @param askers read their own return address, and must see the true one
 * @param longjmps go back to where setjmp was called
 * @param lookups say which code is at an address, their first argument
 */
public record LeavingFunctions(
    List<Symbol> unwinders, List<Symbol> askers, List<Symbol> longjmps, List<Symbol> lookups) {
  /**
   * Functions that read the return addresses of the frames below them: those by which exceptions
   * are thrown and backtraces taken (Itanium C++ ABI, "Exception Handling", level I), glibc's
   * {@code backtrace}, and those of libunwind.
   */
  private static final List<String> UNWINDERS =
      List.of(
          "_Unwind_RaiseException",
          "_Unwind_Resume",
          "_Unwind_Resume_or_Rethrow",
          "_Unwind_ForcedUnwind",
          "_Unwind_Backtrace",
          "backtrace",
          "unw_backtrace",
          "unw_backtrace2",
          "unw_step",
          "__unw_step");

  /** Steps of libunwind that have the ISA in their names: {@code _ULx86_64_step}. */
  private static final Pattern STEP = Pattern.compile("_UL?[a-z0-9]+(_64)?_step");

  /**
   * Functions of C libraries that read their return address. Most find by it which file calls them.
   * {@code getcontext} keeps it in a context, which may be resumed when its frame is gone.
   */
  private static final List<String> ASKERS =
      List.of(
          "dlopen",
          "dlmopen",
          "dlsym",
          "__dlsym_time64",
          "dlvsym",
          "dlinfo",
          "dl_iterate_phdr",
          "getcontext",
          "__novec_getcontext");

  /** Functions of C libraries that programs ask for the name of a return address. */
  private static final List<String> LOOKUPS = List.of("dladdr", "dladdr1");

  /**
   * How the names end of functions that go back to where setjmp was called: {@code siglongjmp},
   * {@code __longjmp} and {@code ____longjmp_chk} are glibc's.
   */
  private static final List<String> LONGJMPS = List.of("longjmp", "longjmp_chk");

  /**
   * How the names begin of routines by which several functions return: thunks of gcc's
   * -mfunction-return, millicode of riscv and ppc that restores registers, epilogues that clang and
   * gcc share at -Oz and -Os.
   */
  private static final List<String> RETURNING =
      List.of(
          "__x86_return_thunk",
          "__riscv_restore_",
          "_restgpr",
          "_restfpr",
          "_rest32gpr",
          "_restvr",
          "OUTLINED_FUNCTION_");

  public LeavingFunctions {
    unwinders = List.copyOf(unwinders);
    askers = List.copyOf(askers);
    longjmps = List.copyOf(longjmps);
    lookups = List.copyOf(lookups);
  }

  /** Leaving functions of a program or shared object, without those that lack the property. */
  static LeavingFunctions of(ElfFile elf, Predicate<Symbol> wanted) {
    return new LeavingFunctions(
        functions(
            Stream.concat(
                UNWINDERS.stream().flatMap(name -> elf.symbol(name).stream()),
                elf.functions().stream().filter(f -> STEP.matcher(f.name()).matches())),
            wanted),
        functions(ASKERS.stream().flatMap(name -> elf.symbol(name).stream()), wanted),
        functions(
            elf.functions().stream().filter(f -> LONGJMPS.stream().anyMatch(f.name()::endsWith)),
            wanted),
        functions(LOOKUPS.stream().flatMap(name -> elf.symbol(name).stream()), wanted));
  }

  /** True for a routine that returns in place of the function that jumped to it. */
  public static boolean returnsForOthers(Symbol function) {
    return RETURNING.stream().anyMatch(function.name()::startsWith);
  }

  private static List<Symbol> functions(Stream<Symbol> symbols, Predicate<Symbol> wanted) {
    return symbols.filter(symbol -> symbol.kind() == Symbol.Kind.FUNCTION).filter(wanted).toList();
  }
}
