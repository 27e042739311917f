package dev.retstack.service.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
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
  /** Key of the part that says up to which offset a state that was lost has published. */
  private static final String PUBLISHED = "published";

  /** The state before the first chunk. */
  public static Checkpoint initial(int partition) {
    return new Checkpoint(partition, 0, 0, new TreeMap<>());
  }

  /**
   * The first checkpoint, if a state that was lost has published: what it found in events below
   * this offset is not published again.
   */
  static Checkpoint again(int partition, long published) {
    Checkpoint again = initial(partition);
    again.parts().put(PUBLISHED, ByteBuffer.allocate(Long.BYTES).putLong(published).array());
    return again;
  }

  /** Offset of events below which a state that was lost has published; 0 if there was none. */
  long published() {
    return Math.max(0, offset(parts.get(PUBLISHED)));
  }

  /**
   * Takes out of the parts what {@link #published} says.
   *
   * @throws IOException where it is no offset
   */
  public static long takePublished(Map<String, byte[]> parts) throws IOException {
    long published = offset(parts.remove(PUBLISHED));
    if (published < 0) {
      throw new IOException("corrupt state: it was published up to no offset");
    }
    return published;
  }

  /** The offset in a part: 0 where there is no part, negative where it holds none. */
  private static long offset(byte[] part) {
    if (part == null) {
      return 0;
    }
    return part.length == Long.BYTES ? ByteBuffer.wrap(part).getLong() : -1;
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
