package dev.retstack.fleet.probe.nativec;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.retstack.fleet.probe.site.EntryPoints;
import dev.retstack.fleet.probe.site.SitePatcher;
import dev.retstack.fleet.probe.site.ValueRange;
import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.ReturnReads;
import dev.retstack.machine.loader.PatchSite;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The table of sites for the probe in C: calls by return address, all others by index. */
final class NativeSites {
  private static final int FIRST = 256;

  private final NativeLibrary layout;
  private final Arena arena;
  private final SitePatcher patcher;
  private final EntryPoints points;

  /** Number of cards; those for skipped calls stand behind them. */
  private final int cards;

  private final long bytes;
  private final NativeTable calls;

  /** Index of each site in {@link #blocks}. */
  private final Map<Key, Integer> indexes = new HashMap<>();

  /** The sites in {@link #blocks}. */
  private final List<EntryPoints.Site> listed = new ArrayList<>();

  private MemorySegment blocks;

  /**
   * What distinguishes the sites of blocks.
   *
   * @param address where the function is entered
   * @param behind index of the skipped call that the block ends with; -1: with none
   * @param selfPc what records call the site
   */
  private record Key(long address, int behind, long selfPc) {}

  /** No sites yet. */
  NativeSites(NativeLibrary layout, Arena arena, SitePatcher patcher, EntryPoints points) {
    this.layout = layout;
    this.arena = arena;
    this.patcher = patcher;
    this.points = points;
    cards = points.cards().size();
    bytes = layout.at("site");
    calls = new NativeTable(arena, bytes, layout.at("site.key"), layout.at("site.used"), FIRST);
    blocks = arena.allocate(bytes, NativeTable.CACHE_LINE);
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

  /**
   * Forgets all, for other rules.
   *
   * @param behind index of the site that is behind the last block; -1 for none
   * @return the new index, also where the site is off now: it may be on again when the core
   *     continues
   */
  int forget(int behind) {
    EntryPoints.Site site = behind < 0 ? null : listed.get(behind);
    long after = behind < 0 ? 0 : blocks.get(JAVA_LONG, behind * bytes + layout.at("site.key"));
    clear();
    indexes.clear();
    listed.clear();
    return site == null ? -1 : behind(after, site);
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
    return indexes.computeIfAbsent(new Key(address, behind, site.selfPc()), key -> add(key, site));
  }

  /** True for a site whose call the program wrote again: the counting function is the entry. */
  boolean isCallAgain(EntryPoints.Site site) {
    return site.switchedOff() && patcher.isCallAgain(site);
  }

  /** Index of the skipped call that a block ends with; -1: with none. */
  int behind(long end) {
    PatchSite site = patcher.jumpingTo(end);
    return site == null || points.rules().off(site.site().address())
        ? -1
        : behind(site.site().after(), SitePatcher.entry(site));
  }

  private int behind(long after, EntryPoints.Site site) {
    return indexes.computeIfAbsent(new Key(after, -1, site.selfPc()), key -> add(key, site));
  }

  private int add(Key key, EntryPoints.Site site) {
    int index = listed.size();
    listed.add(site);
    if (index * bytes == blocks.byteSize()) {
      MemorySegment more = arena.allocate(2 * blocks.byteSize(), NativeTable.CACHE_LINE);
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
    entry.set(JAVA_SHORT, layout.at("site.card"), (short) card);
    entry.set(JAVA_LONG, layout.at("site.up"), points.up(site.convention(), site.selfPc()));
    byte leaves = (byte) (points.leavesFrames(entry.get(JAVA_LONG, layout.at("site.key"))) ? 1 : 0);
    entry.set(JAVA_BYTE, layout.at("site.leaves"), leaves);
    entry.set(JAVA_BYTE, layout.at("site.ahead"), (byte) (site.switchedOff() ? 1 : 0));
    long passed = site.passed() ? layout.at("SPECIAL_PASSED") : 0;
    boolean reads = points.reads(site.selfPc()) != ReturnReads.Kind.NONE;
    long reading = reads ? layout.at("SPECIAL_READS") : 0;
    short special = (short) (points.rules().of(site.selfPc()) | passed | reading);
    entry.set(JAVA_SHORT, layout.at("site.special"), special);
    long where = layout.at("WHERE_" + site.facts().where());
    entry.set(JAVA_BYTE, layout.at("site.where"), (byte) where);
    ValueRange arguments = points.rules().arguments(site.selfPc());
    entry.set(JAVA_BYTE, layout.at("site.first_argument"), (byte) arguments.first());
    entry.set(JAVA_BYTE, layout.at("site.end_argument"), (byte) arguments.end());
    entry.set(JAVA_BYTE, layout.at("site.argument_format"), (byte) arguments.format());
    byte returned = (byte) points.rules().returnFormat(site.selfPc());
    entry.set(JAVA_BYTE, layout.at("site.return_format"), returned);
    AbiCard convention = points.cards().get(site.convention());
    boolean keeps = convention.framesEverywhere() || site.facts().keepsFrame();
    entry.set(JAVA_BYTE, layout.at("site.keeps_frame"), (byte) (keeps ? 1 : 0));
  }
}
