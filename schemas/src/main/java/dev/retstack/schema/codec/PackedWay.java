package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.PackedSureness.*;

/** A successor of a point, and what is known of the time to it. */
final class PackedWay {
  /** Stands for a time that is coded. */
  static final long TIME_VARIES = -1;

  /** Whose call comes by this way, or {@link PackedModel#back} for the return; null: nothing. */
  PackedSite site;

  /** The time it took last. */
  long time;

  private int timing;

  void clear() {
    site = null;
    time = 0;
    timing = UNSURE;
  }

  void open(PackedSite successor, long delta) {
    clear();
    site = successor;
    time = delta;
  }

  boolean isSure() {
    return timing == SURE;
  }

  /** The time, or what stands for it where it is not sure. */
  long foretoldTime() {
    return timing == SURE ? time : TIME_VARIES;
  }

  /** The successor, once its time needs no more teaching, and is none to be mistaken. */
  PackedSite settledSite() {
    return timing == VARIES || (timing == SURE && time >= 0) ? site : null;
  }

  void learn(long delta) {
    timing = taught(timing, delta == time);
    time = delta;
  }
}
