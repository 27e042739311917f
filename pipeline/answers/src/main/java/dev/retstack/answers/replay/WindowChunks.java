package dev.retstack.answers.replay;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.chunk.Chunks;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Of the chunks of one core those that a window needs: from the last one that has a keyframe and
 * begins at or before the window, to the first one behind it. They may be given in any order, and
 * more than once. What is not needed is let go at once, so that memory grows with the window only.
 *
 * <p>A chunk that stands behind a later one in the log is lost to the window, as it is to the job.
 */
public final class WindowChunks {
  private final long from;
  private final long to;
  private final NavigableMap<Long, Chunk> bySequence = new TreeMap<>();

  /** Where these chunks stand in the log. A higher number always stands further back. */
  private final NavigableMap<Long, Long> positions = new TreeMap<>();

  private Chunk begin;
  private Chunk behind;
  private long bytes;
  private long records;

  /** Of the window [from, to], in the unit of the core; nothing came so far. */
  public WindowChunks(long from, long to) {
    this.from = from;
    this.to = to;
  }

  /** Takes another chunk of the core, which stands there in the log. */
  public void add(Chunk chunk, long position) {
    long sequence = chunk.getSequence();
    Map.Entry<Long, Long> next = positions.ceilingEntry(sequence);
    if (next != null && next.getValue() <= position) {
      return; // the same chunk again, or late
    }
    for (Map.Entry<Long, Long> before = positions.lowerEntry(sequence);
        before != null && before.getValue() > position;
        before = positions.lowerEntry(sequence)) {
      remove(before.getKey()); // the earlier one is late
    }
    if (begin != null && sequence < begin.getSequence()) {
      return;
    }
    if (chunk.getFirstTime() > to) {
      if (behind != null && behind.getSequence() < sequence) {
        return;
      }
      if (behind != null) {
        remove(behind.getSequence());
      }
      behind = chunk;
    }
    bySequence.put(sequence, chunk);
    positions.put(sequence, position);
    count(chunk, 1);
    if (chunk.getKeyframeRecords() != Chunks.NO_KEYFRAME && chunk.getFirstTime() <= from) {
      begin = chunk;
      while (bySequence.firstKey() < sequence) {
        remove(bySequence.firstKey());
      }
    }
  }

  private void remove(long sequence) {
    behind = isBehind(sequence) ? null : behind;
    begin = begin != null && begin.getSequence() == sequence ? null : begin;
    positions.remove(sequence);
    count(bySequence.remove(sequence), -1);
  }

  private boolean isBehind(long sequence) {
    return behind != null && behind.getSequence() == sequence;
  }

  private void count(Chunk chunk, int times) {
    bytes += times * (long) (chunk.getPayload().remaining() + chunk.getKeyframe().remaining());
    records += times * (long) chunk.getRecordCount();
  }

  /** Whether one came with which reconstruction begins. */
  public boolean hasBegin() {
    return begin != null;
  }

  /** Whether a chunk came from behind the window: the core continues. */
  public boolean hasBehind() {
    return behind != null;
  }

  /** Whether all came that the window needs: none is missing between the first and the last. */
  public boolean isWhole() {
    return begin != null
        && behind != null
        && bySequence.lastKey() == behind.getSequence()
        && bySequence.size() == behind.getSequence() - begin.getSequence() + 1;
  }

  /** Bytes of payload of those that are kept. */
  public long bytes() {
    return bytes;
  }

  /** Records of those that are kept. */
  public long records() {
    return records;
  }

  /**
   * The chunks, by their numbers.
   *
   * @param next whether the first one behind the window is among them; it is also where it is the
   *     only one
   */
  public List<Chunk> list(boolean next) {
    List<Chunk> chunks = new ArrayList<>(bySequence.values());
    chunks.removeIf(
        chunk ->
            chunk.getFirstTime() > to
                && (!next || !isBehind(chunk.getSequence()))
                && chunks.size() > 1);
    return chunks;
  }
}
