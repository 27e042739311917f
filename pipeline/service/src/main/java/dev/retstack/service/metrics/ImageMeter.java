package dev.retstack.service.metrics;

import java.util.concurrent.atomic.LongAdder;

/** What a member knows of images. Written by the registry's actor, read by scrapes. */
public final class ImageMeter {
  private final LongAdder readAgain = new LongAdder();
  private volatile long known;
  private volatile long bytes;

  /** An image that had gone from memory was read from the topic. */
  public void readAgain() {
    readAgain.increment();
  }

  /** So many images are known, and so many bytes of them are in memory. */
  public void holds(long images, long heldBytes) {
    known = images;
    bytes = heldBytes;
  }

  void addTo(Samples samples) {
    samples.add(Metric.IMAGES, known);
    samples.add(Metric.IMAGES_BYTES, bytes);
    samples.add(Metric.IMAGES_READ_AGAIN, readAgain.sum());
  }
}
