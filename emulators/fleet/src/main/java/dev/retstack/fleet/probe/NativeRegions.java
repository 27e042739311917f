package dev.retstack.fleet.probe;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.retstack.fleet.core.Mapping;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Where guest memory is, as the probe in C looks it up. */
final class NativeRegions {
  private final NativeLibrary layout;
  private final NativeCore core;
  private final Arena arena;
  private MemorySegment regions = MemorySegment.NULL;

  NativeRegions(NativeLibrary layout, NativeCore core, Arena arena) {
    this.layout = layout;
    this.core = core;
    this.arena = arena;
  }

  /** Describes all mappings, sorted by address. */
  void describe(List<Mapping> mappings) {
    long bytes = layout.at("region");
    if (regions.byteSize() < bytes * mappings.size()) {
      regions = arena.allocate(2 * bytes * mappings.size(), Long.BYTES);
    }
    for (int i = 0; i < mappings.size(); i++) {
      long at = i * bytes;
      regions.set(JAVA_LONG, at + layout.at("region.start"), mappings.get(i).start());
      regions.set(JAVA_LONG, at + layout.at("region.size"), mappings.get(i).host().byteSize());
      regions.set(JAVA_LONG, at + layout.at("region.host"), mappings.get(i).host().address());
    }
    core.set("regions", regions);
    core.set("region_count", mappings.size());
    core.set("last_region.size", 0); // none
    core.set("regions_stale", 0);
  }
}
