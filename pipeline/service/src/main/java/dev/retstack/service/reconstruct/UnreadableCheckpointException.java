package dev.retstack.service.reconstruct;

import dev.retstack.graph.snapshot.StateVersions;
import java.io.IOException;

/**
 * The checkpoint of a partition is of a version that this member does not read, or none at all. It
 * is left as it is, for those who do.
 */
public final class UnreadableCheckpointException extends IOException {
  private static final long serialVersionUID = 1;

  private final int version;
  private final long nextOffset;

  UnreadableCheckpointException(Checkpoint found, int version, StateVersions reads) {
    super(
        ("the checkpoint of partition %d is of state version %d, this member reads %s: the partition"
                + " is left to other members; run the release that wrote it, or have its members"
                + " write an older one (--state-version) before others join")
            .formatted(found.partition(), version, reads));
    this.version = version;
    this.nextOffset = found.nextOffset();
  }

  /** One of a version that is read here, which cannot be used for another reason. */
  UnreadableCheckpointException(Checkpoint found, IOException why) {
    super(
        "the checkpoint of partition %d cannot be used here, the partition is left alone: %s"
            .formatted(found.partition(), why.getMessage()),
        why);
    this.version = 0;
    this.nextOffset = found.nextOffset();
  }

  /** One that is none, or more than this member has room for. */
  UnreadableCheckpointException(int partition, CorruptCheckpointException why) {
    super(
        ("the checkpoint of partition %d cannot be used here, the partition is left alone:"
                + " %s; see who writes to the state topic, then begin anew with another --group")
            .formatted(partition, why.getMessage()),
        why);
    this.version = 0;
    this.nextOffset = 0;
  }

  /** The version found; 0 where it is not the reason. */
  public int version() {
    return version;
  }

  /** First offset that is not in the checkpoint. */
  public long nextOffset() {
    return nextOffset;
  }
}
