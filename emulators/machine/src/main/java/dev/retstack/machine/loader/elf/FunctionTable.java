package dev.retstack.machine.loader.elf;

import dev.retstack.schema.record.FunctionName;
import it.unimi.dsi.fastutil.longs.Long2ObjectMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;

/**
 * The functions of an image, sorted by address, without overlaps. One of the names at an address is
 * the function's.
 *
 * @param functions sorted by address; sizes end at the next function at the latest
 * @param aliases the other names of a function, by its address: a compiler or linker may also give
 *     several functions of the same code one address; labels count only where all names are labels
 * @param segments where a function without a size ends at the latest
 */
record FunctionTable(
    List<Symbol> functions, Long2ObjectMap<List<String>> aliases, SegmentTable segments) {

  /**
   * At one address: a function before a label, a global name before a local, a plain name first. A
   * function that picks another one has the name of that, and mostly one that is its own.
   */
  private static final Comparator<Symbol> BEST_FIRST =
      Comparator.comparing((Symbol s) -> !s.kind().isFunction())
          .thenComparing(s -> s.kind() == Symbol.Kind.INDIRECT_FUNCTION)
          .thenComparing(Symbol::binding)
          .thenComparing(s -> s.size() == 0)
          .thenComparingInt(s -> leadingUnderscores(s.name()))
          .thenComparingInt(s -> s.name().length())
          .thenComparing(Symbol::name);

  /** Picks the functions out of all symbols of an image. */
  static FunctionTable of(List<Symbol> symbols, SegmentTable segments, SectionTable sections) {
    List<Section> code = sections.code();
    List<Symbol> candidates = new ArrayList<>();
    for (Symbol s : symbols) {
      boolean wanted =
          switch (s.kind()) {
            case FUNCTION, INDIRECT_FUNCTION -> true;
            case NONE -> isCodeLabel(s, code);
            case OBJECT -> false;
          };
      if (wanted && segments.executable(s.address())) {
        candidates.add(s);
      }
    }
    candidates.sort(
        ((Comparator<Symbol>) (a, b) -> Long.compareUnsigned(a.address(), b.address()))
            .thenComparing(BEST_FIRST));
    Long2ObjectMap<List<String>> aliases = new Long2ObjectOpenHashMap<>();
    List<Symbol> functions = List.copyOf(apart(candidates, aliases));
    aliases.replaceAll((_, names) -> List.copyOf(new LinkedHashSet<>(names)));
    return new FunctionTable(functions, aliases, segments);
  }

  /** All names of one of the functions. */
  FunctionName name(Symbol function) {
    return new FunctionName(function.name(), aliases.getOrDefault(function.address(), List.of()));
  }

  /** The function that holds {@code pc}. */
  Optional<Symbol> find(long pc) {
    int last = firstAbove(pc) - 1;
    if (last < 0) {
      return Optional.empty();
    }
    Symbol s = functions.get(last);
    boolean inside =
        s.size() == 0
            ? segments.find(s.address(), 1).filter(segment -> segment.contains(pc, 1)).isPresent()
            : Long.compareUnsigned(pc - s.address(), s.size()) < 0;
    return inside ? Optional.of(s) : Optional.empty();
  }

  /** Bytes from an address to the next function; a large number behind the last. */
  long bytesToNext(long address) {
    int next = firstAbove(address);
    return next < functions.size() ? functions.get(next).address() - address : Long.MAX_VALUE;
  }

  /** Index of the first function behind an address. */
  private int firstAbove(long address) {
    int low = 0;
    int high = functions.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (Long.compareUnsigned(functions.get(middle).address(), address) <= 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private static List<Symbol> apart(List<Symbol> sorted, Long2ObjectMap<List<String>> aliases) {
    List<Symbol> kept = new ArrayList<>(sorted.size());
    for (Symbol s : sorted) {
      Symbol last = kept.isEmpty() ? null : kept.getLast();
      if (last != null) {
        long distance = s.address() - last.address();
        boolean insideLast = Long.compareUnsigned(distance, last.size()) < 0;
        boolean alias = distance == 0;
        boolean labelInFunction = s.kind() == Symbol.Kind.NONE && insideLast;
        boolean isName = s.kind() != Symbol.Kind.NONE || last.kind() == Symbol.Kind.NONE;
        if (alias && isName && !s.name().equals(last.name())) {
          aliases.computeIfAbsent(s.address(), _ -> new ArrayList<>()).add(s.name());
        }
        if (alias || labelInFunction) {
          continue;
        }
        if (insideLast) {
          kept.removeLast();
          kept.add(last.cutTo(distance));
        }
      }
      kept.add(s);
    }
    return kept;
  }

  private static boolean isCodeLabel(Symbol s, List<Section> code) {
    String name = s.name();
    if (isMappingSymbol(name) || name.startsWith(".L")) {
      return false;
    }
    for (Section section : code) {
      if (section.contains(s.address())) {
        return true;
      }
    }
    return false;
  }

  /** {@code $x}, {@code $d.4}, {@code $xrv64i2p1}: marks of the assembler, not names of code. */
  private static boolean isMappingSymbol(String name) {
    if (name.length() < 2 || name.charAt(0) != '$' || "adtx".indexOf(name.charAt(1)) < 0) {
      return false;
    }
    return name.length() == 2 || name.charAt(2) == '.' || name.startsWith("rv", 2);
  }

  private static int leadingUnderscores(String name) {
    int n = 0;
    while (n < name.length() && name.charAt(n) == '_') {
      n++;
    }
    return n;
  }
}
