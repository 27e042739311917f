package dev.retstack.machine.landing;

/**
 * The program jumped to the tracer's landing page, although no hijacked return led there. It ends
 * the core.
 */
public final class AstrayException extends RuntimeException {
  /** At {@code address}: of a handler slot to which no return was hijacked, or behind the slots. */
  public AstrayException(long address) {
    super(
        "jump to 0x%x, which is the tracer's: is a pointer or a return address wrong?"
            .formatted(address));
  }
}
