package dev.retstack.fleet.probe.nativec;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.retstack.machine.landing.Homes;
import dev.retstack.machine.landing.Trampolines;
import it.unimi.dsi.fastutil.longs.Long2IntMap;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.OptionalInt;

/**
 * The trampolines of a core for the probe in C: one place for each hash of a return address. They
 * are good for calls that return to few addresses. For many addresses they cost more than they
 * save, because each is a separate piece of code in the engine.
 *
 * <p>So a place is given to another address after a number of calls that missed it, and each time
 * after twice as many. If places changed hands so often that there must be many addresses, no
 * address gets one any more until other functions are traced.
 */
final class NativeTrampolines {
  private static final int FIRST_PATIENCE = 256;
  private static final int MOST_DOUBLINGS = 20;
  private static final int MOST_CHANGES = 64;

  private final NativeLibrary layout;
  private final NativeCore core;
  private final Trampolines trampolines;
  private final MemorySegment table;
  private final Long2IntMap numbers = new Long2IntOpenHashMap();
  private int changes;

  NativeTrampolines(NativeLibrary layout, NativeCore core, Arena arena, Trampolines trampolines) {
    this.layout = layout;
    this.core = core;
    this.trampolines = trampolines;
    table =
        arena.allocate(layout.at("TRAMPOLINES") * layout.at("trampoline"), NativeTable.CACHE_LINE);
    core.set("trampoline_start", trampolines.start());
    core.set("trampoline_end", trampolines.end());
    core.set("trampoline_shift", trampolines.shift());
    reset();
  }

  /** Gives all places anew. Frames that return through a trampoline still do. */
  void reset() {
    table.fill((byte) 0);
    changes = 0;
    core.set("trampolines", trampolines.start() == 0 ? MemorySegment.NULL : table);
  }

  private int make(long target) {
    OptionalInt index = trampolines.add(target);
    return index.isEmpty() ? 0 : Homes.MOST + index.getAsInt() + 1;
  }

  /** Gives a return address its place, with a trampoline if there can be one. */
  void add(long target) {
    int number = numbers.computeIfAbsent(target, this::make);
    long bucket = (target * 0x9e37_79b9_7f4a_7c15L) >>> layout.at("TRAMPOLINE_SHIFT");
    long place = bucket * layout.at("trampoline");
    int given = table.get(JAVA_SHORT, place + layout.at("trampoline.given"));
    changes += given > 0 ? 1 : 0;
    if (changes == MOST_CHANGES) {
      core.set("trampolines", MemorySegment.NULL);
    }
    int patience = FIRST_PATIENCE << Math.min(given, MOST_DOUBLINGS);
    table.set(JAVA_LONG, place + layout.at("trampoline.target"), target);
    table.set(JAVA_SHORT, place + layout.at("trampoline.number"), (short) number);
    table.set(JAVA_INT, place + layout.at("trampoline.misses_left"), patience);
    table.set(
        JAVA_SHORT,
        place + layout.at("trampoline.given"),
        (short) Math.min(given + 1, MOST_DOUBLINGS));
  }
}
