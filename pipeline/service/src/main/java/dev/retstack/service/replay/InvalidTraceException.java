package dev.retstack.service.replay;

import java.io.IOException;

/** A file that reads as a trace but whose entries do not fit together. */
public final class InvalidTraceException extends IOException {
  private static final long serialVersionUID = 1;

  public InvalidTraceException(String message, Throwable cause) {
    super(message, cause);
  }
}
