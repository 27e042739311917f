package dev.retstack.service.reconstruct;

/**
 * The whole state of one partition of events as one unit: what was counted, and up to where.
 *
 * @param partition number of the events partition
 * @param epoch raised each time a member takes the partition over; later writers have higher ones
 * @param nextOffset first offset of the events partition that is not part of {@code state}
 * @param state bytes of the GraphState; empty where nothing was applied yet
 */
public record Checkpoint(int partition, long epoch, long nextOffset, StateBytes state) {
  /** The state before the first chunk. */
  public static Checkpoint initial(int partition) {
    return new Checkpoint(partition, 0, 0, StateBytes.NONE);
  }

  @Override
  public String toString() {
    return "Checkpoint[partition %d, epoch %d, next offset %d, %d bytes]"
        .formatted(partition, epoch, nextOffset, state.length());
  }
}
