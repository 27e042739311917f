package dev.retstack.machine.linux.call;

import java.io.IOException;

/** What one system call does. */
@FunctionalInterface
public interface SystemCall {
  /**
   * Carries the call out.
   *
   * @param a the six arguments
   * @return the result; never an error number
   * @throws SystemCallException with the error number to return
   * @throws IOException where the host failed: EIO
   */
  long call(long[] a) throws IOException;
}
