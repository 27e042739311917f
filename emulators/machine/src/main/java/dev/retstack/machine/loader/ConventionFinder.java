package dev.retstack.machine.loader;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.machine.memory.Addresses;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import it.unimi.dsi.fastutil.longs.LongSet;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Finds the conventions of an image. A site belongs to the first card that takes it, and a function
 * that calls a counting function is entered there, not at its nops. In an object calls go nowhere
 * yet: only relocations show their targets.
 *
 * <p>A program may have an ordinary function by the name of a counting function. It is one if:
 *
 * <ul>
 *   <li>it is instrumented itself, by another convention;
 *   <li>only its own file knows it, and the program is instrumented by something else;
 *   <li>most functions that call it do so twice or more;
 *   <li>a function calls it that has called another counting function before;
 *   <li>a function calls it behind the nops of a table that also names functions without that call.
 * </ul>
 */
final class ConventionFinder {
  private final ElfFile elf;
  private final Isa isa;
  private final Imports imports;
  private final CallSiteScanner scanner;

  /** Sites of the cards with a table, and of those with a counting function. */
  private final Map<AbiCard, List<CallSite>> nops = new LinkedHashMap<>();

  private final Map<AbiCard, List<CallSite>> calls = new LinkedHashMap<>();
  private final Map<AbiCard, List<Symbol>> targets = new LinkedHashMap<>();

  private ConventionFinder(ElfFile elf, Isa isa, Imports imports) {
    this.elf = elf;
    this.isa = isa;
    this.imports = imports;
    scanner = new CallSiteScanner(elf, imports);
  }

  /**
   * The conventions of an image, the one with the most call sites first.
   *
   * @param relocated takes the addresses of the calls that relocations name
   */
  static List<ActiveConvention> find(ElfFile elf, Isa isa, Imports imports, LongSet relocated) {
    return new ConventionFinder(elf, isa, imports).find(relocated);
  }

  private List<ActiveConvention> find(LongSet relocated) {
    RelocationSites relocations = new RelocationSites(elf);
    NopSites tables = new NopSites(elf);
    for (AbiCard card : isa.conventions()) {
      nops.put(card, tables.find(card));
      targets.put(card, countingFunctions(card));
      calls.put(card, called(card));
    }
    for (AbiCard card : isa.conventions()) {
      if (targets.get(card).removeIf(target -> isOrdinary(card, target))) {
        calls.put(card, called(card));
      }
    }
    List<AbiCard> ordinary = isa.conventions().stream().filter(this::isOrdinary).toList();
    ordinary.forEach(card -> calls.put(card, List.of()));
    List<ActiveConvention> found = new ArrayList<>();
    LongSet taken = new LongOpenHashSet();
    LongSet calling = new LongOpenHashSet();
    for (AbiCard card : isa.conventions()) {
      List<CallSite> sites = confirmed(relocations.find(card), calls.get(card));
      sites.forEach(site -> relocated.add(site.address()));
      sites.addAll(calls.get(card));
      sites.removeIf(site -> !taken.add(site.address()));
      sites.forEach(site -> calling.add(site.function()));
      sites.sort(Comparator.comparing(CallSite::address, Long::compareUnsigned));
      Stream<Symbol> stubs =
          elf.relocatable() ? Stream.of() : imports.places(card.symbols()).stream();
      add(found, card, Stream.concat(targets.get(card).stream(), stubs).toList(), sites);
    }
    for (AbiCard card : isa.conventions()) {
      List<CallSite> sites = new ArrayList<>(nops.get(card));
      sites.removeIf(s -> calling.contains(s.function()) || !taken.add(s.address()));
      add(found, card, List.of(), sites);
    }
    if (!found.isEmpty()) {
      Set<String> names = new HashSet<>();
      isa.conventions().forEach(card -> names.addAll(card.symbols()));
      found.forEach(convention -> names.removeAll(convention.card().symbols()));
      imports.leaveAlone(names); // nobody calls them in the form of a card
    }
    found.sort(Comparator.comparingInt((ActiveConvention c) -> -c.sites().size()));
    return isa.atFirstInstruction().isEmpty()
        ? List.copyOf(found)
        : found.stream().map(one -> one.enteredAhead(elf)).toList();
  }

