package dev.retstack.fleet.probe.task;

import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.Segment;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.machine.memory.GuestMemory;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The variables of an image and the mappings of a core, as bounds of stacks. */
public final class GuestRegions implements StackRegions {
  private static final Region ALL = new Region(0, -1, true);

  /** Of libgcc's {@code struct stack_segment}, with which a piece of a stack begins. */
  private static final int SEGMENT_WORDS = 7;

  /** Words of it: the bytes behind it, and the stack pointer that the stack came from. */
  private static final int SEGMENT_BYTES = 2;

  private static final int SEGMENT_FROM = 3;

  private final GuestMemory memory;
  private final List<Segment> segments;
  private final List<Symbol> objects;
  private final long[] starts;
  private final boolean inPieces;
  private boolean handlersRan;

  /** Those of a core that runs an image. */
  public GuestRegions(GuestMemory memory, ElfFile image) {
    this.memory = memory;
    this.segments = image.segments();
    this.objects = image.objects();
    this.inPieces = image.symbol("__morestack").isPresent();
    this.starts = objects.stream().mapToLong(Symbol::address).toArray();
  }

  @Override
  public boolean inPieces() {
    return inPieces;
  }

  @Override
  public void handlerBegins() {
    handlersRan = true;
  }

  /** What the tracer cannot do right for this program; empty where there is no such thing. */
  public Optional<String> limit() {
    return inPieces && handlersRan
        ? Optional.of(
            "the program has split stacks and ran signal handlers: if one throws, jumps out or takes a backtrace, exits may be missing and the output may differ; compile with -fno-split-stack, or record entries alone with --tracer function")
        : Optional.empty();
  }

  @Override
  public Region at(long address) {
    return memory
        .mappingAt(address)
        .map(m -> data(new Region(m.start(), m.start() + m.host().byteSize(), false), address))
        .orElse(ALL);
  }

  @Override
  public Set<Region> pieces(long address) {
    Set<Region> pieces = new LinkedHashSet<>();
    long at = address;
    while (at != 0 && pieces.add(at(at))) {
      at = cameFrom(at(at));
    }
    return pieces;
  }

  /** An address of the piece that a stack was on before; 0 for its first one. */
  private long cameFrom(Region piece) {
    long end = piece.end();
    for (long start = piece.start(); start <= piece.start() + GuestMemory.PAGE; ) {
      long words = (long) SEGMENT_WORDS * memory.wordBytes();
      if (!piece.data()
          && memory.isMapped(start, words)
          && segment(start, SEGMENT_BYTES) + words == end - start) {
        long from = segment(start, SEGMENT_FROM) - 1;
        return memory.isMapped(from, 1) ? from : 0;
      }
      start += GuestMemory.PAGE; // behind a guard page
    }
    return 0;
  }

  private long segment(long start, int word) {
    return memory.readWord(start + (long) word * memory.wordBytes());
  }

  private Region data(Region mapping, long address) {
    boolean data =
        segments.stream()
            .anyMatch(
                s ->
                    Long.compareUnsigned(s.address(), mapping.end()) < 0
                        && Long.compareUnsigned(s.end(), mapping.start()) > 0);
    if (!data) {
      return mapping;
    }
    int found = Arrays.binarySearch(starts, address);
    int at = found >= 0 ? found : -found - 2;
    if (at >= 0) {
      Symbol object = objects.get(at);
      Region variable = new Region(object.address(), object.address() + object.size(), false);
      if (variable.holds(address)) {
        return variable;
      }
    }
    return new Region(mapping.start(), mapping.end(), true);
  }
}
