package dev.retstack.fleet.probe.site;

import dev.retstack.fleet.probe.task.TaskFunctions;
import dev.retstack.fleet.probe.task.TaskOptions;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.CallForm;
import dev.retstack.machine.isa.call.Code;
import dev.retstack.machine.isa.call.ReturnReads;
import dev.retstack.machine.isa.call.SiteFacts;
import dev.retstack.machine.landing.LandingPage;
import dev.retstack.machine.loader.ActiveConvention;
import dev.retstack.machine.loader.CallSite;
import dev.retstack.machine.loader.LeavingFunctions;
import dev.retstack.machine.loader.LibraryCalls;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.machine.memory.GuestMemory;
import it.unimi.dsi.fastutil.longs.Long2ByteMap;
import it.unimi.dsi.fastutil.longs.Long2ByteOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.LongStream;

/**
 * Where the functions of a core report that they are entered: its counting functions, and the
 * blocks that hold a site without a call. Sites that the rules switch off are none.
 */
public final class EntryPoints {

  /**
   * One place of entry.
   *
   * @param selfPc address of the call or of the first nop
   * @param convention index of its card
   * @param facts what the code around it shows
   * @param how its code is to be read
   */
  public record Site(long selfPc, int convention, SiteFacts facts, How how) {
    /** How a function is entered at a site. */
    public enum How {
      /** By the code that the file has there. */
      AS_IT_IS,
      /** It was a call that the core goes without. */
      SWITCHED_OFF,
      /** Where the function begins, if it is called from a file that has its address in a word. */
      BY_ADDRESS,
      /** Where the function begins, whatever stands between there and its call. */
      AHEAD,
      /** Not at all: it was entered ahead, or no card has the form of the code around it. */
      PASSED
    }

    /** A site as the file has it. */
    Site(long selfPc, int convention, SiteFacts facts) {
      this(selfPc, convention, facts, How.AS_IT_IS);
    }

    /** True where it was a call that the core goes without. */
    public boolean switchedOff() {
      return how == How.SWITCHED_OFF;
    }

    /** True where the function is not entered at its call. */
    public boolean passed() {
      return how == How.PASSED;
    }

    /** True where the function is entered only if {@link EntryPoints#isCaller} says so. */
    public boolean byAddress() {
      return how == How.BY_ADDRESS;
    }
  }

  private static final int NONE = -1;

  private final LoadedImage image;
  private final SharedCode code;
  private final AbiCard[] cards;
  private final Long2ObjectMap<int[]> countingFunctions = new Long2ObjectOpenHashMap<>();
  private final Long2ObjectMap<Site> blocks = new Long2ObjectOpenHashMap<>();
  private final CallsByAddress byAddress;

  /** Index of the card of calls into other files; {@link #NONE} where these do not count. */
  private final int libraryCard;

  /** Index of the card of functions that are entered ahead of their calls; {@link #NONE}. */
  private final int aheadCard;

  /** Of each convention the card by which its sites are entered that begin a block. */
  private final int[] atSites;

  /** Addresses of the sites without a call, sorted; those of shared objects among them. */
  private long[] sites;

  private final List<Symbol> unwinders = new ArrayList<>();
  private final List<Symbol> askers = new ArrayList<>();
  private final List<Symbol> longjmps = new ArrayList<>();
  private final List<Symbol> lookups = new ArrayList<>();

  /** Whether one of these begins at an address: asked for at each block. */
  private final Long2ByteMap leavers = new Long2ByteOpenHashMap();

  /** What functions read, by site: found out when they are entered first. */
  private final Long2ObjectMap<ReturnReads.Kind> reads = new Long2ObjectOpenHashMap<>();

  private static final byte NOT_SEEN = 0;
  private static final byte STAYS = 1;
  private static final byte LEAVES = 2;

  private final StrayCode stray;
  private SiteRules rules;

