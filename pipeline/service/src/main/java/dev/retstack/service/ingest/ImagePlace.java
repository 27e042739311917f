package dev.retstack.service.ingest;

/** Where a record stands in the images topic. */
public record ImagePlace(int partition, long offset) {
  @Override
  public String toString() {
    return "partition %d, offset %d".formatted(partition, offset);
  }
}
