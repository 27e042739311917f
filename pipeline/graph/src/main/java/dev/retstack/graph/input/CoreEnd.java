package dev.retstack.graph.input;

/** Why no chunk follows; the constants carry the names of the wire. */
public enum CoreEnd {
  /** More chunks may come. */
  RUNNING,
  /** The program ended by itself. */
  HALTED,
  /** The guest or the emulator failed. */
  FAULTED,
  /** A user or a limit stopped the core. */
  STOPPED,
  /** A chunk made reconstruction fail: that one and all behind it are left out. Not on the wire. */
  BROKEN,
  /** A reason this version does not know. */
  UNKNOWN
}
