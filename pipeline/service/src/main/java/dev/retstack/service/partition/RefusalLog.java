package dev.retstack.service.partition;

import java.time.Duration;
import java.util.List;

/**
 * Log lines for the refused records of one partition: the first ones in a minute each, then how
 * many more there were. So a producer of poison does not fill the disk with lines. All of them are
 * in dead letters. Pure: it makes lines, and does not write them.
 */
final class RefusalLog {
  /** Lines in a minute, beside those that count. */
  static final int LINES = 10;

  static final long MINUTE_NANOS = Duration.ofMinutes(1).toNanos();

  /** Reasons hold what a producer sent: names may be long. */
  private static final int CHARACTERS = 400;

  private final int partition;
  private long sinceNanos;
  private int told;
  private long more;

  RefusalLog(int partition) {
    this.partition = partition;
  }

  /** Lines to write now that a record was refused. */
  List<String> lines(long offset, String reason, long nowNanos) {
    String counted = "";
    if (told == 0 || nowNanos - sinceNanos >= MINUTE_NANOS) {
      if (more > 0) {
        counted =
            "partition %d: %d more records went to dead letters in the last %d s"
                .formatted(partition, more, Duration.ofNanos(nowNanos - sinceNanos).toSeconds());
      }
      sinceNanos = nowNanos;
      told = 0;
      more = 0;
    }
    if (told == LINES) {
      more++;
      return more > 1
          ? List.of()
          : List.of(
              "partition %d: more records go to dead letters and are counted for a minute; retstack dead-letters list shows them"
                  .formatted(partition));
    }
    told++;
    String line =
        "partition %d offset %d goes to dead letters: %s"
            .formatted(partition, offset, shown(reason));
    return counted.isEmpty() ? List.of(line) : List.of(counted, line);
  }

  /** On one line, whatever names a producer gave. */
  private static String shown(String reason) {
    String line = reason.replaceAll("[\\p{Cntrl}\\u2028\\u2029]", "?");
    return line.length() > CHARACTERS ? line.substring(0, CHARACTERS) + ".." : line;
  }
}
