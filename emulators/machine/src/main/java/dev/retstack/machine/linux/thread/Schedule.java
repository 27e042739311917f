package dev.retstack.machine.linux.thread;

/**
 * How the threads of a program take turns.
 *
 * @param quantum instructions of a turn; 0: the program cannot start threads
 * @param seed 0: round robin with turns of {@code quantum}; else which thread is next and how long
 *     its turn is, 1 to twice the quantum, are drawn from this seed
 */
public record Schedule(long quantum, long seed) {
  /** Default length of a turn. */
  public static final long QUANTUM = 10_000;

  /** The longest turn. */
  public static final long QUANTUM_MOST = 1L << 40;

  /** Turns of the default length, round robin. */
  public static final Schedule STANDARD = new Schedule(QUANTUM, 0);

  /** No threads. */
  public static final Schedule NONE = new Schedule(0, 0);

  public Schedule {
    if (quantum < 0 || quantum > QUANTUM_MOST) {
      throw new IllegalArgumentException(
          "a quantum of %d instructions: at most %d, 0 for no threads"
              .formatted(quantum, QUANTUM_MOST));
    }
  }
}
