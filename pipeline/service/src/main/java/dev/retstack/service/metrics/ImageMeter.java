package dev.retstack.service.metrics;

import java.util.concurrent.atomic.LongAdder;

/** What a member knows of images. Written by the registry's actor, read by scrapes. */
public final class ImageMeter {
  private final LongAdder readAgain = new LongAdder();
  private final LongAdder searches = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private volatile long known;
  private volatile long bytes;
  private volatile long forgotten;

  /** An image that had gone from memory was read from the topic. */
  public void readAgain() {
    readAgain.increment();
  }

  /** The topic was searched for images. */
  public void searched() {
    searches.increment();
  }

  /** A record of the topic holds no image that can be used. */
  public void refused() {
    refused.increment();
  }

  /**
   * What the registry holds.
   *
   * @param images whose place is known
   * @param heldBytes of them in memory
   * @param forgottenSoFar how often a place was forgotten
   */
  public void holds(long images, long heldBytes, long forgottenSoFar) {
    known = images;
    bytes = heldBytes;
    forgotten = forgottenSoFar;
  }

  void addTo(Samples samples) {
    samples.add(Metric.IMAGES, known);
    samples.add(Metric.IMAGES_BYTES, bytes);
    samples.add(Metric.IMAGES_READ_AGAIN, readAgain.sum());
    samples.add(Metric.IMAGES_FORGOTTEN, forgotten);
    samples.add(Metric.IMAGES_SEARCHES, searches.sum());
    samples.add(Metric.IMAGES_REFUSED, refused.sum());
  }
}
