package dev.retstack.unicorn;

/**
 * An access of the guest to memory that is not mapped, not permitted or not aligned. Unicorn tells
 * the kind only; the address is what a {@link MemoryHook} is given.
 */
public final class UnicornMemoryException extends UnicornException {
  UnicornMemoryException(String message, int code) {
    super(message, code);
  }
}