  private EntryPoints(
      SharedCode code,
      List<ActiveConvention> conventions,
      List<Site> switchedOff,
      List<LandingPage.Range> ram) {
    this.code = code;
    this.image = code.program();
    stray = new StrayCode(image, ram);
    TaskFunctions none = TaskFunctions.require(image, TaskOptions.NONE);
    rules = new SiteRules(image, TraceSettings.standard(), none);
    if (!conventions.isEmpty()) {
      learn(image.leaving(), 0);
    }
    List<AbiCard> all = new ArrayList<>(conventions.stream().map(ActiveConvention::card).toList());
    atSites = new int[conventions.size()];
    for (int i = 0; i < conventions.size(); i++) {
      for (Symbol function : conventions.get(i).countingFunctions()) {
        countingFunctions.merge(function.address(), new int[] {i}, EntryPoints::join);
      }
      if (all.get(i).siteTable() != AbiCard.SiteTable.NONE) {
        atSites[i] = all.get(i).atSite().isPresent() ? all.size() : i;
        all.get(i).atSite().ifPresent(all::add);
        for (CallSite site : conventions.get(i).sites()) {
          add(site, i, image, 0);
        }
      }
    }
    switchedOff.forEach(site -> blocks.put(site.selfPc(), site));
    aheadCard = aheadCard(conventions, all);
    conventions.forEach(convention -> addAhead(convention, image, 0));
    sites =
        blocks.values().stream()
            .filter(site -> site.how() != Site.How.AHEAD)
            .mapToLong(Site::selfPc)
            .sorted()
            .distinct()
            .toArray();
    libraryCard = conventions.isEmpty() || code.libraryCallCard().isEmpty() ? NONE : all.size();
    if (libraryCard != NONE) {
      all.add(code.libraryCallCard().get());
      code.libraryCalls().forEach(this::add);
    }
    byAddress = new CallsByAddress(code, libraryCard, image.isa());
    if (libraryCard != NONE) {
      code.wholeProgram().forEach(byAddress::add);
    }
    cards = all.toArray(AbiCard[]::new);
  }

  private int aheadCard(List<ActiveConvention> conventions, List<AbiCard> all) {
    Optional<AbiCard> card =
        image
            .isa()
            .atFirstInstruction()
            .filter(first -> conventions.stream().anyMatch(c -> c.card().isBehindPrologue()));
    card.ifPresent(all::add);
    return card.isPresent() ? all.size() - 1 : NONE;
  }

  /** The functions of a file that are entered at their first instruction. */
  private void addAhead(ActiveConvention convention, LoadedImage of, long bias) {
    for (CallSite site : convention.sites()) {
      if (site.ahead() && aheadCard != NONE) {
        long selfPc = site.address() + bias;
        Site entry = new Site(selfPc, aheadCard, SiteFacts.NONE, Site.How.AHEAD);
        blocks.put(site.function() + bias, entry);
        of.elf().functionAt(site.address()).ifPresent(f -> blocks.put(f.entry() + bias, entry));
      }
    }
  }

  /** A site without a call, in a file whose code stands so far from where it was linked to. */
  private void add(CallSite site, int convention, LoadedImage of, long bias) {
    long selfPc = site.address() + bias;
    Site entry = new Site(selfPc, convention, site.facts());
    blocks.put(site.function() + bias, entry);
    blocks.put(selfPc, new Site(selfPc, atSites[convention], site.facts()));
    // calls that skip a site in front of the local entry
    of.elf()
        .functionAt(site.address())
        .filter(f -> site.address() - f.entry() < 0)
        .ifPresent(f -> blocks.put(f.entry() + bias, entry));
  }

  /** A function of another file is entered there. No code runs into such a place. */
  private void add(LibraryCalls.Place place) {
    Site site = new Site(place.site(), libraryCard, SiteFacts.NONE);
    blocks.put(place.symbol().address(), site);
    blocks.put(place.site(), site);
  }

  /**
   * The first site without a call that a block runs into from other code.
   *
   * @return 0 where there is none
   */
  public long siteInside(long address, int size) {
    Site own = ofBlock(address, size);
    for (int i = firstAbove(address); i < sites.length && sites[i] - address < size; i++) {
      if ((own == null || own.selfPc() != sites[i]) && !rules.off(sites[i])) {
        return sites[i];
      }
    }
    return 0;
  }

  private int firstAbove(long address) {
    int found = Arrays.binarySearch(sites, address);
    return found >= 0 ? found + 1 : -found - 1;
  }

  /** The entry points of an image. */
  public static EntryPoints of(LoadedImage image) {
    return new EntryPoints(new SharedCode(image), image.conventions(), List.of(), List.of());
  }

