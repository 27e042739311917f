package dev.retstack.fleet.probe;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.retstack.fleet.control.TraceSettings;
import dev.retstack.fleet.control.Tracer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The settings of a core as the probe in C has them: its mode, and what goes with it. */
final class NativeRules {
  private static final long NONE = -1;

  private final NativeLibrary layout;
  private final NativeCore core;
  private final Arena arena;
  private MemorySegment late = MemorySegment.NULL;

  NativeRules(NativeLibrary layout, NativeCore core, Arena arena) {
    this.layout = layout;
    this.core = core;
    this.arena = arena;
    core.set("graph_base", NONE);
  }

  /**
   * What becomes of entries from here on.
   *
   * @param frames ret_stack
   */
  void follow(SiteRules rules, MemorySegment frames) {
    TraceSettings settings = rules.settings();
    long frameCount = core.get("frame_count");
    if (!is("LATE")) {
      core.set("written", frameCount);
    }
    boolean unwritten = isUnwritten();
    core.set("min_duration", settings.minDuration());
    core.set("max_depth", settings.maxDepth());
    core.set("graph_base", graphBase(rules, frames, frameCount));
    set("PAUSED", !settings.on());
    set("FUNCTION", settings.tracer() != Tracer.FUNCTION_GRAPH);
    set("GRAPH", !settings.graphFunctions().isEmpty());
    set("LATE", settings.minDuration() > 0 || unwritten);
    set("DEPTH", settings.maxDepth() > 0);
    makeRoom();
  }

  private long graphBase(SiteRules rules, MemorySegment frames, long count) {
    for (long i = 0; i < count; i++) {
      long selfPc = frames.get(JAVA_LONG, i * layout.at("frame") + layout.at("frame.self_pc"));
      if ((rules.of(selfPc) & SiteRules.GRAPH) != 0 && !isHidden(frames, i)) {
        return i;
      }
    }
    return NONE;
  }

  /** True where the frame leaves no records. */
  boolean isHidden(MemorySegment frames, long index) {
    long at = index * layout.at("frame") + layout.at("frame.special");
    return (frames.get(JAVA_SHORT, at) & layout.at("FRAME_HIDDEN")) != 0;
  }

  /** Where entries are kept back, there must be room for as many as ret_stack has frames. */
  void makeRoom() {
    long bytes = core.get("frame_capacity") * layout.at("late");
    if (is("LATE") && late.byteSize() < bytes) {
      MemorySegment more = arena.allocate(bytes, Long.BYTES);
      more.copyFrom(late);
      late = more;
      core.set("late", late);
    }
  }

  /** Sets or clears a bit of the mode. */
  void set(String bit, boolean value) {
    long mask = layout.at("MODE_" + bit);
    core.set("mode", value ? core.get("mode") | mask : core.get("mode") & ~mask);
  }

  /** True where nothing is recorded of what happens now, beside calls. */
  boolean isQuiet(MemorySegment frames) {
    long top = core.get("frame_count") - 1;
    return is("PAUSED") || isUnwritten() || (is("HIDDEN") && top >= 0 && isHidden(frames, top));
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
