package dev.retstack.simulation;

/** What survives the owner of a partition: its last state with the next offset, and a commit. */
final class Store {
  private long epoch;
  private long next;
  private byte[] state = {};
  private long committed;

  /** A new owner: what earlier ones write from now on is refused. */
  long take() {
    return ++epoch;
  }

  /** Stores a state, unless another owner came. */
  boolean put(long owner, long nextOffset, byte[] bytes) {
    if (owner != epoch) {
      return false;
    }
    next = nextOffset;
    state = bytes;
    return true;
  }

  /** The offset of the state becomes that from which an owner reads; it may lag, never lead. */
  void commit(long owner) {
    if (owner == epoch) {
      committed = next;
    }
  }

  long next() {
    return next;
  }

  long committed() {
    return committed;
  }

  /** Empty where none was stored. */
  byte[] state() {
    return state;
  }
}
