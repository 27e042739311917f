package dev.retstack.fleet.publish;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Bytes that may be on their way at a time: the second buffer of all cores. While there is room, no
 * core waits. Waiting cores are served in the order of arrival; else a core with large chunks would
 * wait for ever behind many with small ones.
 */
final class Room {
  private final int bytesMax;
  private final Semaphore free;
  private int now;
  private long times;
  private long nanos;

  /** When the waits of this moment began, each as the difference to a fixed origin, summed. */
  private long begun;

  private final long origin = System.nanoTime();

  Room(int bytesMax) {
    this.bytesMax = bytesMax;
    this.free = new Semaphore(bytesMax, /* fair= */ true);
  }

  /**
   * Waits until there is room.
   *
   * @return what has to be given back
   */
  int take(int bytes) throws InterruptedException {
    int taken = Math.min(bytes, bytesMax);
    if (!free.tryAcquire(taken)) {
      long start = begin();
      try {
        free.acquire(taken);
      } finally {
        end(start);
      }
    }
    return taken;
  }

  /** Waits until nothing is on its way; false where something still is. */
  boolean awaitEmpty(Duration limit) {
    try {
      if (!free.tryAcquire(bytesMax, limit.toNanos(), TimeUnit.NANOSECONDS)) {
        return false;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
    free.release(bytesMax);
    return true;
  }

  void giveBack(int taken) {
    free.release(taken);
  }

  /** A core waits from now on, for whatever reason; returns what {@link #end} wants. */
  synchronized long begin() {
    long start = System.nanoTime() - origin;
    now++;
    times++;
    begun += start;
    return start;
  }

  synchronized void end(long start) {
    now--;
    begun -= start;
    nanos += System.nanoTime() - origin - start;
  }

  synchronized SinkWaits waits() {
    long current = now * (System.nanoTime() - origin) - begun;
    return new SinkWaits(now, times, nanos + current);
  }
}
