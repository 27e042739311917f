package dev.retstack.unicorn.library;

/** libunicorn is missing, does not load, or may not be called; the message has the cure. */
public final class UnicornLoadException extends RuntimeException {
  UnicornLoadException(String message) {
    super(message);
  }

  UnicornLoadException(String message, Throwable cause) {
    super(message, cause);
  }
}
