package dev.retstack.fleet.loader;

import dev.retstack.fleet.isa.AbiCard;
import dev.retstack.fleet.isa.BringUp;
import dev.retstack.fleet.isa.Isa;
import dev.retstack.fleet.isa.Isas;
import dev.retstack.schema.Image;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import it.unimi.dsi.fastutil.longs.LongSet;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** A program together with what the tracer knows of it: its ISA, and how it counts its calls. */
public final class LoadedImage {
  private final ElfFile elf;
  private final Isa isa;
  private final List<ActiveConvention> conventions;
  private final List<Long> callSites;

  private LoadedImage(ElfFile elf, Isa isa) {
    this.elf = elf;
    this.isa = isa;
    this.conventions = conventions(elf, isa);
    LongArrayList sites = new LongArrayList();
    conventions.forEach(c -> sites.addAll(c.callSites()));
    sites.addAll(elf.mcountLoc());
    this.callSites = sites.longStream().sorted().distinct().boxed().toList();
  }

  /**
   * Reads a file.
   *
   * @throws ElfFormatException where it is no program, or of an ISA that retstack does not trace
   * @throws IOException where it cannot be read
   */
  public static LoadedImage load(Path file) throws IOException {
    return of(ElfFile.parse(file));
  }

  /** Finds ISA, conventions and call sites; there may be none, see {@link #requireCallSites}. */
  public static LoadedImage of(ElfFile elf) throws ElfFormatException {
    Isa isa =
        Isas.find(elf.machine(), elf.wordBytes(), elf.bigEndian())
            .orElseThrow(
                () ->
                    new ElfFormatException(
                        elf.name(),
                        "e_machine",
                        elf.machine() + " (" + elf.machineName() + ")",
                        Isas.names(),
                        "build the program for one of these"));
    return new LoadedImage(elf, isa);
  }

  /**
   * This image, where calls of a counting function were found in it.
   *
   * @throws ElfFormatException which says how to compile, where there are none
   */
  public LoadedImage requireCallSites() throws ElfFormatException {
    if (!conventions.isEmpty()) {
      return this;
    }
    if (!elf.mcountLoc().isEmpty()) {
      throw new ElfFormatException(
          elf.name(),
          "every call site",
          "switched off (" + elf.mcountLoc().size() + " nops)",
          "calls of " + symbolNames(),
          "compile without -mnop-mcount");
    }
    if (elf.functions().isEmpty()) {
      throw new ElfFormatException(
          elf.name(), "the symbol table", "empty", "function symbols", "do not strip the program");
    }
    throw new ElfFormatException(
        elf.name(),
        "the number of call sites",
        "0 (no call sites in %s (%s))".formatted(elf.name(), isa.name()),
        "calls of " + symbolNames(),
        "compile with " + flags());
  }

  /**
   * Sites whose function copies its return address and returns by the original: its exits will be
   * missed. Sorted.
   */
  public List<Long> copiedReturns() {
    return conventions.stream()
        .flatMap(c -> c.sites().stream())
        .filter(site -> site.facts().copied())
        .map(CallSite::address)
        .sorted(Long::compareUnsigned)
        .toList();
  }

  /** The program as its file describes it. */
  public ElfFile elf() {
    return elf;
  }

  /** The instruction set. */
  public Isa isa() {
    return isa;
  }

  /** Conventions in use, the one with the most call sites first; empty without instrumentation. */
  public List<ActiveConvention> conventions() {
    return conventions;
  }

  /** Addresses of all call sites, those that are switched off included; sorted. */
  public List<Long> callSites() {
    return callSites;
  }

  /** Address of a symbol by name: what bring-up of a core asks for. */
  public OptionalLong address(String symbol) {
    return switch (symbol) {
      case BringUp.ENTRY -> OptionalLong.of(elf.entry());
      case BringUp.ENTRY_TOC -> elf.entryToc();
      default -> elf.symbol(symbol).stream().mapToLong(Symbol::address).findFirst();
    };
  }

