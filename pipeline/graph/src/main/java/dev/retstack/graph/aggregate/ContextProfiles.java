package dev.retstack.graph.aggregate;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What the calls of each task of one core add up to, and those in its interrupts: in place of the
 * one profile that all cores of an image share. All of them together keep as many functions and
 * edges as that one would; tasks beyond the limit share one profile.
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
  CallProfile of(ContextCalls calls) {
    ContextKey key =
        calls.interrupt
            ? ContextKey.ofInterrupts(core)
            : new ContextKey(core, calls.task, calls.instance);
    boolean fits = profiles.containsKey(key) || profiles.size() < maxTasks;
    return profiles.computeIfAbsent(
        fits ? key : ContextKey.ofOthers(core), _ -> new CallProfile(room));
  }

  /** All of them, in the order in which they were first needed. */
  Map<ContextKey, CallProfile> all() {
    return Collections.unmodifiableMap(profiles);
  }
}
