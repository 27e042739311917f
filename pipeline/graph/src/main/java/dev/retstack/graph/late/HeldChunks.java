package dev.retstack.graph.late;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.snapshot.ByteOutput;
import dev.retstack.graph.snapshot.StateChanges;
import dev.retstack.graph.snapshot.StateLog;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Collection;
import java.util.TreeMap;

/**
 * The chunks of one core that came before an earlier one, and what was published of them. The core
 * stands before its first gap. A copy of it, to which these chunks were applied, is shown.
 */
final class HeldChunks {
  private final CoreGraph core;
  private final TreeMap<Long, HeldChunk> chunks = new TreeMap<>();
  private long bytes;

  /** Chunks from this number on have not been told of; below the core's next it says nothing. */
  private long told;

  /** How many chunks the state had taken when the first gap became the first. */
  private long opened;

  /** Hash of what the log of the state holds of it. */
  private long written = StateLog.NONE;

  private boolean touched;

  /** The core with what is held, null where that has to be made anew. */
  private CoreGraph shown;

  HeldChunks(CoreGraph core) {
    this.core = core;
  }

  boolean isEmpty() {
    return chunks.isEmpty();
  }

  int size() {
    return chunks.size();
  }

  long bytes() {
    return bytes;
  }

  boolean has(long sequence) {
    return chunks.containsKey(sequence);
  }

  /** Whether this chunk, or one behind it, is held. */
  boolean reaches(long sequence) {
    return !chunks.isEmpty() && chunks.lastKey() >= sequence;
  }

  HeldChunk first() {
    return chunks.firstEntry().getValue();
  }

  /** Whether a chunk contradicts those that are held: one of two stands behind the core's last. */
  boolean contradicts(long sequence, CoreEnd end) {
    HeldChunk last = chunks.isEmpty() ? null : chunks.lastEntry().getValue();
    return last != null
        && (last.meta().end() != CoreEnd.RUNNING
            ? sequence > last.sequence()
            : end != CoreEnd.RUNNING && sequence < last.sequence());
  }

  void add(HeldChunk chunk) {
    chunks.put(chunk.sequence(), chunk);
    bytes += chunk.bytes();
    touched = true;
  }

  HeldChunk removeFirst() {
    HeldChunk chunk = chunks.pollFirstEntry().getValue();
    bytes -= chunk.bytes();
    touched = true;
    return chunk;
  }

  /** The chunks from this number on, in order. */
  Collection<HeldChunk> from(long sequence) {
    return chunks.tailMap(sequence, true).values();
  }

  long told() {
    return told;
  }

  void setTold(long next) {
    touched |= told != next;
    told = next;
  }

  long opened() {
    return opened;
  }

  void setOpened(long at) {
    touched |= opened != at;
    opened = at;
  }

  CoreGraph shown() {
    return shown;
  }

  void show(CoreGraph copy) {
    if (shown != null) {
      shown.account().close();
    }
    shown = copy;
  }

  /** Writes what changed; nothing where there is nothing. */
  void writeChanges(StateLog log, StateChanges to) throws IOException {
    if (isEmpty()) {
      written = log.remove(part(), written);
    } else if (touched) {
      ByteOutput out = new ByteOutput(Math.toIntExact(bytes));
      writeTo(out);
      written = log.put(to, part(), written, out);
    }
    touched = false;
  }

  private String part() {
    return StateLog.core(core.number(), StateLog.HELD);
  }

  /** The log of the state holds these bytes of it. */
  void isWritten(byte[] part) {
    written = StateLog.hash(part(), part);
    touched = false;
  }

  /** It leaves the state, and its log. */
  void leave(StateLog log) {
    written = log.remove(part(), written);
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeLong(told);
    out.writeLong(opened);
    out.writeInt(chunks.size());
    for (HeldChunk chunk : chunks.values()) {
      chunk.writeTo(out);
    }
  }

  /**
   * Reads what {@link #writeTo} wrote into this empty one.
   *
   * @param next number of the chunk that the core waits for
   * @param now how many chunks the state has taken
   */
  void readFrom(DataInput in, long next, long now) throws IOException {
    told = in.readLong();
    opened = in.readLong();
    int count = in.readInt();
    if (told < 0 || opened < 0 || opened > now || count < 1) {
      throw new IOException("corrupt snapshot: %d chunks held since %d".formatted(count, opened));
    }
    long above = next;
    for (int i = 0; i < count; i++) {
      HeldChunk chunk = HeldChunk.readFrom(in);
      if (chunk.sequence() <= above) {
        throw new IOException("corrupt snapshot: chunk " + chunk.sequence() + " behind " + above);
      }
      above = chunk.sequence();
      add(chunk);
    }
  }
}
