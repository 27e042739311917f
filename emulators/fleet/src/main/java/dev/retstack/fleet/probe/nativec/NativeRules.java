package dev.retstack.fleet.probe.nativec;

import dev.retstack.fleet.probe.site.SiteRules;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.fleet.settings.Tracer;

/** The settings of a core in the form of the probe in C: its mode and its parameters. */
final class NativeRules {
  private final NativeLibrary layout;
  private final NativeCore core;

  NativeRules(NativeLibrary layout, NativeCore core) {
    this.layout = layout;
    this.core = core;
  }

  /**
   * What becomes of entries from here on.
   *
   * @param contexts the frames of all
   */
  void follow(SiteRules rules, Iterable<NativeFrames> contexts) {
    TraceSettings settings = rules.settings();
    core.set("min_duration", settings.minDuration());
    core.set("max_depth", settings.maxDepth());
    set("PAUSED", !settings.on());
    set("FUNCTION", settings.tracer() != Tracer.FUNCTION_GRAPH);
    set("GRAPH", !settings.graphFunctions().isEmpty());
    set("DEPTH", settings.maxDepth() > 0);
    set("TASKS", rules.tasks().isActive());
    contexts.forEach(frames -> frames.follow(rules));
  }

  /** Sets or clears a bit of the mode. */
  void set(String bit, boolean value) {
    long mask = layout.at("MODE_" + bit);
    core.set("mode", value ? core.get("mode") | mask : core.get("mode") & ~mask);
  }

  /** True where nothing is recorded of what happens now, beside calls. */
  boolean isQuiet(NativeFrames frames) {
    boolean muted = core.get("muted") != 0;
    return muted || is("PAUSED") || isUnwritten() || (is("HIDDEN") && frames.isHidden());
  }

  /** True where open frames have no record of their entry. */
  boolean isUnwritten() {
    return is("LATE") && core.get("written") < core.get("frame_count");
  }

  /** True where a bit of the mode is set. */
  boolean is(String bit) {
    return (core.get("mode") & layout.at("MODE_" + bit)) != 0;
  }
}
