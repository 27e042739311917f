package dev.retstack.fleet.probe.nativec;

import dev.retstack.machine.landing.Homes;
import java.lang.foreign.Arena;

/** The table of a core's homes for the probe in C, by return address. */
final class NativeHomes {
  private static final int FIRST = 64;

  private final NativeLibrary layout;
  private final NativeCore core;
  private final Arena arena;
  private final Homes homes;
  private NativeTable table;

  NativeHomes(NativeLibrary layout, NativeCore core, Arena arena, Homes homes) {
    this.layout = layout;
    this.core = core;
    this.arena = arena;
    this.homes = homes;
    layout.require("HOMES", Homes.MOST);
    layout.require("HOME_SHIFT", Homes.SHIFT);
    core.set("homes_start", homes.end());
  }

  /** Makes the home of a return address, if there is room. */
  void add(long target) {
    int home = homes.of(target);
    if (home == Homes.NONE) {
      core.set("homes_full", 1);
      return;
    }
    if (table == null) { // most programs need none
      table =
          new NativeTable(
              arena, layout.at("home"), layout.at("home.target"), layout.at("home.number"), FIRST);
    }
    table.put(target, (short) (home + 1));
    core.set("homes", table.entries());
    core.set("home_mask", table.mask());
    core.set("homes_start", homes.start());
  }
}