  /**
   * True where a C library for Linux is linked in: the program expects a stack with arguments and
   * an answer to its system calls.
   */
  public boolean hostedOnLinux() {
    return elf.symbol("__libc_start_main").isPresent()
        || elf.symbol("__libc_start_call_main").isPresent()
        || elf.section(".note.ABI-tag").isPresent();
  }

  /**
   * What readers of the trace must know. The range of return_to_handler is left 0: the core fills
   * it in when it has placed its landing page.
   */
  public Image toSchema() {
    List<AbiCard> cards = conventions.stream().map(ActiveConvention::card).toList();
    return Image.newBuilder()
        .setBuildId(elf.buildId())
        .setName(elf.name())
        .setIsa(isa.name())
        .setConvention(cards.stream().map(AbiCard::name).collect(Collectors.joining("+")))
        .setWordBytes(isa.wordBytes())
        .setBigEndian(elf.bigEndian())
        .setFpCheck(cards.stream().anyMatch(AbiCard::fpCheck))
        .setRetpCheck(cards.stream().anyMatch(AbiCard::retpCheck))
        .setSymbols(
            elf.functions().stream()
                .map(s -> new dev.retstack.schema.Symbol(s.name(), s.address(), s.size()))
                .toList())
        .setMcountLoc(callSites)
        .setCopiedReturns(copiedReturns())
        .build();
  }

  /**
   * A site belongs to the first card that takes it, and a function that calls a counting function
   * is entered there, not at its nops.
   */
  private static List<ActiveConvention> conventions(ElfFile elf, Isa isa) {
    CallSiteScanner scanner = new CallSiteScanner(elf);
    NopSites nops = new NopSites(elf);
    List<ActiveConvention> found = new ArrayList<>();
    LongSet taken = new LongOpenHashSet();
    LongSet calling = new LongOpenHashSet();
    for (AbiCard card : isa.conventions()) {
      List<Symbol> targets = countingFunctions(elf, card);
      if (!targets.isEmpty()) {
        LongSet addresses = new LongOpenHashSet(targets.stream().map(Symbol::address).toList());
        List<CallSite> sites = new ArrayList<>(scanner.find(card, addresses));
        sites.removeIf(site -> !taken.add(site.address()));
        sites.forEach(site -> calling.add(site.function()));
        add(found, card, targets, sites);
      }
    }
    for (AbiCard card : isa.conventions()) {
      List<CallSite> sites = new ArrayList<>(nops.find(card));
      sites.removeIf(s -> calling.contains(s.function()) || !taken.add(s.address()));
      add(found, card, List.of(), sites);
    }
    found.sort(Comparator.comparingInt((ActiveConvention c) -> -c.sites().size()));
    return List.copyOf(found);
  }

  private static void add(
      List<ActiveConvention> found, AbiCard card, List<Symbol> targets, List<CallSite> sites) {
    if (!sites.isEmpty()) {
      found.add(new ActiveConvention(card, targets, sites));
    }
  }

  private static List<Symbol> countingFunctions(ElfFile elf, AbiCard card) {
    TreeMap<Long, Symbol> places = new TreeMap<>(Long::compareUnsigned);
    for (String name : card.symbols()) {
      elf.symbol(name)
          .map(s -> s.movedTo(s.entry()))
          .filter(s -> elf.executableAt(s.address()))
          .ifPresent(s -> places.putIfAbsent(s.address(), s));
    }
    return List.copyOf(places.values());
  }

  private String symbolNames() {
    return isa.conventions().stream()
        .flatMap(c -> c.symbols().stream().limit(1))
        .distinct()
        .collect(Collectors.joining(" or "));
  }

  private String flags() {
    return isa.conventions().stream()
        .map(AbiCard::flags)
        .distinct()
        .collect(Collectors.joining(" or "));
  }
}
