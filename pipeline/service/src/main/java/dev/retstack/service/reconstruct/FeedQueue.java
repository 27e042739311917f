package dev.retstack.service.reconstruct;

import java.util.ArrayDeque;
import java.util.Deque;
import org.apache.pekko.pattern.StatusReply;

/**
 * Records that came for a partition and are not applied yet: those in line, and before them the one
 * whose image is awaited. The stream that feeds the partition bounds it.
 *
 * <p>Held, it gives nothing out any more, and answers nobody: the next owner reads these records
 * again. They are answered when the feed is known to be over, so that the feed does not break off
 * while the connector still counts on it.
 */
final class FeedQueue {
  private final Deque<PartitionGraph.Ingest> line = new ArrayDeque<>();
  private ParkedChunk parked;
  private boolean held;

  void add(PartitionGraph.Ingest m) {
    line.add(m);
  }

  /** The next record; null where there is none, or where none may be applied now. */
  PartitionGraph.Ingest next() {
    return held || parked != null ? null : line.poll();
  }

  /** Nothing is given out until this one's image has come. */
  void park(ParkedChunk chunk) {
    parked = chunk;
  }

  /** The one whose image was awaited; null where it is not to be applied here any more. */
  ParkedChunk unpark() {
    if (held) {
      return null;
    }
    ParkedChunk waited = parked;
    parked = null;
    return waited;
  }

  boolean isParked() {
    return parked != null;
  }

  int size() {
    return line.size() + (parked == null ? 0 : 1);
  }

  /** Gives nothing out any more. */
  void hold() {
    held = true;
  }

  boolean isHeld() {
    return held;
  }

  /** Answers all as if they were done: their feed is over. */
  void acknowledge() {
    if (parked != null) {
      parked.ingest().replyTo().tell(StatusReply.ack());
      parked = null;
    }
    line.forEach(m -> m.replyTo().tell(StatusReply.ack()));
    line.clear();
  }

  /** Answers all that they failed, which ends their feed. */
  void fail(Throwable cause) {
    if (parked != null) {
      parked.ingest().replyTo().tell(StatusReply.error(cause));
      parked = null;
    }
    line.forEach(m -> m.replyTo().tell(StatusReply.error(cause)));
    line.clear();
  }
}