  /**
   * Sites by relocations, without those that stand where no call is in a function that was seen to
   * call elsewhere: a linker may leave relocations where the code was that it made shorter (mold).
   */
  private static List<CallSite> confirmed(List<CallSite> relocated, List<CallSite> seen) {
    LongSet addresses = new LongOpenHashSet();
    LongSet functions = new LongOpenHashSet();
    seen.forEach(site -> addresses.add(site.address()));
    seen.forEach(site -> functions.add(site.function()));
    List<CallSite> left = new ArrayList<>(relocated);
    left.removeIf(s -> functions.contains(s.function()) && !addresses.contains(s.address()));
    return left;
  }

  private static void add(
      List<ActiveConvention> found, AbiCard card, List<Symbol> targets, List<CallSite> sites) {
    if (!sites.isEmpty()) {
      found.add(new ActiveConvention(card, targets, sites));
    }
  }

  /** The calls of a card's targets, and of functions by their names in other files. */
  private List<CallSite> called(AbiCard card) {
    LongSet addresses =
        new LongOpenHashSet(targets.get(card).stream().map(Symbol::address).toList());
    boolean any = !addresses.isEmpty() || imports.has(card.symbols());
    return any && !elf.relocatable() ? scanner.find(card, addresses) : List.of();
  }

  private boolean isOrdinary(AbiCard card, Symbol target) {
    boolean instrumented =
        beside(card)
            .anyMatch(site -> site.function() == target.address() || target.holds(site.address()));
    boolean hasOther = imports.has(card.symbols()) || beside(card).findAny().isPresent();
    return instrumented || (target.binding() == Symbol.Binding.LOCAL && hasOther);
  }

  /** Sites of tables, and calls of other counting functions. */
  private Stream<CallSite> beside(AbiCard card) {
    return Stream.concat(nops.values().stream().flatMap(List::stream), others(card));
  }

  /** Calls of other counting functions. */
  private Stream<CallSite> others(AbiCard card) {
    return calls.entrySet().stream()
        .filter(other -> other.getKey().symbols().stream().noneMatch(card.symbols()::contains))
        .flatMap(other -> other.getValue().stream());
  }

  private boolean isOrdinary(AbiCard card) {
    List<CallSite> sites = calls.get(card);
    Long2IntOpenHashMap callsOf = new Long2IntOpenHashMap();
    for (CallSite site : sites) {
      if (SiteFinder.holder(elf, site.address()).isPresent()) {
        callsOf.addTo(site.function(), 1);
      }
    }
    long repeated = callsOf.values().intStream().filter(count -> count > 1).count();
    if (repeated > 0 && 2 * repeated >= callsOf.size()) {
      return true;
    }
    if (sites.isEmpty() || beside(card).findAny().isEmpty()) {
      return false;
    }
    Long2LongOpenHashMap first = new Long2LongOpenHashMap();
    sites.forEach(s -> first.mergeLong(s.function(), s.address(), Addresses::lower));
    boolean isSecond =
        others(card)
            .anyMatch(
                s ->
                    first.containsKey(s.function())
                        && Long.compareUnsigned(s.address(), first.get(s.function())) < 0);
    return isSecond || nops.values().stream().anyMatch(table -> isBehindNopsOfSome(first, table));
  }

  private static boolean isBehindNopsOfSome(Long2LongOpenHashMap calling, List<CallSite> table) {
    long both = table.stream().filter(s -> calling.containsKey(s.function())).count();
    return both > 0 && both < table.size();
  }

  private List<Symbol> countingFunctions(AbiCard card) {
    TreeMap<Long, Symbol> places = new TreeMap<>(Long::compareUnsigned);
    for (String name : card.symbols()) {
      elf.symbol(name)
          .map(s -> s.movedTo(s.entry()))
          .filter(s -> elf.executableAt(s.address()))
          .ifPresent(s -> places.putIfAbsent(s.address(), s));
    }
    return apart(places.values(), card);
  }

  /**
   * Keeps the functions that can be overwritten side by side. A linker's stub may stand so close in
   * front of the function that calls go to the stub only.
   */
  private List<Symbol> apart(Iterable<Symbol> sorted, AbiCard card) {
    List<Symbol> apart = new ArrayList<>();
    long free = 0;
    for (Symbol s : sorted) {
      if (Long.compareUnsigned(s.address(), free) >= 0) {
        apart.add(s);
        free = s.address() + card.entryStub(elf.secondInstructionSet(s.address())).length;
      }
    }
    return apart;
  }
}
