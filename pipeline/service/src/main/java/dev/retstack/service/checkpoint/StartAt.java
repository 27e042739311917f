package dev.retstack.service.checkpoint;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.TopicPartition;

/** Where a partition of events begins for a group that has no state of it yet. */
public sealed interface StartAt {
  /** At the first record that is there. */
  record Earliest() implements StartAt {}

  /** Behind the last record that is there when the partition is opened. */
  record Latest() implements StartAt {}

  /** At the first record from this time on, by the broker's clock. */
  record Time(Instant instant) implements StartAt {}

  /** At this offset. */
  record Offset(long offset) implements StartAt {}

  /**
   * Reads {@code earliest}, {@code latest}, an offset, or a time of ISO 8601 with its zone.
   *
   * @throws IllegalArgumentException for anything else
   */
  static StartAt parse(String text) {
    String word = text.strip();
    if (word.equals("earliest") || word.equals("latest")) {
      return word.equals("latest") ? new Latest() : new Earliest();
    }
    try {
      return word.chars().allMatch(c -> c >= '0' && c <= '9')
          ? new Offset(Long.parseLong(word))
          : new Time(OffsetDateTime.parse(word.toUpperCase(Locale.ROOT)).toInstant());
    } catch (NumberFormatException | DateTimeException e) {
      throw new IllegalArgumentException(
          "no start '%s': give earliest, latest, an offset, or a time such as 2026-11-26T16:00:00Z"
              .formatted(text),
          e);
    }
  }

  /**
   * The offset of the first record that is read.
   *
   * @throws IllegalArgumentException for an offset beyond the end of the partition
   */
  default long offset(Consumer<?, ?> reader, TopicPartition events) {
    long first = reader.beginningOffsets(List.of(events)).get(events);
    long end = reader.endOffsets(List.of(events)).get(events);
    return switch (this) {
      case Earliest _ -> first;
      case Latest _ -> end;
      case Time time -> {
        OffsetAndTimestamp found =
            reader.offsetsForTimes(Map.of(events, time.instant().toEpochMilli())).get(events);
        yield found == null ? end : found.offset();
      }
      case Offset at -> {
        if (at.offset() > end) {
          throw new IllegalArgumentException(
              "the start %d is behind the end of %s, which is %d: give latest, or a lower offset"
                  .formatted(at.offset(), events, end));
        }
        yield Math.max(first, at.offset());
      }
    };
  }
}
