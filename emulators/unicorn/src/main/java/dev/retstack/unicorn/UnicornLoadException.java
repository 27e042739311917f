package dev.retstack.unicorn;

/** libunicorn is missing, does not load, or may not be called; the message says how to mend it. */
public final class UnicornLoadException extends RuntimeException {
  UnicornLoadException(String message) {
    super(message);
  }

  UnicornLoadException(String message, Throwable cause) {
    super(message, cause);
  }
}
