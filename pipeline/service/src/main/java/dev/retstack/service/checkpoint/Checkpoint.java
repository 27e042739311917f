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
  /** Key of the part that says with which revision cores begin, where they were told of before. */
  private static final String REVISION = "revision";

  /** The state before the first chunk. */
  public static Checkpoint initial(int partition) {
    return new Checkpoint(partition, 0, 0, new TreeMap<>());
  }

  /**
   * The same where what a state published before it was lost is published again: its cores begin
   * with a revision that none of them had. Each core that begins so, and each rise of a revision,
   * is a record of the anomalies. So no revision is above their number, whatever a clock says.
   *
   * @param anomalies records that its partition of the anomalies has had, also those that expired
   */
  static Checkpoint again(int partition, long anomalies) {
    Checkpoint again = initial(partition);
    int revision = Math.toIntExact(anomalies + 1);
    again.parts().put(REVISION, ByteBuffer.allocate(Integer.BYTES).putInt(revision).array());
    return again;
  }

  /**
   * Takes out of the parts with which revision cores begin.
   *
   * @throws IOException where it is none
   */
  public static int takeRevision(Map<String, byte[]> parts) throws IOException {
    byte[] part = parts.remove(REVISION);
    if (part == null) {
      return 0;
    }
    int revision = part.length == Integer.BYTES ? ByteBuffer.wrap(part).getInt() : -1;
    if (revision < 0) {
      throw new IOException("corrupt state: cores begin with a revision that is none");
    }
    return revision;
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
