package dev.retstack.graph.input;

/** What happened to a chunk. */
public enum ApplyResult {
  /** The chunk's records are in the state. */
  APPLIED,
  /** The chunk came again: counted, changed nothing else. */
  STALE,
  /** The chunk came after a later one of its core, and is lost: counted, changed nothing else. */
  LATE,
  /** The chunk's image is unknown, and nothing was changed: give the image and apply it again. */
  NEEDS_IMAGE,
  /** The chunk's core is new, and the budget of bytes has no room for it: counted, nothing else. */
  NO_ROOM,
  /**
   * The chunk contradicts what its core said before (image, unit, or a chunk after the end), or
   * there are too many cores: counted, changed nothing else.
   */
  REFUSED
}
