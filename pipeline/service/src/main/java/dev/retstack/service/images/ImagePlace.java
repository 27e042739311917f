package dev.retstack.service.images;

/** The place of a record in the images topic. */
public record ImagePlace(int partition, long offset) {
  @Override
  public String toString() {
    return "partition %d, offset %d".formatted(partition, offset);
  }
}
