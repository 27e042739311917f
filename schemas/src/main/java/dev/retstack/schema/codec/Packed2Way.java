package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.Packed2Sureness.*;

/** A successor of a point, and what is known of the time to it. */
final class Packed2Way {
  /** Stands for the time where it varies. */
  static final long TIME_VARIES = -1;

  /** Whose call comes by this way, or {@link Packed2Model#back} for the return; null: nothing. */
  Packed2Site site;

  /** The time it took last; {@link #TIME_VARIES} where that tells nothing. */
  long time;

  int timing;

  /** True where the time is sure or varies: the loops need not teach it. */
  boolean settled;

  void clear() {
    site = null;
    time = 0;
    timing = UNSURE;
    settled = false;
  }

  void open(Packed2Site successor, long delta) {
    clear();
    site = successor;
    time = delta;
  }

  boolean isSure() {
    return timing == SURE;
  }

  void learn(long delta) {
    timing = taught(timing, delta == time);
    time = timing == VARIES ? TIME_VARIES : delta;
    settled = timing == VARIES || (timing == SURE && delta >= 0);
  }
}
