package dev.retstack.machine.loader;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.ReturnReads;
import dev.retstack.machine.isa.system.ElfAbi.ForeignAbi;
import dev.retstack.machine.loader.dwarf.SourceLines;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.schema.Image;
import dev.retstack.schema.SourceLine;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import it.unimi.dsi.fastutil.longs.LongSet;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * A program or a shared object with what the tracer knows about it: its ISA, and its conventions
 * with their call sites.
 */
public final class LoadedImage {
  private final ElfFile elf;
  private final Isa isa;
  private final List<ActiveConvention> conventions;
  private final List<Long> callSites;
  private final LeavingFunctions leaving;
  private final PatchSites patchSites;
  private final LongSet relocatedSites = new LongOpenHashSet();
  private final Imports imports;
  private SourceLines lines;
  private MessageRoom room;

  /** Read when it is asked for: null before. */
  private volatile LibraryCalls libraryCalls;

  private LoadedImage(ElfFile elf, Isa isa) {
    this.elf = elf;
    this.isa = isa;
    this.imports = new Imports(elf, isa);
    this.conventions = ConventionFinder.find(elf, isa, imports, relocatedSites);
    LongArrayList sites = new LongArrayList();
    conventions.forEach(c -> sites.addAll(c.callSites()));
    sites.addAll(elf.mcountLoc());
    this.patchSites = PatchSites.of(this);
    this.callSites = sites.longStream().sorted().distinct().boxed().toList();
    this.leaving =
        LeavingFunctions.of(elf, function -> !isInstrumented(function)); // the program's own
  }

  /** True where a function has a call site, by its addresses in the file. */
  public boolean isInstrumented(Symbol function) {
    int found = Collections.binarySearch(callSites, function.address());
    int first = found < 0 ? -found - 1 : found;
    return first < callSites.size() && function.holds(callSites.get(first));
  }

  /** What a function reads that has no call site, by its addresses in the file. */
  public ReturnReads.Kind readsUntraced(Symbol function) {
    return isInstrumented(function)
        ? ReturnReads.Kind.NONE
        : ActiveConvention.reads(isa.reads(), function, function.address(), elf);
  }

  /**
   * Reads a file.
   *
   * @throws ElfFormatException where it is not a program, or of an ISA that retstack does not trace
   * @throws IOException where it cannot be read
   */
  public static LoadedImage load(Path file) throws IOException {
    return of(ElfFile.parse(file));
  }

  /** Loads a program or a relocatable object, for callers that want only its call sites. */
  public static LoadedImage loadUnlinked(Path file) throws IOException {
    return of(ElfFile.parseUnlinked(file));
  }

  /** Finds ISA, conventions and call sites; there may be none, see {@link #requireCallSites}. */
  public static LoadedImage of(ElfFile elf) throws ElfFormatException {
    ForeignAbi foreign =
        Isas.foreign(elf.machine(), elf.wordBytes(), elf.order(), elf.flags()).orElse(null);
    if (foreign != null) {
      throw new ElfFormatException(
          elf.name(),
          foreign.mask() == 0 ? "EI_CLASS" : "e_flags",
          (foreign.mask() == 0
                  ? elf.wordBytes() * Byte.SIZE + "-bit"
                  : "0x%x".formatted(elf.flags()))
              + " (%s, of %s)".formatted(foreign.name(), elf.machineName()),
          "an ABI that is traced",
          foreign.cure());
    }
    Isa isa = elf.isa().orElseThrow(() -> notTraced(elf));
    return new LoadedImage(elf, isa);
  }

  private static ElfFormatException notTraced(ElfFile elf) {
    boolean otherShape = Isas.hasMachine(elf.machine());
    String shape = otherShape ? ", %d-bit".formatted(elf.wordBytes() * Byte.SIZE) : "";
    return new ElfFormatException(
        elf.name(),
        "e_machine",
        "%d (%s)%s".formatted(elf.machine(), elf.machineName(), shape),
        Isas.names(),
        "build the program for one of these");
  }

  /**
   * This image, where it is of the ISA that a user named.
   *
   * @throws ElfFormatException where it is of another
   */
  public LoadedImage requireIsa(Isa wanted) throws ElfFormatException {
    if (isa.equals(wanted)) {
      return this;
    }
    throw new ElfFormatException(
        elf.name(),
        "e_machine",
        "%d (%s)".formatted(elf.machine(), isa),
        "%d (%s)".formatted(wanted.machine(), wanted),
        "name the image that was meant, or leave --isa out");
  }

  /**
   * The address that a user named as the first instruction to run.
   *
   * @param named a symbol, or a number as Java writes it: {@code main}, {@code 0x80000}
   * @throws ElfFormatException where it is none, or no code stands there
   */
  public long entry(String named) throws ElfFormatException {
    OptionalLong symbol = elf.symbol(named).stream().mapToLong(Symbol::address).findFirst();
    long address = symbol.orElseGet(() -> number(named));
    if (!elf.executableAt(isa.addresses().instruction(address))) {
      boolean unknown = symbol.isEmpty() && address == -1;
      throw new ElfFormatException(
          elf.name(),
          "the entry '%s'".formatted(named),
          unknown ? "no symbol and no number" : "0x%x, which is not code".formatted(address),
          "a function's name, or an address in an executable segment",
          "choose one from \"nm %s\"".formatted(elf.name()));
    }
    return address;
  }

