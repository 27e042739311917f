package dev.retstack.fleet.probe.nativec;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.retstack.fleet.probe.Pacer;
import dev.retstack.fleet.probe.ProbePlan;
import dev.retstack.machine.landing.Machine;
import dev.retstack.unicorn.library.BundledLibrary;
import dev.retstack.unicorn.library.NativeFunction;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The probe in C, as the build compiled it for this host: its block hook, and the layout of the
 * structures that it shares with Java, as the C compiler laid them out.
 */
@SuppressWarnings("restricted") // the library is of this build
public final class NativeLibrary {
  /** Name of the library beside this class. */
  private static final String FILE = "libretstack-probe.so";

  /** How a user gets it. */
  public static final String CURE =
      "install a C compiler (Debian: apt-get install gcc libc6-dev), and the next ./retstack builds it";

  private static final class Loaded {
    static final NativeLibrary LIBRARY;
    static final String WHY_NOT;

    static {
      NativeLibrary library = null;
      String why = "";
      try {
        library = new NativeLibrary(BundledLibrary.load(NativeLibrary.class, FILE));
      } catch (IOException | RuntimeException e) {
        why = e.getMessage();
      }
      LIBRARY = library;
      WHY_NOT = why;
    }
  }

  private final MemorySegment onBlock;
  private final MemorySegment onBlockWatching;
  private final NativeFunction keepLastBlock;
  private final NativeFunction findFrame;
  private final Map<String, Long> layout;
  private final String compiler;

  private NativeLibrary(SymbolLookup symbols) {
    onBlock = symbols.find("retstack_on_block").orElseThrow();
    onBlockWatching = symbols.find("retstack_on_block_watching").orElseThrow();
    keepLastBlock = new NativeFunction(symbols.find("retstack_keep_last_block").orElseThrow());
    findFrame = new NativeFunction(symbols.find("retstack_find_frame").orElseThrow());
    compiler =
        symbols.find("retstack_compiler").orElseThrow().reinterpret(Long.MAX_VALUE).getString(0);
    layout = layout(symbols.find("retstack_layout").orElseThrow());
  }

  /** The library; empty where {@link #whyNot} says why. */
  public static Optional<NativeLibrary> find() {
    return Optional.ofNullable(Loaded.LIBRARY);
  }

  /** Why there is none; empty where there is one. */
  public static String whyNot() {
    return Loaded.WHY_NOT;
  }

  /** A probe of one core, its block hook not yet added to the engine. */
  public Pacer probe(Machine machine, ProbePlan plan) {
    return new NativeProbe(this, machine, plan);
  }

  /** The compiler that made it, with its version. */
  public String compiler() {
    return compiler;
  }

  /**
   * The block hook; its user data is a {@code struct core}.
   *
   * @param watching true looks for returns by an overwritten slot at each block
   */
  MemorySegment onBlock(boolean watching) {
    return watching ? onBlockWatching : onBlock;
  }

  /**
   * Before the table of blocks of a {@code struct core} is cleared: what the last one was stays.
   */
  void keepLastBlock(MemorySegment core) {
    keepLastBlock.call(core);
  }

  /** Which frame of a {@code struct core} returns through a place: {@link NativeFrames}. */
  void findFrame(MemorySegment core) {
    findFrame.call(core);
  }

  /** Offset in bytes of {@code struct.field}, size of {@code struct}, or a constant by name. */
  long at(String name) {
    Long offset = layout.get(name);
    if (offset == null) {
      throw new IllegalStateException("probe in C: no " + name + " in its layout: build it again");
    }
    return offset;
  }

  /** What both sides know must be equal. */
  void require(String name, long value) {
    if (at(name) != value) {
      throw new IllegalStateException(
          "probe in C: %s is %d, not %d: build it again".formatted(name, at(name), value));
    }
  }

  /** An array of {const char *name; uint64_t offset;}, ended by a null name. */
  private static Map<String, Long> layout(MemorySegment start) {
    MemorySegment all = start.reinterpret(Long.MAX_VALUE);
    Map<String, Long> offsets = new HashMap<>();
    for (long at = 0; ; at += 2L * Long.BYTES) {
      MemorySegment name = all.get(ADDRESS, at);
      if (name.address() == 0) {
        return Map.copyOf(offsets);
      }
      offsets.put(
          name.reinterpret(Long.MAX_VALUE).getString(0), all.get(JAVA_LONG, at + Long.BYTES));
    }
  }
}
