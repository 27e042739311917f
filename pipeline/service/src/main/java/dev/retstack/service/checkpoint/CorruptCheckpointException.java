package dev.retstack.service.checkpoint;

import java.io.IOException;

/** What was read from the state topic is not a checkpoint, or is damaged. */
public final class CorruptCheckpointException extends IOException {
  private static final long serialVersionUID = 1;

  public CorruptCheckpointException(String message) {
    super(message);
  }
}
