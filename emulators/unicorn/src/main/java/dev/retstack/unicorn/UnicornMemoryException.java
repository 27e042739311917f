package dev.retstack.unicorn;

/**
 * An access of the guest to memory that is not mapped, not permitted or not aligned. Unicorn
 * reports only the kind; a {@link Hook.Memory} gets the address.
 */
public final class UnicornMemoryException extends UnicornException {
  UnicornMemoryException(String message, int code) {
    super(message, code);
  }
}
