package dev.retstack.cli.broker;

import java.io.IOException;

/** The broker cannot start, or it died. The message says why, and what to do. */
public final class BrokerException extends IOException {
  private static final long serialVersionUID = 1;

  public BrokerException(String message) {
    super(message);
  }

  public BrokerException(String message, Throwable cause) {
    super(message, cause);
  }
}
