package dev.retstack.graph.symbol;

import dev.retstack.graph.snapshot.Fields;
import dev.retstack.schema.record.FunctionName;
import it.unimi.dsi.fastutil.ints.Int2ObjectMap;
import it.unimi.dsi.fastutil.ints.Int2ObjectRBTreeMap;
import it.unimi.dsi.fastutil.ints.Int2ObjectSortedMap;
import it.unimi.dsi.fastutil.ints.Int2ObjectSortedMaps;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Names of the code ranges of one image, looked up by address. Addresses are unsigned 64-bit
 * numbers. Immutable.
 *
 * <p>A symbol of size 0 reaches to the next one; the last symbol, if its size is unknown, reaches
 * {@value #UNSIZED_TAIL} bytes. Of several symbols at one address the largest is shown, then the
 * first by name, so that the table does not depend on the order of the list; the others are other
 * names of it.
 */
public final class SymbolTable implements FunctionNames {
  /** A table that knows no name. */
  public static final SymbolTable EMPTY = of(List.of());

  private static final int UNSIZED_TAIL = 4096;
  private static final int MAX_SYMBOLS = 1 << 24;

  /** Bytes of a symbol without the characters of its name. */
  private static final int SYMBOL_BYTES = 64;

  /** What a map of other names takes without them. */
  private static final int OTHERS_BYTES = 500;

  private final long[] addresses;
  private final long[] sizes;
  private final String[] names;

  /** Source files, each once; empty where no symbol has a line. */
  private final String[] files;

  /** File and line of each symbol, or 0; empty where there are no files. */
  private final int[] fileOf;

  private final int[] lines;

  /** Other names of the few symbols that have some, by their indices. */
  private final Int2ObjectSortedMap<List<String>> others;

  /** Names that several symbols have; null until it was asked for. */
  private Set<String> shared;

  /**
   * A named code range.
   *
   * @param address first byte
   * @param size bytes, or 0 where unknown
   */
  public record Symbol(FunctionName function, long address, long size, SourceLine source) {
    /** A symbol with an unknown source line. */
    public Symbol(String name, long address, long size) {
      this(name, address, size, SourceLine.NONE);
    }

    /** A symbol with one name. */
    public Symbol(String name, long address, long size, SourceLine source) {
      this(new FunctionName(name), address, size, source);
    }

    private String name() {
      return function.shown();
    }

    /** This symbol with these other names, in alphabetical order. */
    private Symbol named(List<String> others) {
      return new Symbol(new FunctionName(name()).and(others), address, size, source);
    }
  }

  private SymbolTable(Symbol[] sorted) {
    addresses = new long[sorted.length];
    sizes = new long[sorted.length];
    names = new String[sorted.length];
    Int2ObjectSortedMap<List<String>> some = new Int2ObjectRBTreeMap<>();
    for (int i = 0; i < sorted.length; i++) {
      addresses[i] = sorted[i].address();
      sizes[i] = sorted[i].size();
      names[i] = sorted[i].name();
      if (!sorted[i].function().others().isEmpty()) {
        some.put(i, sorted[i].function().others());
      }
    }
    others = some.isEmpty() ? Int2ObjectSortedMaps.emptyMap() : some;
    Map<String, Integer> numbers = new LinkedHashMap<>();
    for (Symbol symbol : sorted) {
      if (symbol.source().isKnown()) {
        numbers.putIfAbsent(symbol.source().file(), numbers.size());
      }
    }
    files = numbers.keySet().toArray(String[]::new);
    fileOf = new int[files.length == 0 ? 0 : sorted.length];
    lines = new int[fileOf.length];
    for (int i = 0; i < lines.length; i++) {
      if (sorted[i].source().isKnown()) {
        fileOf[i] = numbers.get(sorted[i].source().file());
        lines[i] = sorted[i].source().line();
      }
    }
  }

  /** A table of these symbols, in any order. */
  public static SymbolTable of(List<Symbol> symbols) {
    Symbol[] sorted = symbols.toArray(new Symbol[0]);
    Arrays.sort(
        sorted,
        Comparator.<Symbol, Long>comparing(Symbol::address, Long::compareUnsigned)
            .thenComparing(Symbol::size, (a, b) -> Long.compareUnsigned(b, a))
            .thenComparing(Symbol::name));
    int kept = 0;
    for (int from = 0, to = 0; from < sorted.length; from = to) {
      Symbol shown = sorted[from];
      List<String> more = new ArrayList<>(0);
      for (to = from; to < sorted.length && sorted[to].address() == shown.address(); to++) {
        more.add(sorted[to].name());
        more.addAll(sorted[to].function().others());
      }
      sorted[kept++] = more.size() == 1 ? shown : shown.named(more);
    }
    return new SymbolTable(Arrays.copyOf(sorted, kept));
  }

  public int size() {
    return addresses.length;
  }

  /** About what it takes in memory. */
  public long bytes() {
    long sum = 0;
    for (String name : names) {
      sum += SYMBOL_BYTES + textBytes(name);
    }
    for (String file : files) {
      sum += SYMBOL_BYTES + textBytes(file);
    }
    sum += others.isEmpty() ? 0 : OTHERS_BYTES;
    for (List<String> names : others.values()) {
      sum += SYMBOL_BYTES;
      for (String name : names) {
        sum += SYMBOL_BYTES + textBytes(name);
      }
    }
    sum += (long) Integer.BYTES * (fileOf.length + lines.length);
    return sum;
  }

  /** What the characters of a text take. */
  public static long textBytes(String text) {
    return text.chars().allMatch(c -> c <= 0xff) ? text.length() : 2L * text.length();
  }

  /** Symbol that covers {@code pc}, or its hexadecimal address where none does. */
  @Override
  public String name(long pc) {
    int i = find(pc);
    return i < 0 ? hex(pc) : names[i];
  }

  @Override
  public List<String> otherNames(long pc) {
    return others.isEmpty() ? List.of() : others.getOrDefault(find(pc), List.of());
  }

  /** Like {@code main+0x1c}; {@code main} at its first byte; hexadecimal where no symbol covers. */
  @Override
  public String symbolPlusOffset(long pc) {
    int i = find(pc);
    if (i < 0) {
      return hex(pc);
    }
    long offset = pc - addresses[i];
    return offset == 0 ? names[i] : names[i] + "+" + hex(offset);
  }

  /** First byte of the symbol that covers {@code pc}, or {@code pc} itself where none does. */
  @Override
  public long start(long pc) {
    int i = find(pc);
    return i < 0 ? pc : addresses[i];
  }

  @Override
  public SourceLine source(long pc) {
    int i = find(pc);
    return i < 0 ? SourceLine.NONE : sourceOf(i);
  }

  private SourceLine sourceOf(int i) {
    return i < lines.length && lines[i] > 0
        ? new SourceLine(files[fileOf[i]], lines[i])
        : SourceLine.NONE;
  }

  /** Whether a symbol covers {@code pc}. */
  @Override
  public boolean covers(long pc) {
    return find(pc) >= 0;
  }

  /** Whether a symbol covers {@code pc}, and no other one has its name. */
  public boolean isUnique(long pc) {
    int i = find(pc);
    return i >= 0 && !shared().contains(names[i]);
  }

  private Set<String> shared() {
    Set<String> known = shared;
    if (known == null) {
      Set<String> seen = new HashSet<>();
      known =
          Arrays.stream(names)
              .filter(name -> !seen.add(name))
              .collect(Collectors.toUnmodifiableSet());
      shared = known; // whichever thread comes first: they are equal
    }
    return known;
  }

  private int find(long pc) {
    int low = 0;
    int high = addresses.length - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      if (Long.compareUnsigned(addresses[middle], pc) <= 0) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    if (high < 0) {
      return -1;
    }
    long reach = sizes[high];
    if (reach == 0) {
      reach = high + 1 < addresses.length ? addresses[high + 1] - addresses[high] : UNSIZED_TAIL;
    }
    return Long.compareUnsigned(pc - addresses[high], reach) < 0 ? high : -1;
  }

  /** An address as people write it: {@code 0x401136}. */
  public static String hex(long address) {
    return "0x" + Long.toHexString(address);
  }

  /** Writes the table in its canonical order. */
  public void writeTo(DataOutput out) throws IOException {
    out.writeInt(addresses.length);
    for (int i = 0; i < addresses.length; i++) {
      Fields.writeText(out, names[i]);
      out.writeLong(addresses[i]);
      out.writeLong(sizes[i]);
    }
    out.writeInt(files.length);
    for (String file : files) {
      Fields.writeText(out, file);
    }
    for (int i = 0; i < lines.length; i++) {
      out.writeInt(fileOf[i]);
      out.writeInt(lines[i]);
    }
    out.writeInt(others.size());
    for (Int2ObjectMap.Entry<List<String>> named : others.int2ObjectEntrySet()) {
      out.writeInt(named.getIntKey());
      out.writeInt(named.getValue().size());
      for (String name : named.getValue()) {
        Fields.writeText(out, name);
      }
    }
  }

  /**
   * Reads what {@link #writeTo} wrote.
   *
   * @throws IOException on a count that cannot be; memory grows only with bytes really read
   */
  public static SymbolTable readFrom(DataInput in) throws IOException {
    int count = Fields.readCount(in, MAX_SYMBOLS, "symbols in one image");
    List<Symbol> symbols = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      symbols.add(new Symbol(Fields.readText(in), in.readLong(), in.readLong()));
    }
    int fileCount = Fields.readCount(in, count, "source files of one image");
    List<String> files = new ArrayList<>();
    for (int i = 0; i < fileCount; i++) {
      files.add(Fields.readText(in));
    }
    for (int i = 0; fileCount > 0 && i < count; i++) {
      int file = in.readInt();
      int line = in.readInt();
      if (file < 0 || file >= fileCount || line < 0) {
        throw new IOException("corrupt snapshot: line %d of source file %d".formatted(line, file));
      }
      if (line > 0) {
        Symbol symbol = symbols.get(i);
        SourceLine source = new SourceLine(files.get(file), line);
        symbols.set(i, new Symbol(symbol.name(), symbol.address(), symbol.size(), source));
      }
    }
    readOthers(in, symbols);
    return of(symbols);
  }

  private static void readOthers(DataInput in, List<Symbol> symbols) throws IOException {
    int before = -1;
    int count = Fields.readCount(in, symbols.size(), "functions with other names");
    for (; count > 0; count--) {
      int symbol = in.readInt();
      if (symbol <= before || symbol >= symbols.size()) {
        throw new IOException(
            "corrupt snapshot: other names of symbol %d of %d".formatted(symbol, symbols.size()));
      }
      List<String> names = new ArrayList<>();
      int left = Fields.readCount(in, FunctionName.OTHERS_MAX, "other names of one function");
      for (; left > 0; left--) {
        names.add(Fields.readText(in));
      }
      symbols.set(symbol, symbols.get(symbol).named(names));
      before = symbol;
    }
  }
}
