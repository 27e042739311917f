package dev.retstack.answers.viewer;

import java.time.Duration;

/**
 * Questions go before work in the background: that waits while one is answered, and a moment
 * longer, in which the answer is written and drawn. It never waits long, so that it comes to its
 * end however often somebody asks.
 */
final class Precedence {
  private static final long MOMENT_NS = Duration.ofMillis(100).toNanos();
  private static final long WAIT_NS_MAX = Duration.ofMillis(300).toNanos();

  private int questions;
  private long quietFrom = System.nanoTime();

  /** Somebody is expected to ask within this time. */
  synchronized void expect(Duration time) {
    quietFrom = System.nanoTime() + time.toNanos();
  }

  /** A question begins. */
  synchronized void begin() {
    questions++;
  }

  /** Ends a question. */
  synchronized void end() {
    questions--;
    quietFrom = System.nanoTime() + MOMENT_NS;
  }

  /** Waits where somebody asks. Called between two small parts of the work. */
  synchronized void giveWay() throws InterruptedException {
    long begun = System.nanoTime();
    long left = left(begun);
    while (left > 0) {
      wait(Math.ceilDiv(left, 1_000_000));
      left = left(begun);
    }
  }

  private long left(long begun) {
    long now = System.nanoTime();
    long quiet = questions > 0 ? MOMENT_NS : quietFrom - now;
    return Math.min(quiet, begun + WAIT_NS_MAX - now);
  }
}
