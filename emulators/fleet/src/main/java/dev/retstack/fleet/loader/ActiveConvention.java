package dev.retstack.fleet.loader;

import dev.retstack.fleet.isa.AbiCard;
import java.util.List;

/**
 * A convention that an image uses, with the counting function in it.
 *
 * @param card how the counting function is called
 * @param countingFunctions where it is: one or more places, sorted; the name that the card prefers
 * @param callSites addresses of the calls, sorted
 */
public record ActiveConvention(AbiCard card, List<Symbol> countingFunctions, List<Long> callSites) {

  /** Copies the lists. */
  public ActiveConvention {
    countingFunctions = List.copyOf(countingFunctions);
    callSites = List.copyOf(callSites);
  }
}
