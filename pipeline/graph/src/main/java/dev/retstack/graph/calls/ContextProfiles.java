package dev.retstack.graph.calls;

import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.totals.CallProfile;
import dev.retstack.graph.totals.ContextKey;
import dev.retstack.graph.totals.ProfileRoom;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The totals of each task of one core, and of its interrupts. They replace the one profile that all
 * cores of an image share. Together they keep as many functions and edges as that profile. Tasks
 * beyond the limit share one profile.
 */
final class ContextProfiles {
  private final CoreKey core;
  private final int maxTasks;
  private final ProfileRoom room;
  private final Map<ContextKey, CallProfile> profiles = new LinkedHashMap<>();

  ContextProfiles(CoreKey core, GraphLimits limits) {
    this.core = core;
    this.maxTasks = limits.tasks();
    this.room = new ProfileRoom(limits.functions(), limits.edges());
  }

  /** The profile that the calls of a stack go to. */
  CallProfile of(ShadowStack stack) {
    ContextKey key =
        stack.isInterrupt()
            ? ContextKey.ofInterrupts(core)
            : new ContextKey(core, stack.task().id(), stack.task().instance());
    boolean fits = profiles.containsKey(key) || profiles.size() < maxTasks;
    return profiles.computeIfAbsent(
        fits ? key : ContextKey.ofOthers(core), _ -> new CallProfile(room));
  }

  /** All of them, in the order in which they were first needed. */
  Map<ContextKey, CallProfile> all() {
    return Collections.unmodifiableMap(profiles);
  }
}
