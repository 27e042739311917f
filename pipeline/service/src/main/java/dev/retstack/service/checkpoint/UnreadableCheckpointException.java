package dev.retstack.service.checkpoint;

import java.io.IOException;

/** This member cannot use the checkpoint of a partition. It is left unchanged. */
public final class UnreadableCheckpointException extends IOException {
  private static final long serialVersionUID = 1;

  /** A checkpoint whose state cannot be used. */
  public UnreadableCheckpointException(Checkpoint found, IOException why) {
    super(
        "the checkpoint of partition %d cannot be used here, the partition is left alone: %s"
            .formatted(found.partition(), why.getMessage()),
        why);
  }

  /** A checkpoint that is corrupt, or larger than this member has room for. */
  UnreadableCheckpointException(int partition, CorruptCheckpointException why) {
    super(
        ("the checkpoint of partition %d cannot be used here, the partition is left alone:"
                + " %s; see who writes to the state topic, then start this member with --repair,"
                + " or begin again with another --group")
            .formatted(partition, why.getMessage()),
        why);
  }
}