  /**
   * The entry points of an image whose calls at the beginning of a function were switched off.
   *
   * @param ram memory beside that of the image
   */
  public static EntryPoints of(SharedCode code, SitePatcher skipped, List<LandingPage.Range> ram) {
    return new EntryPoints(code, code.program().conventions(), skipped.atStart(), ram);
  }

  /** None: functions are not watched. */
  public static EntryPoints none(LoadedImage image) {
    return new EntryPoints(new SharedCode(image), List.of(), List.of(), List.of());
  }

  private void learn(LeavingFunctions leaving, long bias) {
    leaving.unwinders().forEach(f -> unwinders.add(f.movedBy(bias)));
    leaving.askers().forEach(f -> askers.add(f.movedBy(bias)));
    leaving.longjmps().forEach(f -> longjmps.add(f.movedBy(bias)));
    leaving.lookups().forEach(f -> lookups.add(f.movedBy(bias)));
    findLeavers();
  }

  private void findLeavers() {
    leavers.clear();
    named().forEach(functions -> functions.forEach(this::addLeaver));
  }

  private List<List<Symbol>> named() {
    return List.of(unwinders, askers, longjmps, lookups);
  }

  private void addLeaver(Symbol function) {
    leavers.put(function.address(), LEAVES);
    leavers.put(function.entry(), LEAVES);
  }

  /**
   * Code of a shared object was mapped: its functions count too, if functions are watched. Its
   * sites are listened to where the program has their convention.
   *
   * @return the counting functions that are to be overwritten, by the card of their calls
   */
  public Map<Symbol, AbiCard> learn(SharedCode.Part part) {
    if (cards.length == 0) {
      return Map.of();
    }
    LoadedImage shared = part.image();
    learn(shared.leaving(), part.bias());
    code.add(part);
    code.libraryCalls(part).forEach(this::add);
    byAddress.add(part);
    Map<Symbol, AbiCard> called = new LinkedHashMap<>();
    LongStream.Builder more = LongStream.builder();
    for (ActiveConvention convention : shared.conventions()) {
      int index = indexOf(convention.card());
      if (index >= 0 && convention.card().siteTable() != AbiCard.SiteTable.NONE) {
        for (CallSite site : convention.sites()) {
          if (part.holds(site.address() + part.bias())) {
            add(site, index, shared, part.bias());
            more.add(site.address() + part.bias());
          }
        }
      }
      if (index >= 0) {
        addAhead(convention, shared, part.bias());
      }
      for (Symbol function : index < 0 ? List.<Symbol>of() : convention.countingFunctions()) {
        Symbol there = function.movedBy(part.bias());
        if (part.holds(there.address())) {
          countingFunctions.merge(there.address(), new int[] {index}, EntryPoints::join);
          called.put(there, convention.card());
        }
      }
    }
    sites = LongStream.concat(LongStream.of(sites), more.build()).sorted().distinct().toArray();
    return called;
  }

  /** Index of a convention of the program; negative where it has none such. */
  private int indexOf(AbiCard card) {
    List<AbiCard> all = image.conventions().stream().map(ActiveConvention::card).toList();
    return all.indexOf(card);
  }

  /** A range of shared objects is gone. */
  public void forget(long base, long length) {
    code.remove(base, length);
    reads.clear();
    byAddress.remove(base, length);
    blocks.values().removeIf(s -> Long.compareUnsigned(s.selfPc() - base, length) < 0);
    sites = LongStream.of(sites).filter(s -> Long.compareUnsigned(s - base, length) >= 0).toArray();
    countingFunctions.keySet().removeIf(f -> Long.compareUnsigned(f - base, length) < 0);
    for (List<Symbol> functions : named()) {
      functions.removeIf(f -> Long.compareUnsigned(f.address() - base, length) < 0);
    }
    findLeavers();
  }

  /** True for the first instruction of an unwinder, an asker, a longjmp or a look-up. */
  public boolean leavesFrames(long address) {
    byte known = leavers.get(address);
    return known == LEAVES || (known == NOT_SEEN && isWalker(address));
  }

