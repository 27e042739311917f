package dev.retstack.machine.loader;

import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.schema.OtherName;
import dev.retstack.schema.avro.AvroSource;
import dev.retstack.schema.record.FunctionName;
import dev.retstack.schema.wire.ConfluentFrame;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Decides what the message about an image has room for. Readers refuse a message that is too long
 * or makes too many objects. Names are worth more than lines, the names that are shown more than
 * other names of the same functions, and those of functions with call sites more than others.
 */
final class MessageRoom {
  /** What is left out for lack of room; each step leaves out what those before it do. */
  private enum Without {
    NOTHING,
    LINES,
    ALIASES,
    OTHERS,
    NAMES,
    SITES
  }

  /** Heap and bytes of the message for what is no function and no call site. */
  private static final long REST = 1 << 20;

  // heap that a reader grants: a symbol and a line have three fields each, and one a name
  private static final long LINE_HEAP = AvroSource.ITEM_BYTES + AvroSource.recordBytes(3);
  private static final long SYMBOL_HEAP = LINE_HEAP + AvroSource.textBytes(0);
  private static final long ALIAS_HEAP =
      AvroSource.ITEM_BYTES + AvroSource.recordBytes(2) + AvroSource.textBytes(0);
  private static final long SITE_HEAP = AvroSource.ITEM_BYTES;

  // bytes of the message
  private static final long SYMBOL_BYTES = 18;
  private static final long ALIAS_BYTES = 8;
  private static final long SITE_BYTES = 10;

  private final ElfFile elf;
  private final List<Long> callSites;
  private final List<Symbol> named;
  private final Without without;

  MessageRoom(ElfFile elf, List<Long> callSites) {
    this.elf = elf;
    this.callSites = callSites;
    List<Symbol> all = elf.functions();
    if (holds(all, LINE_HEAP, true, AvroSource.HEAP_BYTES_MAX / 4 * 3)) {
      without = Without.NOTHING;
      named = all;
    } else if (holds(all, 0, true, AvroSource.HEAP_BYTES_MAX)) {
      without = Without.LINES;
      named = all;
    } else if (holds(all, 0, false, AvroSource.HEAP_BYTES_MAX)) {
      without = Without.ALIASES;
      named = all;
    } else {
      Set<Symbol> entered = new HashSet<>();
      callSites.forEach(site -> elf.functionAt(site).ifPresent(entered::add));
      List<Symbol> some = all.stream().filter(entered::contains).toList();
      if (holds(some, 0, false, AvroSource.HEAP_BYTES_MAX)) {
        without = Without.OTHERS;
        named = some;
      } else {
        without =
            holds(List.of(), 0, false, AvroSource.HEAP_BYTES_MAX) ? Without.NAMES : Without.SITES;
        named = List.of();
      }
    }
  }

  private boolean holds(List<Symbol> functions, long more, boolean aliases, long heapMax) {
    long characters = 0;
    long others = 0;
    for (Symbol function : functions) {
      characters += function.name().length();
      for (String other : aliases ? others(function) : List.<String>of()) {
        others++;
        characters += other.length();
      }
    }
    long heap =
        (SYMBOL_HEAP + more) * functions.size()
            + ALIAS_HEAP * others
            + 2 * characters
            + SITE_HEAP * callSites.size();
    long bytes =
        SYMBOL_BYTES * functions.size()
            + ALIAS_BYTES * others
            + characters
            + SITE_BYTES * callSites.size();
    return heap + REST <= heapMax && bytes + REST <= ConfluentFrame.MESSAGE_BYTES_MAX;
  }

  private List<String> others(Symbol function) {
    List<String> all = elf.name(function).others();
    return all.subList(0, Math.min(all.size(), FunctionName.OTHERS_MAX));
  }

  /** The other names of those functions in the message. */
  List<OtherName> otherNames() {
    List<OtherName> names = new ArrayList<>();
    if (without.compareTo(Without.ALIASES) < 0) {
      for (int i = 0; i < named.size(); i++) {
        for (String name : others(named.get(i))) {
          names.add(new OtherName(i, name));
        }
      }
    }
    return names;
  }

  /** The functions whose names readers get, sorted by address. */
  List<Symbol> named() {
    return named;
  }

  /** The call sites that readers get. */
  List<Long> sites() {
    return without == Without.SITES ? List.of() : callSites;
  }

  boolean hasLines() {
    return without == Without.NOTHING;
  }

  /** What is left out, as a sentence. */
  Optional<String> leftOut() {
    String sizes =
        "%s: %,d functions and %,d call sites fill a message, so "
            .formatted(elf.name(), elf.functions().size(), callSites.size());
    return switch (without) {
      case NOTHING -> manyOthers();
      case LINES ->
          Optional.of(
              sizes + "they have no source lines" + manyOthers().map("; "::concat).orElse(""));
      case ALIASES ->
          Optional.of(sizes + "they have no source lines, and one name each: no aliases");
      case OTHERS ->
          Optional.of(
              sizes + "only the %,d functions with call sites have names".formatted(named.size()));
      case NAMES -> Optional.of(sizes + "addresses stand in place of names");
      case SITES ->
          Optional.of(sizes + "addresses stand in place of names, and no call site is listed");
    };
  }

  private Optional<String> manyOthers() {
    return named.stream()
        .filter(function -> elf.name(function).others().size() > FunctionName.OTHERS_MAX)
        .findFirst()
        .map(
            function ->
                "%s: %s has %,d other names; answers know %,d of them, filters of a run all"
                    .formatted(
                        elf.name(),
                        function.name(),
                        elf.name(function).others().size(),
                        FunctionName.OTHERS_MAX));
  }
}
