package dev.retstack.machine.memory;

/** The host touched guest memory that is not mapped. A system call answers it with EFAULT. */
public final class GuestAccessException extends RuntimeException {
  private final long address;

  GuestAccessException(long address, long size) {
    super("no guest memory at 0x%x (%d bytes)".formatted(address, size));
    this.address = address;
  }

  /** First byte of the access; unsigned. */
  public long address() {
    return address;
  }
}