  private static long number(String text) {
    try {
      return text.startsWith("0x")
          ? Long.parseUnsignedLong(text.substring(2), 16)
          : Long.decode(text);
    } catch (NumberFormatException e) {
      return -1;
    }
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
          "neither a call nor a known nop (%d entries of __mcount_loc)"
              .formatted(elf.mcountLoc().size()),
          "calls of " + symbolNames() + ", or nops in their place",
          "compile with " + flags());
    }
    if (isa.conventions().stream().anyMatch(this::isLinked)) {
      throw new ElfFormatException(
          elf.name(),
          "the number of call sites",
          "0, though it is linked with the %s that its functions call".formatted(symbolNames()),
          "calls whose code is known (%s)".formatted(isa.name()),
          "compile without -mcmodel=large" + orWithNops());
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
        .filter(site -> site.facts().copied() && !site.ahead())
        .map(CallSite::address)
        .sorted(Long::compareUnsigned)
        .toList();
  }

  /**
   * What a user should know of the file before it runs: tables with entries that are no code, and
   * calls that will run untraced since their functions make no frame. Each is a sentence.
   */
  public List<String> notes() {
    List<String> notes = new ArrayList<>(elf.warnings());
    for (ActiveConvention convention : conventions) {
      long alone = convention.sites().stream().filter(convention::isLeftAlone).count();
      if (alone > 0) {
        notes.add(
            "%s (%s, %s): %d of %d call sites do not show the return address, and nothing says where"
                    .formatted(
                        elf.name(),
                        isa.name(),
                        convention.card().name(),
                        alone,
                        convention.sites().size())
                + " their functions begin: those calls run untraced; do not strip the program, or"
                + " compile with "
                + convention.card().flags());
      }
    }
    return List.copyOf(notes);
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

  /**
   * Functions that leave the frames of their callers or look for them; instrumented ones do not.
   */
  public LeavingFunctions leaving() {
    return leaving;
  }

  /** What a dynamically linked program gets in place of functions of shared objects. */
  public Imports imports() {
    return imports;
  }

  /** Where functions of other files are entered. */
  public LibraryCalls libraryCalls() {
    LibraryCalls known = libraryCalls;
    if (known == null) {
      known = LibraryCalls.of(elf, isa, imports.got());
      libraryCalls = known;
    }
    return known;
  }

  /**
   * This image, where it enters functions of other files.
   *
   * @throws ElfFormatException which says why it does not
   */
  public LoadedImage requireLibraryCalls() throws ElfFormatException {
    if (elf.interpreter().isEmpty() || libraryCalls().all().findAny().isEmpty()) {
      LibraryCalls.refuse(elf, isa);
    }
    return this;
  }

  /** Addresses of the calls that relocations name; mostly empty. */
  LongSet relocatedSites() {
    return relocatedSites;
  }

  /** The call sites that can be patched. */
  public PatchSites patchSites() {
    return patchSites;
  }

  /** Address of a symbol by name: what bring-up of a core asks for. */
  public OptionalLong address(String symbol) {
    return elf.symbol(symbol).stream().mapToLong(Symbol::address).findFirst();
  }

  /**
   * True where a C library for Linux is linked in: the program expects a stack with arguments and
   * an answer to its system calls.
   */
  public boolean hostedOnLinux() {
    return elf.interpreter().isPresent()
        || elf.symbol("__libc_start_main").isPresent()
        || elf.symbol("__libc_start_call_main").isPresent()
        || elf.section(".note.ABI-tag").isPresent();
  }

  /** Where its functions begin in their sources; read when it is asked for first. */
  public synchronized SourceLines lines() {
    if (lines == null) {
      lines = SourceLines.of(elf);
    }
    return lines;
  }

  /** What readers of the trace do not get of functions and lines, although the file has it. */
  public Optional<String> leftOut() {
    return room().leftOut().or(() -> lines().trouble());
  }

  private synchronized MessageRoom room() {
    if (room == null) {
      room = new MessageRoom(elf, callSites);
    }
    return room;
  }

  private List<SourceLine> schemaLines() {
    List<SourceLine> known = new ArrayList<>();
    if (!room().hasLines()) {
      return known;
    }
    for (int i = 0; i < elf.functions().size(); i++) {
      if (lines().line(i) > 0) {
        known.add(new SourceLine(i, lines().file(i), lines().line(i)));
      }
    }
    return known;
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
            room().named().stream()
                .map(s -> new dev.retstack.schema.Symbol(s.name(), s.address(), s.size()))
                .toList())
        .setOtherNames(room().otherNames())
        .setMcountLoc(room().sites())
        .setCopiedReturns(copiedReturns())
        .setSystemCalls(isa.syscalls().numbers())
        .setFiles(room().hasLines() ? lines().files() : List.of())
        .setLines(schemaLines())
        .build();
  }

  /** True where a counting function by that name is the program's own, or another file's. */
  private boolean isLinked(AbiCard card) {
    return imports.has(card.symbols())
        || card.symbols().stream().anyMatch(name -> elf.symbol(name).isPresent());
  }

  private String symbolNames() {
    return isa.conventions().stream()
        .flatMap(c -> c.symbols().stream().limit(1))
        .distinct()
        .collect(Collectors.joining(" or "));
  }

  private String orWithNops() {
    String nops = flagsOf(card -> card.flags().startsWith("-fpatchable"));
    return nops.isEmpty() ? "" : ", or with " + nops;
  }

  private String flags() {
    return flagsOf(_ -> true);
  }

  private String flagsOf(Predicate<AbiCard> wanted) {
    return isa.conventions().stream()
        .filter(wanted)
        .map(AbiCard::flags)
        .distinct()
        .collect(Collectors.joining(" or "));
  }
}
