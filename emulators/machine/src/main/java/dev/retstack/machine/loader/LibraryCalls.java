package dev.retstack.machine.loader;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.Code;
import dev.retstack.machine.isa.system.DynamicAbi;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.machine.loader.elf.Section;
import dev.retstack.machine.loader.elf.Symbol;
import it.unimi.dsi.fastutil.longs.Long2ObjectMap;
import it.unimi.dsi.fastutil.longs.LongArrays;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How an image enters functions of other files. The entries of its procedure linkage table are
 * separate places. Of other functions words of the image get the addresses, and it calls them by
 * these: such a function is entered at its first instruction, wherever that is. In both cases it
 * has no frame yet, so its return address is where a call leaves it.
 *
 * @param places sorted by address
 * @param words sorted by address: words that get the address of a function
 */
public record LibraryCalls(List<Place> places, List<Place> words) {
  /**
   * An entry of the table, or a word.
   *
   * @param symbol the function's name, and the code of the entry
   * @param site the instructions that continue at the function: behind a landing pad, or behind
   *     code of another instruction set that leads here; of a word its address
   */
  public record Place(Symbol symbol, long site) {}

  private static final LibraryCalls NONE = new LibraryCalls(List.of(), List.of());

  /** Entries are a multiple of this long, in all ISAs that have them. */
  private static final int STEP = 4;

  /** Bytes that are read of all sections together, at most: a file can name more than it has. */
  private static final long BYTES_MAX = 64L << 20;

  /** What code in front of the site may take. */
  private static final int LEAD = 4;

  /** Functions that are left out, by the reason; a star stands for all names that begin so. */
  private static final Map<String, Set<String>> LEFT_OUT =
      Map.of(
          "returns again, when its frame is gone",
          Set.of(
              "setjmp",
              "_setjmp",
              "__setjmp",
              "sigsetjmp",
              "__sigsetjmp",
              "getcontext",
              "swapcontext",
              "vfork",
              "__vfork"),
          "never returns, and nothing tells that it has left",
          Set.of("setcontext"),
          "reads the return addresses of its callers, its own included",
          Set.of("backtrace", "_Unwind_*"),
          "asks by its return address which file calls it",
          Set.of("dlopen", "dlmopen", "dlsym", "dlvsym"),
          "holds the whole program",
          Set.of("__libc_start_main", "__libc_start_call_main"),
          "is the loader's own",
          Set.of("_dl_*"),
          "is start-up code",
          Set.of("__gmon_start__", "__cxa_finalize", "_ITM_*"));

  public LibraryCalls {
    places = List.copyOf(places);
    words = List.copyOf(words);
  }

  /**
   * The card by which they are entered: where a function is entered at its first instruction, the
   * return address is where this card has it. Empty where an ISA has none such.
   */
  public static Optional<AbiCard> card(Isa isa) {
    return isa.conventions().stream()
        .filter(card -> card.siteTable() == AbiCard.SiteTable.PATCHABLE)
        .findFirst()
        .filter(card -> isa.syscalls().dynamic().jump().isPresent())
        .map(card -> card.atFirstInstruction("library call"));
  }

  /** Library calls of a file; none where its tables are damaged, or its ISA has none. */
  static LibraryCalls of(ElfFile elf, Isa isa, long got) {
    Optional<DynamicAbi.ImportJump> jump = isa.syscalls().dynamic().jump();
    if (jump.isEmpty() || card(isa).isEmpty()) {
      return NONE;
    }
    try {
      Long2ObjectMap<String> slots = elf.importSlots();
      slots.values().removeIf(name -> isLeftOut(name, isa));
      List<Place> places = slots.isEmpty() ? List.of() : scan(elf, isa, jump.get(), got, slots);
      return new LibraryCalls(places, words(slots, places, isa.wordBytes()));
    } catch (ElfFormatException damaged) {
      return NONE;
    }
  }

  private static boolean isLeftOut(String name, Isa isa) {
    return name.isEmpty()
        || LEFT_OUT.values().stream()
            .flatMap(Set::stream)
            .anyMatch(pattern -> matches(pattern, name))
        || DynamicAbi.PROFILING.contains(name)
        || isa.conventions().stream().anyMatch(card -> card.symbols().contains(name));
  }

  private static boolean matches(String pattern, String name) {
    return pattern.endsWith("*")
        ? name.startsWith(pattern.substring(0, pattern.length() - 1))
        : name.equals(pattern);
  }

