package dev.retstack.machine.loader;

import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.ReturnReads;
import dev.retstack.machine.isa.call.SiteFacts.Where;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.Symbol;
import it.unimi.dsi.fastutil.longs.Long2BooleanMap;
import it.unimi.dsi.fastutil.longs.Long2BooleanOpenHashMap;
import java.util.List;
import java.util.Optional;

/**
 * A convention that an image uses.
 *
 * @param card how functions show that they are entered
 * @param countingFunctions what they call: one or more places, sorted, with the name that the card
 *     prefers; empty where they call nothing
 * @param sites where, sorted by address
 */
public record ActiveConvention(AbiCard card, List<Symbol> countingFunctions, List<CallSite> sites) {
  /** Bytes of a function that are searched for what reads return addresses. */
  private static final int READ_MOST = 64 << 10;

  /** Copies the lists. */
  public ActiveConvention {
    countingFunctions = List.copyOf(countingFunctions);
    sites = List.copyOf(sites);
  }

  /** Addresses of the sites, sorted. */
  public List<Long> callSites() {
    return sites.stream().map(CallSite::address).toList();
  }

  /** The site that is a call which returns to an address. */
  public Optional<CallSite> returningTo(long address) {
    int found = firstFrom(address); // the call is the one before it
    return found > 0 && sites.get(found - 1).after() == address
        ? Optional.of(sites.get(found - 1))
        : Optional.empty();
  }

  /** The site at an address. */
  public Optional<CallSite> at(long address) {
    int found = firstFrom(address);
    return found < sites.size() && sites.get(found).address() == address
        ? Optional.of(sites.get(found))
        : Optional.empty();
  }

  /** True for a site where nothing shows the return address: its function is left alone. */
  public boolean isLeftAlone(CallSite site) {
    return !site.ahead() && (site.facts().where() == Where.UNREAD || hasNoSlot(site));
  }

  private boolean hasNoSlot(CallSite site) {
    return card.slots().stream().noneMatch(slot -> slot.appliesTo(site.facts()));
  }

  /**
   * This convention, where functions whose sites do not show the return address, or only a copy of
   * it, are entered at their first instruction; and those that copy it for another purpose from the
   * register in which it comes.
   */
  ActiveConvention enteredAhead(ElfFile elf) {
    Long2BooleanMap copying = new Long2BooleanOpenHashMap();
    return new ActiveConvention(
        card,
        countingFunctions,
        sites.stream().map(site -> isAhead(site, elf, copying) ? ahead(site) : site).toList());
  }

  /**
   * @param copying what is known of functions by their addresses: each is read once
   */
  private boolean isAhead(CallSite site, ElfFile elf, Long2BooleanMap copying) {
    boolean isCall = site.after() != site.address();
    return isCall
        && (site.facts().copied()
            || isLeftAlone(site)
            || copying.computeIfAbsent(site.function(), _ -> copiesLink(site, elf)))
        && (site.function() != site.address() || elf.functionAt(site.address()).isPresent());
  }

  private boolean copiesLink(CallSite site, ElfFile elf) {
    boolean isInRegister = elf.isa().filter(isa -> !isa.pushesReturnAddress()).isPresent();
    return isInRegister
        && card.isBehindPrologue()
        && elf.functionAt(site.address())
            .filter(f -> reads(f, site, elf) == ReturnReads.Kind.OWN || walksInFront(f, site, elf))
            .isPresent();
  }

  /** True where it has read return addresses of its callers when it calls (clang's ARM). */
  private boolean walksInFront(Symbol function, CallSite site, ElfFile elf) {
    long start = function.address();
    int length = Math.clamp(site.address() - start, 0, READ_MOST);
    return card.reads().of(elf.codeOf(start, length), start, start, start + length)
        == ReturnReads.Kind.ALL;
  }

  /** What the function of a site reads. */
  public ReturnReads.Kind reads(Symbol function, CallSite site, ElfFile elf) {
    boolean isCall = card.siteTable() == AbiCard.SiteTable.NONE;
    return reads(card.reads(), function, isCall ? site.after() : function.address(), elf);
  }

  /** What a function reads, by the beginning of its code: a file may lie of the size. */
  static ReturnReads.Kind reads(ReturnReads reads, Symbol function, long from, ElfFile elf) {
    long start = function.address();
    int length = Math.clamp(function.size(), 0, READ_MOST);
    return reads.of(elf.codeOf(start, length), start, from, start + length);
  }

  private static CallSite ahead(CallSite site) {
    return new CallSite(site.address(), site.function(), site.after(), site.facts(), true);
  }

  /** Index of the first site at or above an address. */
  private int firstFrom(long address) {
    int low = 0;
    int high = sites.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (Long.compareUnsigned(sites.get(middle).address(), address) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
