package dev.retstack.fleet.probe;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The sites as the probe in C looks them up: calls by return address, all others by index. */
final class NativeSites {
  private static final int FIRST = 256;

  private final NativeLibrary layout;
  private final Arena arena;
  private final SkippedCalls skipped;
  private final int cards;
  private final long bytes;
  private final NativeTable calls;

  /** Index of each site in {@link #blocks}, by the address where its function is entered. */
  private final Long2IntOpenHashMap indexes = new Long2IntOpenHashMap();

  private MemorySegment blocks;

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
    fill(calls.put(returnAddress, 1), site, site.convention());
  }

  /** Index of the site that a block begins with. */
  int at(long address, EntryPoints.Site site) {
    return index(address, site, site.convention());
  }

  /** One more than the index of the skipped call that a block ends with; 0: with none. */
  int behind(long end) {
    long after = skipped.after(end);
    if (after == 0) {
      return 0;
    }
    EntryPoints.Site site = skipped.site(after);
    return index(after, site, site.convention() + cards) + 1;
  }

  private int index(long enteredAt, EntryPoints.Site site, int card) {
    if (indexes.containsKey(enteredAt)) {
      return indexes.get(enteredAt);
    }
    int index = indexes.size();
    indexes.put(enteredAt, index);
    if (index * bytes == blocks.byteSize()) {
      MemorySegment more = arena.allocate(2 * blocks.byteSize(), Long.BYTES);
      more.copyFrom(blocks);
      blocks = more;
    }
    MemorySegment entry = blocks.asSlice(index * bytes, bytes);
    entry.set(JAVA_LONG, layout.at("site.key"), enteredAt);
    fill(entry, site, card);
    return index;
  }

  private void fill(MemorySegment entry, EntryPoints.Site site, int card) {
    entry.set(JAVA_LONG, layout.at("site.self_pc"), site.selfPc());
    entry.set(JAVA_LONG, layout.at("site.saved_at"), site.facts().savedAt());
    entry.set(JAVA_LONG, layout.at("site.frame_bytes"), site.facts().frameBytes());
    entry.set(JAVA_INT, layout.at("site.card"), card);
    long where = layout.at("WHERE_" + site.facts().where());
    entry.set(JAVA_SHORT, layout.at("site.where"), (short) where);
    int keeps = site.facts().keepsFrame() ? 1 : 0;
    entry.set(JAVA_SHORT, layout.at("site.keeps_frame"), (short) keeps);
  }
}