  private static List<Place> scan(
      ElfFile elf, Isa isa, DynamicAbi.ImportJump jump, long got, Long2ObjectMap<String> slots) {
    Code code = elf.codeReader();
    // where the way there saves a register of the caller, linkers put it among the functions
    boolean everywhere = !isa.syscalls().dynamic().linkageLead().isEmpty();
    TreeMap<Long, Place> found = new TreeMap<>(Long::compareUnsigned);
    long left = BYTES_MAX;
    for (Section section : elf.sections()) {
      if (!section.executable()
          || !section.allocated()
          || !(everywhere || section.name().startsWith(".plt"))) {
        continue;
      }
      long first = section.address() + STEP - 1 & -STEP;
      long end = section.address() + section.size();
      for (long at = first; at < end && left > 0 && elf.executableAt(at); at += STEP) {
        left -= STEP;
        OptionalLong slot = jump.slot(code, at, got);
        String name = slot.isPresent() ? slots.getOrDefault(slot.getAsLong(), "") : "";
        if (!name.isEmpty()) {
          add(found, name, at);
        }
      }
    }
    return List.copyOf(found.values());
  }

  /** Functions without a place, each at the lowest word that gets its address. */
  private static List<Place> words(
      Long2ObjectMap<String> slots, List<Place> places, int wordBytes) {
    Set<String> known = new HashSet<>();
    places.forEach(place -> known.add(place.symbol.name()));
    long[] addresses = slots.keySet().toLongArray();
    LongArrays.quickSort(addresses, Long::compareUnsigned);
    List<Place> found = new ArrayList<>();
    for (long address : addresses) {
      if (known.add(slots.get(address))) {
        found.add(new Place(function(slots.get(address), address, wordBytes), address));
      }
    }
    return found;
  }

  private static Symbol function(String name, long address, long size) {
    return new Symbol(name, address, size, Symbol.Kind.FUNCTION, Symbol.Binding.LOCAL, 0);
  }

  /** What matches right behind a match of the same name is that one without what leads to it. */
  private static void add(TreeMap<Long, Place> found, String name, long at) {
    Place before = found.get(at - LEAD);
    long begin = before != null && before.symbol.name().equals(name) ? at - LEAD : at;
    found.put(begin, new Place(function(name, begin, at - begin + STEP), at));
  }

  /**
   * Says why an image has none.
   *
   * @throws ElfFormatException with the cure
   */
  static void refuse(ElfFile elf, Isa isa) throws ElfFormatException {
    if (elf.interpreter().isEmpty()) {
      throw new ElfFormatException(
          elf.name(),
          "PT_INTERP",
          "none: all its functions are in the file",
          "a program that calls functions of shared objects (--libcalls)",
          "link it without -static, or leave --libcalls out");
    }
    if (card(isa).isEmpty()) {
      throw new ElfFormatException(
          elf.name(),
          "e_machine",
          "%d (%s)".formatted(elf.machine(), isa),
          Isas.all().stream()
                  .filter(other -> card(other).isPresent())
                  .map(Isa::name)
                  .collect(Collectors.joining(", "))
              + " (--libcalls)",
          "leave --libcalls out");
    }
    throw new ElfFormatException(
        elf.name(),
        "the table of dynamic symbols",
        "0 functions of shared objects that it calls",
        "1 or more (--libcalls)",
        "leave --libcalls out");
  }

  /** Functions that are left out, by the reason; a star stands for all names that begin so. */
  public static Map<String, Set<String>> leftOut() {
    return LEFT_OUT;
  }

  /** Places and words: all functions that are entered, with the addresses that name them. */
  public Stream<Place> all() {
    return Stream.concat(places.stream(), words.stream());
  }

  /** The function that is entered at an address, or whose address the word there gets. */
  public Optional<Symbol> at(long address) {
    int low = 0;
    int high = places.size();
    while (low < high) { // the first that begins behind the address
      int middle = (low + high) >>> 1;
      if (Long.compareUnsigned(places.get(middle).symbol.address(), address) <= 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    Optional<Symbol> place =
        low == 0
            ? Optional.empty()
            : Optional.of(places.get(low - 1).symbol).filter(symbol -> symbol.holds(address));
    return place.or(
        () -> words.stream().map(Place::symbol).filter(s -> s.holds(address)).findFirst());
  }
}
