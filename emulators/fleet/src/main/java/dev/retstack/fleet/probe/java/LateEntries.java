package dev.retstack.fleet.probe.java;

import dev.retstack.fleet.probe.EventRecords;
import dev.retstack.schema.record.RecordBatch;

/**
 * Entries that are recorded only if their call, or one below it, lasted long enough. The frames
 * without a record are always the topmost ones, because an exit that is recorded first writes the
 * entries of all frames below it. So times never decrease, and each exit has its entry.
 */
final class LateEntries {
  private final RetStack stack;

  /** Frames from here on have no record of their entry yet. */
  private int written;

  private long minDuration;

  /**
   * True while entries are late: a duration is asked for, or one asked for before has left some.
   */
  private boolean late;

  LateEntries(RetStack stack) {
    this.stack = stack;
  }

  /** From here on calls shorter than this are not recorded; 0: all are. */
  void follow(long duration) {
    if (!late) {
      written = stack.size();
    }
    minDuration = duration;
    late = duration > 0 || (late && written < stack.size());
  }

  /** True where open frames have no record of their entry: what happens there has no place yet. */
  boolean isUnwritten() {
    return late && written < stack.size();
  }

  /** When the first call was entered whose entry has no record, or else now. */
  long time(long now) {
    return isUnwritten() ? stack.time(written) : now;
  }

  /** True where the entry of the frame on top is kept back. */
  boolean keep(int frame, long now) {
    written = Math.min(written, frame);
    late &= minDuration > 0 || written < frame;
    stack.setTime(frame, now);
    return late;
  }

  /** Number of frames that have the record of their entry, out of those that leave records. */
  int recorded(int visible) {
    return late ? Math.min(written, visible) : visible;
  }

  /**
   * Records all entries that are kept back: what follows is of another ret_stack, and times must
   * not decrease.
   *
   * @param end one past the last frame that leaves records
   */
  void writeAll(int end, EventRecords to, RecordBatch batch, long codeMask) {
    for (; late && written < end; written++) {
      stack.showEntry();
      to.record(
          batch,
          RecordBatch.ENTRY,
          stack.time(written),
          written,
          stack.selfPc(written),
          stack.fromPc(written) & codeMask,
          stack.retP(written),
          stack.fp(written));
    }
  }

  /** What becomes of an exit. */
  enum Exit {
    /** It is recorded. */
    RECORDED,
    /** The call was too short. */
    SILENT,
    /** The batch is full: it is to come again. */
    FULL
  }

  /**
   * A frame exits: writes the entries that must stand in front of its exit.
   *
   * @param records that the exit takes, for which there must be room together
   */
  Exit exit(int frame, long now, RecordBatch batch, int records, long codeMask) {
    boolean room = batch.capacity() - batch.size() >= records;
    if (!late || frame >= stack.size()) {
      return room ? Exit.RECORDED : Exit.FULL;
    }
    if (written > frame) {
      if (room) {
        written = frame;
      }
      return room ? Exit.RECORDED : Exit.FULL;
    }
    if (now - stack.time(frame) < minDuration) {
      return Exit.SILENT;
    }
    for (; written <= frame; written++) {
      if (batch.isFull()) {
        return Exit.FULL;
      }
      stack.showEntry();
      batch.add(
          RecordBatch.ENTRY,
          stack.time(written),
          written,
          stack.selfPc(written),
          stack.fromPc(written) & codeMask,
          stack.retP(written),
          stack.fp(written));
    }
    if (batch.capacity() - batch.size() < records) {
      return Exit.FULL;
    }
    written = frame;
    return Exit.RECORDED;
  }
}
