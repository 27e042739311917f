package dev.retstack.graph.calls;

import dev.retstack.graph.input.CoreKey;

/**
 * A chunk made the reconstruction of its core throw. That is a defect of retstack, whatever the
 * chunk says.
 *
 * <p>Unless it is {@link #clean()}, the state has changed: return to a state that was written
 * before, and break the core at this chunk.
 */
public final class BrokenCoreException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final transient CoreKey key;
  private final long sequence;
  private final boolean clean;

  private BrokenCoreException(CoreKey key, long sequence, boolean clean, Throwable cause) {
    super(
        "chunk %d of core %s of session %s made reconstruction fail, which is a defect of retstack:"
                .formatted(sequence, key.core(), key.session())
            + " "
            + place(cause),
        cause);
    this.key = key;
    this.sequence = sequence;
    this.clean = clean;
  }

  /** What was thrown at this chunk; the same where it says so already. */
  public static BrokenCoreException of(CoreKey key, long sequence, Throwable thrown) {
    return thrown instanceof BrokenCoreException broken
        ? broken
        : new BrokenCoreException(key, sequence, false, thrown);
  }

  private static String place(Throwable cause) {
    StackTraceElement[] stack = cause.getStackTrace();
    return cause + (stack.length == 0 ? "" : " at " + stack[0]);
  }

  /** This exception, for a state that the chunk did not change. */
  public BrokenCoreException cleanly() {
    return new BrokenCoreException(key, sequence, true, getCause());
  }

  public CoreKey key() {
    return key;
  }

  /** Number of the chunk; that one and all behind it are left out. */
  public long sequence() {
    return sequence;
  }

  /** Whether the state is what it was before the chunk. */
  public boolean clean() {
    return clean;
  }
}
