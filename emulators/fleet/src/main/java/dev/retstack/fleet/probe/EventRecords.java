package dev.retstack.fleet.probe;

import dev.retstack.fleet.probe.frame.FrameStack;
import dev.retstack.fleet.probe.site.ValueRange;
import dev.retstack.machine.isa.call.CodeAddresses;
import dev.retstack.schema.record.RecordBatch;

/**
 * Records of events other than calls. A core stops for a call if the batch is full, but not for
 * these. A record that finds no room is kept for the next batch, in order.
 */
public final class EventRecords {
  private static final int FIRST = 64;

  private RecordBatch kept = new RecordBatch(0);

  /** True where the next batch must be taken before anything else is recorded. */
  public boolean isWaiting() {
    return kept.size() > 0;
  }

  /** Adds a record, and what it goes with. */
  public void add(
      RecordBatch batch,
      byte kind,
      long time,
      int depth,
      long selfPc,
      long fromPc,
      long... values) {
    room(batch).add(kind, time, depth, selfPc, fromPc, 0, 0);
    for (int i = 0; i < values.length; i += ValueRange.EACH) {
      some(room(batch), time, ValueRange.all(values.length), i, values);
    }
  }

  /** Adds a record, all of it. */
  public void record(
      RecordBatch batch,
      byte kind,
      long time,
      int depth,
      long selfPc,
      long fromPc,
      long retP,
      long fp) {
    room(batch).add(kind, time, depth, selfPc, fromPc, retP, fp);
  }

  /**
   * Adds values of the record ahead to a batch that has room for them.
   *
   * @param range which they are
   */
  public static void values(RecordBatch batch, long time, ValueRange range, long... values) {
    for (int i = 0; i < values.length; i += ValueRange.EACH) {
      some(batch, time, range, i, values);
    }
  }

  /** One record of values. */
  private static void some(RecordBatch to, long time, ValueRange range, int i, long[] values) {
    to.add(
        RecordBatch.VALUES,
        time,
        range.depth(range.first() + i),
        values[i],
        at(values, i + 1),
        at(values, i + 2),
        at(values, i + 3));
  }

  private static long at(long[] values, int index) {
    return index < values.length ? values[index] : 0;
  }

  /** Adds a copy of one record, with this time. */
  public void copy(RecordBatch batch, RecordBatch from, long time) {
    record(
        batch,
        from.kind[0],
        time,
        from.depth[0],
        from.selfPc[0],
        from.fromPc[0],
        from.retP[0],
        from.fp[0]);
  }

  /** Adds a mark: tracing itself changed. */
  public void mark(RecordBatch batch, long time, long function, int code, long command) {
    room(batch).add(RecordBatch.MARK, time, 0, function, code, command, 0);
  }

  /**
   * Adds the return of a frame to an address that had overwritten the right one.
   *
   * @param addresses of instructions
   */
  public void smashed(
      RecordBatch batch,
      long time,
      FrameStack frames,
      int frame,
      long to,
      CodeAddresses addresses) {
    long expected = addresses.instruction(frames.fromPc(frames.first(frame)));
    room(batch)
        .add(
            RecordBatch.SMASHED,
            time,
            frame,
            frames.selfPc(frame),
            to,
            frames.retP(frame),
            expected);
  }

  /** The batch, or where it is full what is kept for the next one. */
  private RecordBatch room(RecordBatch batch) {
    if (!batch.isFull()) {
      return batch;
    }
    if (kept.isFull()) {
      RecordBatch more = new RecordBatch(Math.max(FIRST, 2 * kept.size()));
      more.addAll(kept, 0, kept.size());
      kept = more;
    }
    return kept;
  }

  /** Moves what was kept into a batch, as far as there is room. */
  public void moveTo(RecordBatch batch) {
    int count = Math.min(kept.size(), batch.capacity() - batch.size());
    if (count > 0) {
      batch.addAll(kept, 0, count);
      RecordBatch rest = new RecordBatch(kept.size() - count);
      rest.addAll(kept, count, kept.size());
      kept = rest;
    }
  }
}
