package dev.retstack.answers.view;

import dev.retstack.answers.history.History;
import dev.retstack.answers.history.History.Slot;
import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import java.time.Instant;
import java.util.List;

/** How fast a job worked lately. */
public final class HistoryView {
  private static final int SECONDS = History.SLOT_MILLIS / 1_000;
  private static final double NANOS_PER_MILLI = 1e6;

  private HistoryView() {}

  /**
   * The past of a job. Lag and losses are left out of slots in which not every partition had one
   * owner that reported them.
   *
   * @param members that reported their past
   * @param missing which did not, and why
   * @param partitions of the job
   */
  public static Document of(List<Slot> slots, int members, List<String> missing, int partitions) {
    Table<Slot> table =
        new Table<Slot>()
            .number("time", Slot::millis)
            .number("records", slot -> slot.counts().records())
            .number("lag", slot -> isWhole(slot, partitions) ? lag(slot) : null)
            .number("lost", slot -> isWhole(slot, partitions) ? slot.levels().lost() : null)
            .number("checkpointBytes", slot -> slot.counts().checkpointBytes())
            .number("checkpointCpuMs", slot -> slot.counts().checkpointNanos() / NANOS_PER_MILLI)
            .number("members", Slot::members)
            .onlyText("begin", slot -> Instant.ofEpochMilli(slot.millis()))
            .onlyTextNumber("rate", slot -> slot.counts().records() / SECONDS)
            .onlyTextNumber("byteRate", slot -> slot.counts().checkpointBytes() / SECONDS)
            .onlyTextNumber(
                "cpu",
                slot ->
                    "%.1f"
                        .formatted(
                            slot.counts().checkpointNanos() / NANOS_PER_MILLI / (10 * SECONDS)))
            .headed(
                "FROM=begin",
                "RECORDS/S=rate",
                "LAG",
                "LOST",
                "CHECKPOINT-B/S=byteRate",
                "CHECKPOINT-CPU-%=cpu",
                "MEMBERS");
    Document document =
        new Document()
            .field("seconds", SECONDS)
            .field("members", members)
            .field("missing", missing);
    missing.forEach(why -> document.line("missing: " + why));
    return document.table("history", table, slots);
  }

  private static boolean isWhole(Slot slot, int partitions) {
    return slot.levels().partitions() == partitions;
  }

  private static Long lag(Slot slot) {
    return slot.levels().lag() < 0 ? null : slot.levels().lag();
  }
}
