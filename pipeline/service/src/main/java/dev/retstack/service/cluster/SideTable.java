package dev.retstack.service.cluster;

import java.util.Set;

/**
 * Which side of a split goes on, by the log of the sides' claims: that of the first one, for as
 * long as it is renewed. A pure state machine; all that read the log come to the same side, and no
 * clock but the broker's is asked.
 */
final class SideTable {
  private final long expiryMillis;
  private String speaker;
  private Set<String> side = Set.of();
  private long renewed;
  private long offset = -1;
  private long now = Long.MIN_VALUE;

  /**
   * No side goes on.
   *
   * @param expiryMillis a claim that was not renewed for so long is over
   */
  SideTable(long expiryMillis) {
    this.expiryMillis = expiryMillis;
  }

  /**
   * Takes a claim.
   *
   * @param owner member that speaks for its side
   * @param members those that it reaches, itself among them
   * @param at offset of the record
   * @param millis when the broker had it
   */
  void claimed(String owner, Set<String> members, long at, long millis) {
    goOn(millis);
    if (speaker == null || speaker.equals(owner)) {
      speaker = owner;
      side = Set.copyOf(members);
      renewed = now;
      offset = at;
    }
  }

  /** Takes a claim back; where it was not the first one that means nothing. */
  void released(String owner, long millis) {
    goOn(millis);
    if (owner.equals(speaker)) {
      end();
    }
  }

  private void goOn(long millis) {
    now = Math.max(now, millis); // a new leader of the partition may be behind the old one
    if (speaker != null && now - renewed > expiryMillis) {
      end();
    }
  }

  private void end() {
    speaker = null;
    side = Set.of();
  }

  /** Members of the side that went on when the last record was written; empty where none did. */
  Set<String> side() {
    return side;
  }

  /** Whether it is this member that speaks for that side. */
  boolean speaks(String member) {
    return member.equals(speaker);
  }

  /** Offset of the last claim that counted. */
  long offset() {
    return offset;
  }
}
