package dev.retstack.fleet.loader;

import dev.retstack.fleet.isa.AbiCard;
import java.util.List;

/**
 * A convention that an image uses.
 *
 * @param card how functions tell that they are entered
 * @param countingFunctions what they call: one or more places, sorted, with the name that the card
 *     prefers; empty where they call nothing
 * @param sites where, sorted by address
 */
public record ActiveConvention(AbiCard card, List<Symbol> countingFunctions, List<CallSite> sites) {

  /** Copies the lists. */
  public ActiveConvention {
    countingFunctions = List.copyOf(countingFunctions);
    sites = List.copyOf(sites);
  }

  /** Addresses of the sites, sorted. */
  public List<Long> callSites() {
    return sites.stream().map(CallSite::address).toList();
  }
}
