package dev.retstack.fleet.probe.task;

import dev.retstack.fleet.probe.frame.FrameStack;

/**
 * A guest thread of execution.
 *
 * @param <S> frames of a context
 */
final class GuestTask<S extends FrameStack> {
  /** As records name it, unsigned. */
  final long id;

  /** Its innermost context: that of the last interrupt that is open, else its own. */
  Context<S> top;

  /** The task that ran when its outermost function was called; null where that is not known. */
  GuestTask<S> begunBy;

  /** True for one that nobody named: its stack shows that it is there. */
  boolean isCoroutine;

  /** Of a thread: an address on the stack that it began on; 0: that of the program. */
  long stack;

  /** True where records have named it, or need not. */
  boolean started;

  /** True where it has no future: it ends when the core continues with another. */
  boolean ending;

  /** True where it has ended, though calls of it may still return. */
  boolean over;

  /** True where it has begun again, for the records, in interrupts of which they do not know. */
  boolean interruptsUnknown;

  GuestTask(long id) {
    this.id = id;
  }
}
