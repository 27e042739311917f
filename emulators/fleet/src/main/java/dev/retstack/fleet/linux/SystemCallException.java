package dev.retstack.fleet.linux;

/** A system call that fails with an error number; it says no more to the guest. */
final class SystemCallException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Errno errno;

  SystemCallException(Errno errno) {
    // Guests fail calls often and on purpose: no stack trace.
    super(errno.name(), null, false, false);
    this.errno = errno;
  }

  Errno errno() {
    return errno;
  }
}
