package dev.retstack.graph.snapshot;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What the log of a state holds, so that only changes are written: the number of parts, and the sum
 * of their hashes. The owner of a part keeps the part's hash. The head is written each time and
 * carries number and sum; a reader sees by them that no part is missing, old or foreign.
 *
 * <pre>
 * key            part
 * head           rules, numbers, stats, log time, the order of held cores, number and sum of the others
 * i/N            image N
 * t/N            whose totals they are
 * t/N/f/B        functions, block B
 * t/N/a/B        arcs, block B: an arc's number never changes, cores refer to it
 * c/N            a core: identity, frames, counters
 * c/N/t          its tree; one that is full is not written again
 * c/N/l          its logs: losses, anomalies, values, interrupts
 * c/N/r          in a copy, in place of these three: a core at rest, packed
 * s/N            when a session was heard last
 * o/0            sessions that are over
 * </pre>
 *
 * N numbers what the state ever began, in this order, and is not used again.
 */
public final class StateLog {
  /** Key of the part that is written with each change. */
  public static final String HEAD = "head";

  /** Key of the part that names the sessions that are over. */
  public static final String OVER = "o/0";

  /** Names of the parts of totals, behind their number and before the block's. */
  public static final String FUNCTIONS = "/f/";

  public static final String ARCS = "/a/";

  /** Names of the parts of a core, behind its number. */
  public static final String TREE = "/t";

  public static final String LOGS = "/l";

  public static final String AT_REST = "/r";

  /** The hash of a part that is not there. */
  public static final long NONE = 0;

  private static final long MULTIPLIER = 0x9e3779b97f4a7c15L;

  /** Whether all parts are written, and their owners keep the hashes of another log. */
  private final boolean copy;

  private final List<String> removed = new ArrayList<>();
  private long next;
  private long resumeAt;
  private long sum;
  private int count;

  /** A log without parts. */
  public StateLog() {
    this(false);
  }

  private StateLog(boolean copy) {
    this.copy = copy;
  }

  /** A log that takes all parts as they are now; this one stays as it is. */
  public StateLog copy() {
    StateLog all = new StateLog(true);
    all.next = next;
    return all;
  }

  /** Whether it takes all parts, and their owners keep what they know of another log. */
  public boolean isCopy() {
    return copy;
  }

  /** Key of a part of the core of this number. */
  public static String core(long number, String name) {
    return "c/" + number + name;
  }

  /** The number of the next thing that begins. */
  public long number() {
    return next++;
  }

  /**
   * Writes a part that is not what stands there.
   *
   * @param before hash of what stands there
   * @return hash of what stands there now, or {@code before} in a copy
   */
  public long put(StateChanges to, String key, long before, ByteOutput part) {
    return put(to, key, before, part.take());
  }

  /** As {@link #put(StateChanges, String, long, ByteOutput)}. */
  public long put(StateChanges to, String key, long before, byte[] bytes) {
    long hash = hash(key, bytes);
    if (copy) {
      to.put(key, bytes);
      account(NONE, hash);
      return before;
    }
    if (hash != before) {
      to.put(key, bytes);
      account(before, hash);
    }
    return hash;
  }

  /**
   * Removes a part.
   *
   * @return {@link #NONE}, what stands there now
   */
  public long remove(String key, long before) {
    if (before != NONE) {
      removed.add(key);
      account(before, NONE);
    }
    return NONE;
  }

  private void account(long before, long after) {
    sum += after - before;
    count += (after == NONE ? 0 : 1) - (before == NONE ? 0 : 1);
  }

  /** Ends a writing: says what was removed, and to the head what the log holds now. */
  public void finish(StateChanges to, DataOutput head) throws IOException {
    removed.forEach(to::remove);
    removed.clear();
    head.writeLong(next);
    head.writeInt(count);
    head.writeLong(sum);
  }

  /**
   * Takes up a log.
   *
   * @param head what {@link #finish} wrote to it
   * @throws IOException where these are not all of its parts
   */
  public void readFrom(DataInput head, Map<String, byte[]> all) throws IOException {
    resumeAt = head.readLong();
    int parts = head.readInt();
    long sumOfHashes = head.readLong();
    for (Map.Entry<String, byte[]> part : all.entrySet()) {
      if (!part.getKey().equals(HEAD)) {
        account(NONE, hash(part.getKey(), part.getValue()));
      }
    }
    if (count != parts || sum != sumOfHashes) {
      throw new IOException(
          "corrupt state: %,d parts of sum %016x, its head says %,d of %016x"
              .formatted(count, sum, parts, sumOfHashes));
    }
  }

  /**
   * Ends reading; new numbers follow those in use.
   *
   * @param largest number in use
   */
  public void resume(long largest) throws IOException {
    if (largest >= resumeAt) {
      throw new IOException("corrupt state: %d numbers, %d in use".formatted(resumeAt, largest));
    }
    next = resumeAt;
  }

  /** A hash of all bits, never {@link #NONE}. */
  public static long hash(String key, byte[] bytes) {
    long h = ByteOutput.hash(bytes, key.hashCode() * MULTIPLIER + key.length());
    for (int i = 0; i < key.length(); i++) {
      h = (h ^ key.charAt(i)) * MULTIPLIER;
      h ^= h >>> 29;
    }
    return h == NONE ? 1 : h;
  }
}
