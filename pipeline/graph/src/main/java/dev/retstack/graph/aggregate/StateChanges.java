package dev.retstack.graph.aggregate;

/**
 * Takes what changed of a state: parts by key. A part replaces the one that stood under its key, as
 * a record does in a compacted topic. All parts of one {@linkplain GraphState#writeChanges writing}
 * belong together: whoever keeps some of them keeps all, or none.
 */
public interface StateChanges {
  /** The part under this key is now this. */
  void put(String key, byte[] part);

  /** There is no part under this key any more. */
  void remove(String key);
}
