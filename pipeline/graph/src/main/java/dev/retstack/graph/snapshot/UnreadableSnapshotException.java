package dev.retstack.graph.snapshot;

import java.io.IOException;

/** A snapshot of a version that is not read here; in itself it is well. */
public final class UnreadableSnapshotException extends IOException {
  private static final long serialVersionUID = 1;

  private final int found;

  /**
   * @param found the snapshot's version
   * @param reads the versions that are read
   */
  public UnreadableSnapshotException(int found, StateVersions reads) {
    super(
        "snapshot of version %d, this program reads version %s: %s"
            .formatted(
                found,
                reads,
                found > reads.newest()
                    ? "run the release that wrote it, or have that one write an older version"
                    : "run the release between, or replay from the topic"));
    this.found = found;
  }

  /** The snapshot's version. */
  public int found() {
    return found;
  }
}
