package dev.retstack.graph.snapshot;

/**
 * Takes what changed of a state: parts by key. A part replaces the earlier one of its key, as a
 * record does in a compacted topic. All parts of one writing belong together: keep all of them, or
 * none.
 */
public interface StateChanges {
  /** The part under this key is now this. */
  void put(String key, byte[] part);

  /** There is no part under this key any more. */
  void remove(String key);
}
