package dev.retstack.service.ingest;

import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What the consumer group gave this member. Kept up to date by the event stream, read by whoever
 * wants to know; safe for use by several threads.
 */
public final class GroupMember {
  /** Partitions that the group gave this member and has not taken back. */
  private final Set<Integer> held = ConcurrentHashMap.newKeySet();

  /** Those whose checkpoints this member cannot go on from: it takes nothing of them. */
  private final Set<Integer> leftAlone = ConcurrentHashMap.newKeySet();

  private volatile boolean isIn;

  /** Whether the group has told this member its partitions, be it none. */
  public boolean isIn() {
    return isIn;
  }

  /** Partitions that it has to open: those that it was given and can read, in order. */
  public Set<Integer> toOpen() {
    Set<Integer> wanted = held();
    wanted.removeAll(leftAlone);
    return wanted;
  }

  /** It is in no group, and joins it or not. */
  void left() {
    isIn = false;
    held.clear();
    leftAlone.clear();
  }

  /** The group gave it these partitions, or none. */
  void given(Set<Integer> partitions) {
    held.addAll(partitions);
    isIn = true;
  }

  /** The group took these back. */
  void takenBack(Set<Integer> partitions) {
    held.removeAll(partitions);
  }

  boolean holds(int partition) {
    return held.contains(partition);
  }

  /** A copy of what it holds now, in order. */
  Set<Integer> held() {
    return new TreeSet<>(held);
  }

  /** It takes nothing of this partition. */
  void leaveAlone(int partition) {
    leftAlone.add(partition);
  }

  /** The stream of this partition is over: whoever gets it again looks again. */
  void lookAgain(int partition) {
    leftAlone.remove(partition);
  }

  boolean leavesAlone(int partition) {
    return leftAlone.contains(partition);
  }
}
