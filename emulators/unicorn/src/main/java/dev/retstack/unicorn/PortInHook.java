package dev.retstack.unicorn;

/** Called for the x86 instruction {@code in}. */
@FunctionalInterface
public interface PortInHook {
  /**
   * The guest reads a port.
   *
   * @param port port number
   * @param size bytes: 1, 2 or 4
   * @return what the guest reads
   */
  int onIn(int port, int size);
}
