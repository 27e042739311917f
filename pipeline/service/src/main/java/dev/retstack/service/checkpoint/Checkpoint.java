package dev.retstack.service.checkpoint;

import java.util.Map;
import java.util.TreeMap;

/**
 * What a partition of events was up to an offset: the whole state when it is loaded, only its
 * changes when it is written.
 *
 * @param partition number of the events partition
 * @param epoch raised each time a member takes the partition over; later writers have higher ones
 * @param nextOffset first offset of the events partition that is not part of the state
 * @param parts by key; null for one that is there no more; its reader may take some out
 */
public record Checkpoint(int partition, long epoch, long nextOffset, Map<String, byte[]> parts) {
  /** The state before the first chunk. */
  public static Checkpoint initial(int partition) {
    return new Checkpoint(partition, 0, 0, new TreeMap<>());
  }

  /** The same state under another owner. */
  Checkpoint withEpoch(long raised) {
    return new Checkpoint(partition, raised, nextOffset, parts);
  }

  /** Bytes of its parts. */
  public long bytes() {
    return parts.values().stream().mapToLong(part -> part == null ? 0 : part.length).sum();
  }

  @Override
  public String toString() {
    return "Checkpoint[partition %d, epoch %d, next offset %d, %d parts of %d bytes]"
        .formatted(partition, epoch, nextOffset, parts.size(), bytes());
  }
}
