package dev.retstack.service.nodes;

import dev.retstack.graph.snapshot.StateVersions;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;

/**
 * In which version the members of a group write state, so that each of them can take partitions of
 * the others over: the newest that all read. A pure state machine over the nodes topic, in the
 * broker's time.
 *
 * <p>What a member reads stands in a header of its record, since releases that do not know of it
 * would refuse a record with another schema. A member that died without a word still counts for a
 * while: it may be about to come back as it was.
 */
public final class VersionVote {
  /** What members read that do not say so: the releases before this rule. */
  public static final StateVersions UNSAID = new StateVersions(10, 10);

  /** How long one that is silent still counts. */
  public static final long MEMORY_MILLIS = 600_000;

  private static final String HEADER = "state-versions";

  private record Entry(StateVersions reads, long heard) {}

  private final String prefix;
  private final StateVersions own;
  private final Map<String, Entry> entries = new HashMap<>();
  private final BrokerTime time = new BrokerTime();
  private boolean caughtUp;

  /**
   * A vote of one.
   *
   * @param own what this member reads and can write
   */
  public VersionVote(String group, StateVersions own) {
    this.prefix = NodeTable.key(group, "");
    this.own = own;
  }

  /** What this member reads. */
  public StateVersions own() {
    return own;
  }

  /** Says in a record of the nodes topic what its member reads. */
  static void say(StateVersions reads, Headers headers) {
    headers.add(HEADER, new byte[] {(byte) reads.oldest(), (byte) reads.newest()});
  }

  /** What a record of the nodes topic says. */
  static StateVersions said(Headers headers) {
    Header header = headers.lastHeader(HEADER);
    if (header == null || header.value() == null || header.value().length < 2) {
      return UNSAID;
    }
    int oldest = header.value()[0] & 0xff;
    int newest = header.value()[1] & 0xff;
    return oldest < 1 || newest < oldest ? UNSAID : new StateVersions(oldest, newest);
  }

  /**
   * Takes a record of the topic.
   *
   * @param reads what its member reads; empty where it took back what it had said
   * @param millis when the broker had it
   */
  public void heard(String key, Optional<StateVersions> reads, long millis) {
    long now = time.at(millis);
    if (!key.startsWith(prefix)) {
      return;
    }
    if (reads.isEmpty()) {
      entries.remove(key);
    } else {
      entries.put(key, new Entry(reads.get(), now));
    }
    entries.values().removeIf(entry -> now - entry.heard() > MEMORY_MILLIS);
  }

  /** All was read that the topic held. */
  public void caughtUp() {
    caughtUp = true;
  }

  /**
   * The version to write: the newest that this member and all others read, or the oldest that this
   * one can write where that is newer still.
   *
   * @param current what is written now, which is kept as long as others are not known
   */
  public int toWrite(int current) {
    if (!caughtUp) {
      return own.reads(current) ? current : own.newest();
    }
    int newest = own.newest();
    for (Entry entry : entries.values()) {
      newest = Math.min(newest, entry.reads().newest());
    }
    return Math.max(newest, own.oldest());
  }

  /** Whether some other member that was heard of lately reads this version. */
  public boolean othersRead(String self, int version) {
    return entries.entrySet().stream()
        .anyMatch(
            entry ->
                !entry.getKey().equals(self)
                    && time.now() - entry.getValue().heard() <= NodeTable.EXPIRY_MILLIS
                    && entry.getValue().reads().reads(version));
  }

  /** Members that hold the version down, for people; empty where nobody does. */
  public String holdingBack() {
    return entries.entrySet().stream()
        .filter(entry -> entry.getValue().reads().newest() < own.newest())
        .map(
            entry ->
                "%s reads %s"
                    .formatted(entry.getKey().substring(prefix.length()), entry.getValue().reads()))
        .sorted()
        .reduce((a, b) -> a + ", " + b)
        .orElse("");
  }
}
