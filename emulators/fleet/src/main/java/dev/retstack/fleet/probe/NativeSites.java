package dev.retstack.fleet.probe;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/** The sites as the probe in C looks them up: calls by return address, all others by index. */
final class NativeSites {
  private static final int FIRST = 256;

  private final NativeLibrary layout;
  private final Arena arena;
  private final SkippedCalls skipped;
  private final int cards;
  private final long bytes;
  private final NativeTable calls;

  /** Index of each site in {@link #blocks}. */
  private final Map<Key, Integer> indexes = new HashMap<>();

  private MemorySegment blocks;

  /**
   * What tells the sites of blocks apart.
   *
   * @param address where the function is entered
   * @param behind index of the skipped call that the block ends with; -1: with none
   */
  private record Key(long address, int behind) {}

  /**
   * No sites yet.
   *
   * @param cards so many, behind which those for skipped calls stand
   */
  NativeSites(NativeLibrary layout, Arena arena, SkippedCalls skipped, int cards) {
    this.layout = layout;
    this.arena = arena;
    this.skipped = skipped;
    this.cards = cards;
    bytes = layout.at("site");
    calls = new NativeTable(arena, bytes, layout.at("site.key"), layout.at("site.used"), FIRST);
    blocks = arena.allocate(bytes, Long.BYTES);
  }

  /** Sites of calls. */
  NativeTable calls() {
    return calls;
  }

  /** All others, an array. */
  MemorySegment blocks() {
    return blocks;
  }

  /** Forgets the calls; sites of blocks are known from the file. */
  void clear() {
    calls.clear();
  }

  void addCall(long returnAddress, EntryPoints.Site site) {
    fill(calls.put(returnAddress, (short) 1), site);
  }

  /**
   * Index of the site that a block begins with.
   *
   * @param behind what {@link #behind} said of the block
   */
  int at(long address, EntryPoints.Site site, int behind) {
    return indexes.computeIfAbsent(new Key(address, behind), key -> add(key, site));
  }

  /** Index of the skipped call that a block ends with; -1: with none. */
  int behind(long end) {
    long after = skipped.after(end);
    if (after == 0) {
      return -1;
    }
    EntryPoints.Site site = skipped.site(after);
    return indexes.computeIfAbsent(new Key(after, -1), key -> add(key, site));
  }

  private int add(Key key, EntryPoints.Site site) {
    int index = indexes.size();
    if (index * bytes == blocks.byteSize()) {
      MemorySegment more = arena.allocate(2 * blocks.byteSize(), Long.BYTES);
      more.copyFrom(blocks);
      blocks = more;
    }
    MemorySegment entry = blocks.asSlice(index * bytes, bytes);
    entry.set(JAVA_LONG, layout.at("site.key"), key.address());
    entry.set(JAVA_INT, layout.at("site.behind"), key.behind() + 1);
    fill(entry, site);
    return index;
  }

  private void fill(MemorySegment entry, EntryPoints.Site site) {
    entry.set(JAVA_LONG, layout.at("site.self_pc"), site.selfPc());
    entry.set(JAVA_LONG, layout.at("site.saved_at"), site.facts().savedAt());
    entry.set(JAVA_LONG, layout.at("site.frame_bytes"), site.facts().frameBytes());
    int card = site.convention() + (site.switchedOff() ? cards : 0);
    entry.set(JAVA_INT, layout.at("site.card"), card);
    entry.set(JAVA_SHORT, layout.at("site.ahead"), (short) (site.switchedOff() ? 1 : 0));
    long where = layout.at("WHERE_" + site.facts().where());
    entry.set(JAVA_SHORT, layout.at("site.where"), (short) where);
    int keeps = site.facts().keepsFrame() ? 1 : 0;
    entry.set(JAVA_SHORT, layout.at("site.keeps_frame"), (short) keeps);
  }
}
