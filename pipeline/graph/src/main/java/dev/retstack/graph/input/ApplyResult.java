package dev.retstack.graph.input;

/** What happened to a chunk. */
public enum ApplyResult {
  /** Its records are in the state. */
  APPLIED,
  /**
   * It is kept until the chunks ahead of it come, or are given up; or it came late, and there are
   * still such chunks. It counts in all that is shown.
   */
  HELD,
  /** It came again, or after its gap was given up: counted, changed nothing else. */
  STALE,
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
