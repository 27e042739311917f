package dev.retstack.fleet.isa;

import java.util.Optional;

/**
 * Reads the code around a call site. Needed where conventions share a counting function and differ
 * in the code before the call, and where only that code tells where the return address is.
 */
@FunctionalInterface
public interface Prologue {
  /** Says nothing, and takes every site. */
  Prologue ANY = (code, function, site, after) -> Optional.of(SiteFacts.NONE);

  /**
   * Reads it.
   *
   * @param code of the program
   * @param function address of the function's first instruction; {@code site} where no symbol tells
   * @param site address of the call, or of the first nop
   * @param after address behind the call
   * @return empty where the site is not of this convention
   */
  Optional<SiteFacts> scan(Code code, long function, long site, long after);
}
