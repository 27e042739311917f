package dev.retstack.service.reconstruct;

import java.util.ArrayDeque;
import java.util.Deque;
import org.apache.pekko.pattern.StatusReply;

/**
 * Records that came for a partition and are not taken yet. The stream that feeds the partition
 * bounds them.
 *
 * <p>Held, it gives nothing out any more, and answers nobody: the next owner reads these records
 * again. They are answered when the feed is known to be over, so that the feed does not break off
 * while the connector still counts on it.
 */
final class FeedQueue {
  private final Deque<PartitionGraph.Ingest> line = new ArrayDeque<>();
  private boolean held;

  void add(PartitionGraph.Ingest m) {
    line.add(m);
  }

  /** The next record; null where there is none, or where none may be applied now. */
  PartitionGraph.Ingest next() {
    return held ? null : line.poll();
  }

  /** The record given out last is the next one again. */
  void putBack(PartitionGraph.Ingest m) {
    line.addFirst(m);
  }

  int size() {
    return line.size();
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
    line.forEach(m -> m.replyTo().tell(StatusReply.ack()));
    line.clear();
  }

  /** Answers all that they failed, which ends their feed. */
  void fail(Throwable cause) {
    line.forEach(m -> m.replyTo().tell(StatusReply.error(cause)));
    line.clear();
  }
}
