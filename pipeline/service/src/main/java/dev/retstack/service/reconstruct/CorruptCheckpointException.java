package dev.retstack.service.reconstruct;

import java.io.IOException;

/** What was read from the state topic is not a checkpoint, or a damaged one. */
public final class CorruptCheckpointException extends IOException {
  private static final long serialVersionUID = 1;

  public CorruptCheckpointException(String message) {
    super(message);
  }
}