  /**
   * A block is met first: true where a function begins there that is not traced and walks along
   * frames. It is an unwinder from now on.
   */
  private boolean isWalker(long address) {
    leavers.put(address, STAYS);
    SharedCode.Part part = code.at(address);
    Optional<Symbol> walker =
        Optional.of(part.image().elf())
            .filter(_ -> cards.length > 0)
            .flatMap(elf -> elf.functionAt(address - part.bias()))
            .filter(f -> f.address() + part.bias() == address)
            .filter(f -> part.image().readsUntraced(f) == ReturnReads.Kind.ALL)
            .map(f -> f.movedBy(part.bias()));
    walker.ifPresent(unwinders::add);
    walker.ifPresent(this::addLeaver);
    return walker.isPresent();
  }

  /**
   * The function that begins at an address and reads return addresses; null for any other, and
   * where functions are not watched.
   */
  public Symbol unwinderAt(long address) {
    return at(unwinders, address);
  }

  /**
   * The function that begins at an address and reads its own return address; null where none does.
   */
  public Symbol askerAt(long address) {
    return at(askers, address);
  }

  /**
   * The function that begins at an address and goes back to where setjmp was called; null where
   * none does.
   */
  public Symbol longjmpAt(long address) {
    return at(longjmps, address);
  }

  /**
   * The function that begins at an address and is asked for the code at another; null where none
   * does.
   */
  public Symbol lookupAt(long address) {
    return at(lookups, address);
  }

  private static Symbol at(List<Symbol> functions, long address) {
    for (int i = 0; i < functions.size(); i++) {
      Symbol function = functions.get(i);
      if (address == function.address() || address == function.entry()) {
        return function;
      }
    }
    return null;
  }

  /**
   * Bytes from the slot of a function up to the stack pointer at its exit, where the code shows it
   * and the card does not predict the slot; else 0.
   */
  public long up(int convention, long site) {
    if (cards[convention].retpCheck()) {
      return 0;
    }
    return known(convention, site)
        .flatMap(found -> found.at(site - code.at(site).bias()))
        .map(found -> found.facts().frameBytes() - found.facts().savedAt())
        .filter(bytes -> bytes > 0)
        .orElse(0L);
  }

  /** Which return addresses the function of a site reads, beside to return. */
  public ReturnReads.Kind reads(long site) {
    ReturnReads.Kind known = reads.get(site);
    if (known == null) {
      known = findReads(site);
      reads.put(site, known);
    }
    return known;
  }

  private ReturnReads.Kind findReads(long site) {
    SharedCode.Part part = code.at(site);
    long there = site - part.bias();
    Optional<Symbol> function = part.image().elf().functionAt(there);
    for (ActiveConvention convention : part.image().conventions()) {
      Optional<CallSite> known = convention.at(there);
      if (function.isPresent() && known.isPresent()) {
        return convention.reads(function.get(), known.get(), part.image().elf());
      }
    }
    return ReturnReads.Kind.NONE;
  }

  /** The function that holds an address, as it stands in memory. */
  public Optional<Symbol> function(long address) {
    SharedCode.Part part = code.at(address);
    return part.image().elf().functionAt(address - part.bias()).map(f -> f.movedBy(part.bias()));
  }

  /**
   * The stack pointer behind the return of a function, by its site and its slot; empty where
   * neither card nor code shows it.
   */
  public OptionalLong exit(int convention, long site, long retP) {
    AbiCard card = cards[convention];
    int sp = image.isa().registers().sp();
    long up = up(convention, site);
    return up > 0
        ? OptionalLong.of(retP + up)
        : card.retpAtExit().stream()
            .filter(slot -> slot.register() == sp && !slot.inMemory())
            .mapToLong(slot -> retP - slot.offset())
            .findFirst();
  }

  /** What the file of a site knows of a convention of the program. */
  private Optional<ActiveConvention> known(int convention, long site) {
    return code.at(site).image().conventions().stream()
        .filter(found -> found.card() == cards[convention])
        .findFirst();
  }

  /** True where two addresses are of one function. */
  public boolean sameFunction(long one, long other) {
    return code.sameFunction(one, other);
  }

  /** True for an address in a routine that returns in place of the function that jumped to it. */
  public boolean returnsForOthers(long address) {
    SharedCode.Part part = code.at(address);
    return part.image()
        .elf()
        .functionAt(address - part.bias())
        .filter(LeavingFunctions::returnsForOthers)
        .isPresent();
  }

  /** From here on other sites are switched on or off. */
  public void follow(SiteRules next) {
    rules = next;
  }

  /** What is to be done at each site. */
  public SiteRules rules() {
    return rules;
  }

