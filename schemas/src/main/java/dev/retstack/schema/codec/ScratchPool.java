package dev.retstack.schema.codec;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.function.Supplier;

/**
 * Encoders or decoders that keep their tables and their memory outside the heap from chunk to
 * chunk. One works for one thread at a time; idle ones wait here, a few for each processor.
 */
final class ScratchPool<T extends ScratchPool.Scratch> {
  private final ArrayBlockingQueue<T> idle =
      new ArrayBlockingQueue<>(2 * Runtime.getRuntime().availableProcessors());
  private final Supplier<T> maker;

  /** What is kept. */
  interface Scratch {
    /** True where a large chunk made it too big to be kept. */
    boolean isOutsized();

    /** Gives back memory outside the heap. */
    void release();
  }

  ScratchPool(Supplier<T> maker) {
    this.maker = maker;
  }

  /** One that nobody else uses; to be given back. */
  T take() {
    T kept = idle.poll();
    return kept == null ? maker.get() : kept;
  }

  void give(T scratch) {
    if (scratch.isOutsized() || !idle.offer(scratch)) {
      scratch.release();
    }
  }
}
