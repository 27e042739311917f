package dev.retstack.machine.linux.call;

/** Receives each system call. */
public interface SystemCallListener {
  /**
   * A system call begins.
   *
   * @param name empty where the number is unknown
   * @param arguments six, whatever the call needs
   */
  void entered(long number, String name, long[] arguments);

  /** A system call ends, and the program continues. */
  void left(long number, long result);

  /** A listener that ignores all calls. */
  SystemCallListener NONE =
      new SystemCallListener() {
        @Override
        public void entered(long number, String name, long[] arguments) {}

        @Override
        public void left(long number, long result) {}
      };
}
