package dev.retstack.graph.snapshot;

/**
 * Versions of snapshots that somebody reads, all of them from the oldest to the newest.
 *
 * @param oldest 1 to 255
 * @param newest {@code oldest} to 255
 */
public record StateVersions(int oldest, int newest) {
  public StateVersions {
    if (oldest < 1 || newest < oldest || newest > 255) {
      throw new IllegalArgumentException(
          "snapshot versions %d to %d: give 1 to 255, the oldest first".formatted(oldest, newest));
    }
  }

  /** Whether this one is among them. */
  public boolean reads(int version) {
    return oldest <= version && version <= newest;
  }

  /**
   * The same without those newer than {@code pin}.
   *
   * @throws IllegalArgumentException where none is left, or {@code pin} is not among them
   */
  public StateVersions upTo(int pin) {
    if (!reads(pin)) {
      throw new IllegalArgumentException(
          "state version %d: this release reads and writes %s".formatted(pin, this));
    }
    return new StateVersions(oldest, pin);
  }

  /** {@code 10} or {@code 10 to 11}. */
  @Override
  public String toString() {
    return oldest == newest ? String.valueOf(newest) : oldest + " to " + newest;
  }
}
