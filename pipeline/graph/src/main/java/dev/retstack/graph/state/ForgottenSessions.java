package dev.retstack.graph.state;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * What was dropped from a state since it began, because its sessions were silent for too long.
 *
 * @param sessions sessions; one with cores in several partitions counts in each
 * @param cores their cores
 * @param records trace records that were received of them
 * @param lost trace records of them that are known to be lost
 * @param since when the first was dropped, by the log's time: milliseconds since 1970-01-01 UTC; 0
 *     where none was
 */
public record ForgottenSessions(long sessions, long cores, long records, long lost, long since) {
  /** Nothing was. */
  public static final ForgottenSessions NONE = new ForgottenSessions(0, 0, 0, 0, 0);

  /** Both together. */
  public ForgottenSessions plus(ForgottenSessions other) {
    return new ForgottenSessions(
        sessions + other.sessions,
        cores + other.cores,
        records + other.records,
        lost + other.lost,
        since == 0 || other.since == 0 ? since + other.since : Math.min(since, other.since));
  }

  /** Writes these numbers, 8 bytes each, big-endian. */
  public void writeTo(DataOutput out) throws IOException {
    out.writeLong(sessions);
    out.writeLong(cores);
    out.writeLong(records);
    out.writeLong(lost);
    out.writeLong(since);
  }

  /** Reads what {@link #writeTo} wrote. */
  public static ForgottenSessions readFrom(DataInput in) throws IOException {
    return new ForgottenSessions(
        in.readLong(), in.readLong(), in.readLong(), in.readLong(), in.readLong());
  }
}
