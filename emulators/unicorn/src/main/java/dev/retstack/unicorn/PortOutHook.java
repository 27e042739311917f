package dev.retstack.unicorn;

/** Called for the x86 instruction {@code out}. */
@FunctionalInterface
public interface PortOutHook {
  /**
   * The guest writes a port.
   *
   * @param port port number
   * @param size bytes: 1, 2 or 4
   * @param value what the guest writes
   */
  void onOut(int port, int size, int value);
}
