package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.Packed2Layout.*;

/**
 * The part of {@link Packed2Encoder} that is run for nearly all records: those by a successor known
 * well, with every field as foretold. It does what the encoder does for these and no more, many
 * times faster, since what changes stays in local variables; the others it hands over.
 */
final class Packed2EncoderLoop {
  private final Packed2Model model;
  private final Packed2Streams streams;
  private final Packed2Encoder slow;

  Packed2EncoderLoop(Packed2Model model, Packed2Streams streams, Packed2Encoder slow) {
    this.model = model;
    this.streams = streams;
    this.slow = slow;
  }

  /** Packs all records of a batch. */
  void run(RecordBatch batch) {
    final byte[] kinds = batch.kind;
    final int[] depths = batch.depth;
    final long[] times = batch.time;
    final long[] selfPcs = batch.selfPc;
    final long[] fromPcs = batch.fromPc;
    final long[] retPs = batch.retP;
    final long[] fps = batch.fp;
    final BitSink entryForks = streams.forks[RecordBatch.ENTRY];
    final BitSink exitForks = streams.forks[RecordBatch.EXIT];
    final Packed2Streams streams = this.streams;
    final Packed2Model model = this.model;
    final Packed2Site back = model.back;
    final int end = batch.size();
    long forkAtDepth = model.forkAtDepth;
    Packed2Point point = model.point;
    Packed2Frame frame = model.frame;
    int previous = model.previous;
    int next = model.next;
    int slowly = 0;
    long last = 0;
    for (int i = 0; i < end; i++) {
      final int kind = kinds[i];
      final long selfPc = selfPcs[i];
      final long fromPc = fromPcs[i];
      final long retP = retPs[i];
      final long fp = fps[i];
      final long time = times[i];
      final long delta = time - last;
      last = time;
      Packed2Site site = point.zero;
      long foretold = point.zeroTime;
      int bit = 0;
      boolean foreseen = false;
      if (kind == RecordBatch.EXIT) {
        if (site != back) {
          site = point.one;
          foretold = point.oneTime;
          bit = 1;
        }
        foreseen =
            site == back
                && frame.caller != null
                && (foretold == delta || foretold < 0)
                && depths[i] == next - 1
                && selfPc == frame.selfPc
                && fromPc == frame.fromPc
                && retP == frame.retP
                && fp == frame.fp;
      } else if (kind == RecordBatch.ENTRY) {
        if (site == null || site.address != fromPc || site == back) {
          site = point.one;
          foretold = point.oneTime;
          bit = 1;
        }
        foreseen =
            site != null
                && site.address == fromPc
                && site != back
                && site.plain
                && frame.known
                && frame.callee != null
                && (foretold == delta || foretold < 0)
                && depths[i] == next
                && selfPc == site.callee.address
                && retP == model.foretoldRetP(frame, site, site.callee)
                && fp == Packed2Model.foretoldFp(frame, site);
      }
      if (!foreseen) {
        model.forkAtDepth = forkAtDepth;
        model.point = point;
        model.previous = previous;
        model.frame = frame;
        model.next = next;
        slow.record(batch, i, i - slowly);
        slowly = i + 1;
        forkAtDepth = model.forkAtDepth;
        point = model.point;
        frame = model.frame;
        previous = model.previous;
        next = model.next;
        continue;
      }
      if (foretold < 0) {
        streams.time(timeContext(previous, kind), delta);
      }
      if (point.fork) {
        if (previous == RecordBatch.ENTRY) {
          bit ^= (int) (forkAtDepth >>> next) & 1;
          forkAtDepth ^= (long) bit << next;
          entryForks.put(bit);
        } else {
          exitForks.put(bit);
        }
        if (point.growing) {
          point.grow();
        }
      }
      if (kind == RecordBatch.EXIT) {
        point = model.sites[frame.site];
        frame = frame.caller;
        next--;
        previous = RecordBatch.EXIT;
      } else {
        point = site.callee;
        frame = frame.callee;
        frame.selfPc = selfPc;
        frame.fromPc = fromPc;
        frame.retP = retP;
        frame.fp = fp;
        frame.site = site.number;
        next++;
        previous = RecordBatch.ENTRY;
      }
    }
  }
}
