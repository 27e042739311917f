package dev.retstack.machine.linux.call;

/** Receives each system call. */
public interface SystemCallListener {
  /**
   * One begins.
   *
   * @param name empty where the number is of none
   * @param arguments six, whatever the call needs
   */
  void entered(long number, String name, long[] arguments);

  /** It ends, and the program goes on. */
  void left(long number, long result);

  /** Nobody listens. */
  SystemCallListener NONE =
      new SystemCallListener() {
        @Override
        public void entered(long number, String name, long[] arguments) {}

        @Override
        public void left(long number, long result) {}
      };
}
