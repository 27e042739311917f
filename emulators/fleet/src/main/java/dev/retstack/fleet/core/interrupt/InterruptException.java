package dev.retstack.fleet.core.interrupt;

/** The program breaks a rule of the interrupt controller. It ends the core with a sentence. */
public final class InterruptException extends RuntimeException {
  InterruptException(String message) {
    super(message);
  }
}
