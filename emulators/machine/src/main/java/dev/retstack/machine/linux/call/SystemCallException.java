package dev.retstack.machine.linux.call;

import dev.retstack.machine.isa.system.Errno;

/** A system call that fails with an error number. The guest sees only the number. */
public final class SystemCallException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Errno errno;

  public SystemCallException(Errno errno) {
    // Guests fail calls often and on purpose: no stack trace.
    super(errno.name(), null, false, false);
    this.errno = errno;
  }

  public Errno errno() {
    return errno;
  }
}
