package dev.retstack.fleet.core;

/** The program and the interrupt controller do not agree. Ends the core with a sentence. */
final class InterruptException extends RuntimeException {
  InterruptException(String message) {
    super(message);
  }
}
