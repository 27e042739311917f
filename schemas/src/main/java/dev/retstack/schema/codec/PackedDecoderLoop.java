package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.PackedLayout.*;

/**
 * The part of {@link PackedDecoder} that is run for nearly all records: those by a successor known
 * well, with every field as foretold. It does what the decoder does for these and no more, many
 * times faster, since what changes stays in local variables; the others it hands over.
 */
final class PackedDecoderLoop {
  private final PackedModel model;
  private final PackedSource source;

  private final PackedDecoder slow;

  PackedDecoderLoop(PackedModel model, PackedSource source, PackedDecoder slow) {
    this.model = model;
    this.source = source;
    this.slow = slow;
  }

  /** Unpacks the records {@code from} up to {@code end}, all of which come without an escape. */
  void run(RecordBatch batch, int from, int end) throws CorruptChunkException {
    final byte[] kinds = batch.kind;
    final int[] depths = batch.depth;
    final int[] links = batch.links();
    final long[] times = batch.time;
    final long[] selfPcs = batch.selfPc;
    final long[] fromPcs = batch.fromPc;
    final long[] retPs = batch.retP;
    final long[] fps = batch.fp;
    final long[] forks = source.forks;
    final byte[] content = source.content;
    final int[] lowAt = source.lowAt;
    final int[] lowEnd = source.lowEnd;
    final int highBehind = source.highBehind;
    final PackedModel model = this.model;
    final PackedSite back = model.back;
    int forksAtEntry = source.forksAt[RecordBatch.ENTRY];
    int forksAtExit = source.forksAt[RecordBatch.EXIT];
    long forkAtDepth = model.forkAtDepth;
    PackedPoint point = model.point;
    PackedFrame frame = model.frame;
    int previous = model.previous;
    int next = model.next;
    long now = from == 0 ? 0 : times[from - 1];
    for (int i = from; i < end; i++) {
      PackedSite site = point.zero;
      PackedSite one = point.one;
      long delta = point.zeroTime;
      long oneTime = point.oneTime;
      final int visits = point.visits;
      final int fork = point.fork;
      final int entered = previous - 1; // all ones after an ENTRY
      final int forksAt = forksAtExit ^ ((forksAtExit ^ forksAtEntry) & entered);
      final int bit = (int) (forks[forksAt >>> 6] >>> forksAt) & fork;
      final int told = bit ^ ((int) (forkAtDepth >>> next) & fork & entered);
      if (told != 0) {
        site = one;
        delta = oneTime;
      }
      int timeOf = -1;
      if (delta < 0) {
        timeOf = timeContext(previous, site == back ? RecordBatch.EXIT : RecordBatch.ENTRY);
        int low = lowAt[timeOf];
        if (low < lowEnd[timeOf] && content[low + highBehind] != (byte) HIGH_LONG) {
          delta = (content[low] & 0xff) | (content[low + highBehind] & 0xff) << 8;
        }
      }
      PackedFrame to = site == back ? frame.caller : frame.callee;
      if (site == null || to == null || delta < 0 || !site.plain || !frame.known || visits <= 0) {
        source.forksAt[RecordBatch.ENTRY] = forksAtEntry;
        source.forksAt[RecordBatch.EXIT] = forksAtExit;
        model.forkAtDepth = forkAtDepth;
        model.point = point;
        model.previous = previous;
        model.frame = frame;
        model.next = next;
        batch.setSize(i);
        slow.record(0);
        forksAtEntry = source.forksAt[RecordBatch.ENTRY];
        forksAtExit = source.forksAt[RecordBatch.EXIT];
        forkAtDepth = model.forkAtDepth;
        point = model.point;
        frame = model.frame;
        previous = model.previous;
        next = model.next;
        now = times[i];
        continue;
      }
      forkAtDepth ^= (long) (bit & entered) << next;
      forksAtEntry += fork & entered;
      forksAtExit += fork & ~entered;
      point.visits = visits - 1;
      if (timeOf >= 0) {
        lowAt[timeOf]++;
      }
      now += delta;
      times[i] = now;
      if (site == back) {
        kinds[i] = RecordBatch.EXIT;
        selfPcs[i] = frame.selfPc;
        fromPcs[i] = frame.fromPc;
        retPs[i] = frame.retP;
        fps[i] = frame.fp;
        links[i] = frame.entry;
        next--;
        depths[i] = next;
        point = model.sites[frame.site];
        previous = RecordBatch.EXIT;
      } else {
        PackedFunction function = site.callee;
        long selfPc = function.address;
        long fromPc = site.address;
        long retP = model.foretoldRetP(frame, site, function);
        long fp = PackedModel.foretoldFp(frame, site);
        to.selfPc = selfPc;
        to.fromPc = fromPc;
        to.retP = retP;
        to.fp = fp;
        to.entry = i;
        to.site = site.number;
        kinds[i] = RecordBatch.ENTRY;
        selfPcs[i] = selfPc;
        fromPcs[i] = fromPc;
        retPs[i] = retP;
        fps[i] = fp;
        links[i] = site.link;
        depths[i] = next;
        next++;
        point = function;
        previous = RecordBatch.ENTRY;
      }
      frame = to;
    }
    source.forksAt[RecordBatch.ENTRY] = forksAtEntry;
    source.forksAt[RecordBatch.EXIT] = forksAtExit;
    model.forkAtDepth = forkAtDepth;
    model.point = point;
    model.previous = previous;
    model.frame = frame;
    model.next = next;
    batch.setSize(end);
  }
}
