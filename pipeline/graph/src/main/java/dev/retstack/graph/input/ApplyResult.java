package dev.retstack.graph.input;

/** What happened to a chunk. */
public enum ApplyResult {
  /** Its records are in the state. */
  APPLIED,
  /** It came again: counted, changed nothing else. */
  STALE,
  /** It came after a later one of its core, and is lost: counted, changed nothing else. */
  LATE,
  /** Its image is unknown: nothing was changed; give the image and apply the chunk again. */
  NEEDS_IMAGE,
  /** It is of a new core, for which the budget of bytes has no room: counted, nothing else. */
  NO_ROOM,
  /**
   * It contradicts what its core said before (image, unit, or a chunk after the end), or there are
   * too many cores: counted, changed nothing else.
   */
  REFUSED
}
