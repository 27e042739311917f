package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.PackedLayout.*;

/**
 * The part of {@link PackedEncoder} that is run for nearly all records: those by a successor known
 * well, with every field as foretold. It does what the encoder does for these and no more, many
 * times faster, since what changes stays in local variables; the others it hands over.
 */
final class PackedEncoderLoop {
  private final PackedModel model;
  private final PackedStreams streams;
  private final PackedEncoder slow;

  PackedEncoderLoop(PackedModel model, PackedStreams streams, PackedEncoder slow) {
    this.model = model;
    this.streams = streams;
    this.slow = slow;
  }

  /**
   * Packs the records {@code from} up to {@code end}.
   *
   * @return how many were packed since the last one that was handed over, or since {@code from}
   */
  int run(RecordBatch batch, int from, int end) {
    final byte[] kinds = batch.kind;
    final int[] depths = batch.depth;
    final long[] times = batch.time;
    final long[] selfPcs = batch.selfPc;
    final long[] fromPcs = batch.fromPc;
    final long[] retPs = batch.retP;
    final long[] fps = batch.fp;
    final byte[] forks = streams.forks;
    final byte[] lows = streams.low;
    final byte[] highs = streams.high;
    final int[] timesAt = streams.timesAt;
    final PackedModel model = this.model;
    final PackedSite back = model.back;
    PackedSite[] sites = model.sites;
    int forksAtEntry = streams.forksAt[RecordBatch.ENTRY];
    int forksAtExit = streams.forksAt[RecordBatch.EXIT];
    long forkAtDepth = model.forkAtDepth;
    PackedPoint point = model.point;
    PackedFrame frame = model.frame;
    int previous = model.previous;
    int next = model.next;
    int handedOver = from;
    long last = from == 0 ? 0 : times[from - 1];
    for (int i = from; i < end; i++) {
      final PackedPoint here = point;
      final int kind = kinds[i];
      final long delta = times[i] - last;
      last = times[i];
      PackedSite site = here.zero;
      long foretold = here.zeroTime;
      int told = 0;
      int depth = next;
      boolean usual = false;
      if (kind == RecordBatch.EXIT) {
        if (site != back) {
          site = here.one;
          foretold = here.oneTime;
          told = 1;
        }
        PackedFrame caller = frame.caller;
        if (site == back
            && caller != null
            && here.visits > 0
            && isUsual(delta, foretold)
            && depths[i] == depth - 1
            && selfPcs[i] == frame.selfPc
            && fromPcs[i] == frame.fromPc
            && retPs[i] == frame.retP
            && fps[i] == frame.fp) {
          point = sites[frame.site];
          frame = caller;
          next = depth - 1;
          usual = true;
        }
      } else if (kind == RecordBatch.ENTRY) {
        final long fromPc = fromPcs[i];
        if (site == null || site.address != fromPc) {
          site = here.one;
          foretold = here.oneTime;
          told = 1;
        }
        PackedFrame callee = frame.callee;
        if (site != null
            && site.address == fromPc
            && site != back
            && callee != null
            && site.plain
            && here.visits > 0
            && frame.known
            && isUsual(delta, foretold)
            && depths[i] == depth) {
          final PackedFunction function = site.callee;
          final long selfPc = function.address;
          final long retP = model.foretoldRetP(frame, site, function);
          final long fp = PackedModel.foretoldFp(frame, site);
          if (selfPcs[i] == selfPc && retPs[i] == retP && fps[i] == fp) {
            callee.selfPc = selfPc;
            callee.fromPc = fromPc;
            callee.retP = retP;
            callee.fp = fp;
            callee.site = site.number;
            point = function;
            frame = callee;
            next = depth + 1;
            usual = true;
          }
        }
      }
      if (!usual) {
        streams.forksAt[RecordBatch.ENTRY] = forksAtEntry;
        streams.forksAt[RecordBatch.EXIT] = forksAtExit;
        model.forkAtDepth = forkAtDepth;
        model.point = point;
        model.previous = previous;
        model.frame = frame;
        model.next = next;
        slow.record(batch, i, i - handedOver);
        handedOver = i + 1;
        forksAtEntry = streams.forksAt[RecordBatch.ENTRY];
        forksAtExit = streams.forksAt[RecordBatch.EXIT];
        forkAtDepth = model.forkAtDepth;
        point = model.point;
        frame = model.frame;
        previous = model.previous;
        next = model.next;
        sites = model.sites;
        continue;
      }
      if (foretold < 0) {
        int low = timesAt[timeContext(previous, kind)]++;
        lows[low] = (byte) delta;
        highs[low] = (byte) (delta >>> 8);
      }
      final int fork = here.fork;
      final int entered = previous - 1; // all ones after an ENTRY
      final int changed = told ^ ((int) (forkAtDepth >>> depth) & fork & entered);
      forks[forksAtExit ^ ((forksAtExit ^ forksAtEntry) & entered)] = (byte) changed;
      forksAtEntry += fork & entered;
      forksAtExit += fork & ~entered;
      forkAtDepth ^= (long) (changed & fork & entered) << depth;
      here.visits--;
      previous = kind;
    }
    streams.forksAt[RecordBatch.ENTRY] = forksAtEntry;
    streams.forksAt[RecordBatch.EXIT] = forksAtExit;
    model.forkAtDepth = forkAtDepth;
    model.point = point;
    model.previous = previous;
    model.frame = frame;
    model.next = next;
    return end - handedOver;
  }

  /** True where the time is as foretold, or of the usual length where nothing foretells it. */
  private static boolean isUsual(long delta, long foretold) {
    return foretold >= 0 ? delta == foretold : delta >= 0 && delta >>> 8 < HIGH_LONG;
  }
}