  /** The conventions in use; their indexes are those of {@link Site#convention}. */
  public List<AbiCard> cards() {
    return List.of(cards);
  }

  /** The addresses of the counting functions, each with the cards by which it may be called. */
  public Long2ObjectMap<int[]> countingFunctions() {
    return countingFunctions;
  }

  /** Bytes above the stack pointer at exit below which the slot of the frame that exits lies. */
  public long slotReach(Isa isa) {
    long most = 0;
    for (AbiCard card : cards) {
      most = Math.max(most, card.slotAboveStack(isa.registers().sp()));
    }
    return (isa.pushesReturnAddress() ? 0 : 1) + most;
  }

  /** True where functions may be entered at a site without a call. */
  public boolean hasBlocks() {
    return !blocks.isEmpty() || byAddress.any();
  }

  /**
   * The site that a block passes: it begins at the function, or at the site itself, and reaches it;
   * or at a local entry behind it.
   *
   * @return null where there is none, or it is switched off
   */
  public Site ofBlock(long address, int size) {
    Site site = blocks.get(address);
    boolean reached =
        site != null && (site.how() == Site.How.AHEAD || site.selfPc() - address < size);
    if (site == null) {
      site = byAddress.at(address);
      reached = site != null;
    }
    return reached && !rules.off(site.selfPc()) ? site : null;
  }

  /**
   * Before the first run of a block: it may be of no file; if it is the first of a file, the file's
   * words have their addresses by now.
   *
   * @return true where functions are entered at places that were none before
   */
  public boolean meet(long address, GuestMemory memory) {
    stray.meet(address, memory);
    return byAddress.meet(address, memory);
  }

  /** Code that was met where no file has any. */
  public StrayCode stray() {
    return stray;
  }

  /** True for a return address in a file that calls functions by their addresses. */
  public boolean isCaller(long returnAddress) {
    return byAddress.isCaller(returnAddress);
  }

  /** The code of these files: pairs of an address and a number of bytes. */
  public long[] callers() {
    return byAddress.callers();
  }

  /**
   * True where a block that begins at an address has this site for its own, on or off: once split,
   * a site that is switched off is still hooked.
   */
  public boolean isSiteOf(long block, long site) {
    Site own = blocks.get(block);
    return own != null && own.selfPc() == site;
  }

  /**
   * The call that returns to an address: one that was found in the file, else by its bytes.
   *
   * @param among indexes of the cards by which the counting function may be called
   * @param memory code of the running program
   */
  public Site ofCall(long returnAddress, int[] among, Code memory) {
    long bias = code.at(returnAddress).bias();
    for (int convention : among) {
      Optional<CallSite> known =
          known(convention, returnAddress).flatMap(c -> c.returningTo(returnAddress - bias));
      if (known.isPresent()) {
        long site = known.get().address() + bias;
        return known.get().ahead() && aheadCard != NONE
            ? new Site(site, convention, SiteFacts.NONE, Site.How.PASSED)
            : new Site(site, convention, known.get().facts());
      }
    }
    int size = 0;
    for (int convention : among) {
      for (CallForm form : cards[convention].callForms()) {
        size = form.size();
        long site = returnAddress - size;
        if (form.matches(memory.at(site))) {
          Optional<SiteFacts> facts = facts(cards[convention], memory, site, returnAddress);
          if (facts.isPresent()) {
            return new Site(site, convention, facts.get());
          }
        }
      }
    }
    long site = returnAddress - size;
    SiteFacts ofNoCard = SiteFacts.NONE.withWhere(SiteFacts.Where.UNREAD);
    return facts(cards[among[0]], memory, site, returnAddress)
        .map(known -> new Site(site, among[0], known))
        .orElseGet(() -> new Site(site, among[0], ofNoCard, Site.How.PASSED));
  }

  private Optional<SiteFacts> facts(AbiCard card, Code memory, long site, long after) {
    SharedCode.Part part = code.at(site);
    long function =
        part.image()
            .elf()
            .functionAt(site - part.bias())
            .map(f -> f.address() + part.bias())
            .orElse(site);
    return card.prologue().scan(memory, function, site, after);
  }

  private static int[] join(int[] some, int[] more) {
    int[] all = Arrays.copyOf(some, some.length + more.length);
    System.arraycopy(more, 0, all, some.length, more.length);
    return all;
  }
}
