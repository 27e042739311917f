package dev.retstack.fleet.probe.nativec;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.retstack.fleet.probe.Pacer;
import dev.retstack.fleet.probe.site.EntryPoints;
import dev.retstack.machine.landing.LandingPage;
import dev.retstack.machine.landing.Machine;
import dev.retstack.machine.landing.Trampolines;
import dev.retstack.machine.memory.GuestMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/**
 * The blocks that ran, as the probe in C looks them up: how many instructions, and what they are.
 */
final class NativeBlocks {
  private static final int FIRST = 512;

  private final NativeLibrary layout;
  private final GuestMemory memory;
  private final LandingPage landing;
  private final Trampolines trampolines;
  private final EntryPoints points;
  private final NativeSites sites;
  private final List<byte[]> idleLoops;
  private final NativeTable table;

  NativeBlocks(
      NativeLibrary layout, Arena arena, Machine machine, EntryPoints points, NativeSites sites) {
    this.layout = layout;
    memory = machine.memory();
    landing = machine.landing();
    trampolines = machine.trampolines();
    this.points = points;
    this.sites = sites;
    idleLoops = machine.isa().stops().idleLoops();
    table =
        new NativeTable(
            arena, layout.at("block"), layout.at("block.address"), layout.at("block.size"), FIRST);
  }

  NativeTable table() {
    return table;
  }

  /** Notes a block that is met for the first time. */
  void add(long address, int size, int count) {
    int behind = sites.behind(address + size);
    String kind = behind < 0 ? "PROGRAM" : "SKIP";
    int index = Math.max(0, behind);
    int[] called = points.countingFunctions().get(address);
    EntryPoints.Site site = points.hasBlocks() ? points.ofBlock(address, size) : null;
    if (called != null) {
      kind = "COUNTING";
      index = called[0];
    } else if (landing.placeAt(address) >= 0) {
      kind = "HANDLER";
      index = landing.placeAt(address);
    } else if (trampolines.indexAt(address) >= 0) {
      kind = "HANDLER";
      index = LandingPage.PLACES + trampolines.indexAt(address);
    } else if (site != null && !sites.isCallAgain(site)) {
      kind = site.byAddress() ? "FUNCTION" : "SITE";
      index = sites.at(address, site, behind);
    } else if (landing.holds(address) || trampolines.holds(address)) {
      kind = landing.stopsAt(address) ? "STOP" : "LANDING";
    } else if (landing.stopsAt(address)) {
      kind = "STOP";
    } else if (points.leavesFrames(address)) {
      kind = "UNWINDER";
    } else if (count <= Pacer.IDLE_LOOP && isIdleLoop(address, size)) {
      kind = "IDLE";
    }
    MemorySegment entry = table.put(address, (short) size);
    entry.set(JAVA_SHORT, layout.at("block.count"), (short) count);
    int what = index << layout.at("KIND_BITS") | (int) layout.at("BLOCK_" + kind);
    entry.set(JAVA_INT, layout.at("block.what"), what);
  }

  private boolean isIdleLoop(long address, int size) {
    byte[] code = memory.read(address, size);
    return landing.endsInIdleLoop()
        && idleLoops.stream().anyMatch(loop -> Arrays.equals(loop, code));
  }
}
