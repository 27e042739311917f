package dev.retstack.answers.view;

import dev.retstack.answers.state.StateCopy;
import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import dev.retstack.graph.check.Count;
import dev.retstack.schema.wire.Visible;
import java.util.OptionalLong;

/**
 * A partition's part in an answer: its sender and position, or why it is missing.
 *
 * @param node member that gave it; empty where it is missing
 * @param epoch how often the partition was taken over
 * @param nextOffset first offset of events that is not in it
 * @param lag records of events that are not in it yet; empty where Kafka did not answer
 * @param waiting those of the lag that wait for their image
 * @param ageMs greatest age of the part when the answer is made, in milliseconds
 * @param missing why it is not in the answer; empty where it is
 */
public record PartRow(
    int partition,
    String node,
    long epoch,
    long nextOffset,
    OptionalLong lag,
    StateCopy.Waiting waiting,
    long ageMs,
    String missing) {
  /** A part that nobody gave. */
  public static PartRow missing(int partition, String reason) {
    return new PartRow(
        partition, "", 0, 0, OptionalLong.empty(), StateCopy.Waiting.NONE, 0, reason);
  }

  /** Whether it is not in the answer. */
  public boolean isMissing() {
    return !missing.isEmpty();
  }

  /**
   * {@code parts:[{partition, node, epoch, nextOffset, lag, waiting:{chunks, images}, ageMs}]}, or
   * {@code {partition, missing}}; {@code waiting} only where chunks wait for images.
   */
  public static final Table<PartRow> PARTS =
      new Table<PartRow>()
          .number("partition", PartRow::partition)
          .text("missing", part -> part.isMissing() ? part.missing() : null)
          .text("node", part -> part.known(part.node()))
          .number("epoch", part -> part.known(part.epoch()))
          .number("nextOffset", part -> part.known(part.nextOffset()))
          .number("lag", PartRow::lag)
          .onlyJson("waiting", PartRow::waitingFields)
          .number(
              "waitingChunks",
              part -> part.waiting().chunks() == 0 ? null : part.waiting().chunks())
          .number("ageMs", part -> part.known(part.ageMs()));

  private Object known(Object value) {
    return isMissing() ? null : value;
  }

  private Object waitingFields() {
    return waiting.chunks() == 0
        ? null
        : Document.object("chunks", waiting.chunks(), "images", waiting.images());
  }

  /** Which chunks wait for images, in words; empty where none do. */
  String waits() {
    return waiting.chunks() == 0
        ? ""
        : "%s for images %s"
            .formatted(
                Count.grouped(waiting.chunks(), "chunk waits", "chunks wait"),
                Visible.line(waiting.images()));
  }

  /** In a header: {@code 0=host:7070 age=12 lag=0} or {@code 0=missing}. */
  public String header() {
    if (isMissing()) {
      return partition + "=missing";
    }
    String head = "%d=%s age=%d".formatted(partition, Visible.line(node), ageMs);
    return lag.isPresent() ? head + " lag=" + lag.getAsLong() : head;
  }
}
