package dev.retstack.fleet.publish;

import java.time.Duration;

/** For how long nobody has answered to what is on its way. Safe for use by several threads. */
final class Silence {
  private int onTheWay;
  private long sinceNanos;

  /** Something is on its way. */
  synchronized void sent() {
    if (onTheWay++ == 0) {
      sinceNanos = System.nanoTime();
    }
  }

  /** It arrived, or was refused, or was given up. */
  synchronized void answered() {
    onTheWay--;
    sinceNanos = System.nanoTime();
  }

  /** Since the last answer; zero where none is expected. */
  synchronized Duration length() {
    return onTheWay == 0 ? Duration.ZERO : Duration.ofNanos(System.nanoTime() - sinceNanos);
  }
}
