package dev.retstack.machine.isa.call;

import java.util.Optional;
import java.util.function.LongPredicate;
import java.util.function.LongToIntFunction;

/**
 * Reads the code around a call site. Conventions that share a counting function differ in the code
 * before the call. In some of them only that code shows where the return address is.
 */
@FunctionalInterface
public interface Prologue {
  /** Says nothing, and takes every site. */
  Prologue ANY = (code, function, site, after) -> Optional.of(SiteFacts.NONE);

  /**
   * This prologue, only for sites that are called with the return address at hand: gcc passes it,
   * clang calls the counting function as any other. The load of its register may stand apart from
   * the call.
   *
   * @param step bytes of the instruction that has this code
   * @param loads true for the code of an instruction that writes the register
   * @param wanted true: only sites that are called so; false: only the others
   */
  default Prologue passingParent(LongToIntFunction step, LongPredicate loads, boolean wanted) {
    return (code, function, site, after) -> {
      boolean passes = function == site; // nothing is known
      for (long at = function; Long.compareUnsigned(at, site) < 0 && !passes; ) {
        long there = code.at(at);
        passes = loads.test(there);
        at += step.applyAsInt(there);
      }
      return passes == wanted ? scan(code, function, site, after) : Optional.empty();
    };
  }

  /**
   * Reads the code around a site.
   *
   * @param code of the program
   * @param function address of the function's first instruction; {@code site} where no symbol has
   *     it
   * @param site address of the call, or of the first nop
   * @param after address behind the call
   * @return empty where the site is not of this convention
   */
  Optional<SiteFacts> scan(Code code, long function, long site, long after);
}
