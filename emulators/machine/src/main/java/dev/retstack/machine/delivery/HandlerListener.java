package dev.retstack.machine.delivery;

/** Receives the beginning and the return of each signal handler. */
public interface HandlerListener {
  /**
   * Between two runs: a signal handler begins, as an interrupt on top of what is open.
   *
   * @param number its vector
   * @param pc where the program was
   * @param stackPointer there
   * @param top the handler's stack is below; by it {@link #signalExit} knows the handler
   * @param stack where a separate stack begins that the handler runs on
   * @param stackBytes its size; 0: it runs on the stack of what it interrupts
   */
  void signalEnter(long number, long pc, long stackPointer, long top, long stack, long stackBytes);

  /**
   * Between two runs: a signal handler returns; those on top of it are over too. Nothing happens
   * where the handler was left before.
   *
   * @param top that it began with
   * @param pc where the core continues
   */
  void signalExit(long top, long pc);
}
