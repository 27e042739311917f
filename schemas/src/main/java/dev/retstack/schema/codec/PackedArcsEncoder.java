package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.PackedLayout.*;

/** Packs runs of FUNCTION records; {@link PackedArcsDecoder} is its mirror. */
final class PackedArcsEncoder {
  private final PackedArcs arcs = new PackedArcs();
  private final PackedStreams streams;
  private final PackedFieldsEncoder fields;

  PackedArcsEncoder(PackedStreams streams, PackedFieldsEncoder fields) {
    this.streams = streams;
    this.fields = fields;
  }

  void reset(int records) {
    arcs.reset(records, true);
  }

  /** Packs the records {@code from} up to {@code end}. */
  void run(RecordBatch batch, int from, int end) {
    ByteSink steps = streams.sinks[STEPS];
    steps.reserve(end - from);
    streams.sinks[ARC_LOW].reserve(end - from);
    streams.sinks[ARC_HIGH].reserve(end - from);
    for (int i = from; i < end; i++) {
      if ((batch.depth[i] | batch.retP[i] | batch.fp[i]) != 0) {
        steps.put(STEP_FIELDS);
        fields.record(batch, i);
        continue;
      }
      long delta = batch.time[i] - (i == 0 ? 0 : batch.time[i - 1]);
      int number = arcs.find(batch.selfPc[i], batch.fromPc[i]);
      int step = number == 0 ? STEP_NEW : foretold(number);
      if (step < STEP_KNOWN) {
        steps.put(step + time(delta, arcs.pair(number)));
        arcs.enter(step / STEPS_OF_POINT, number);
      } else if (step == STEP_KNOWN) {
        steps.put(step + time(delta, arcs.pair(number)));
        streams.sinks[ARCS].reserve(2);
        PackedStreams.symbol(streams.sinks[ARCS], number);
        arcs.surprise(arcs.returnsTo(number), number);
      } else {
        steps.put(step);
        fresh(batch.selfPc[i], batch.fromPc[i], delta);
      }
    }
  }

  /**
   * The step to an arc that is foretold, without what it says of the time; or to one that is not.
   */
  private int foretold(int number) {
    int max = arcs.returnsMax();
    for (int returns = 0; returns <= max; returns++) {
      for (int slot = 0; slot < PackedArcs.SLOTS; slot++) {
        if (arcs.foretold(returns, slot) == number) {
          return returns * STEPS_OF_POINT + 2 * slot;
        }
      }
    }
    return STEP_KNOWN;
  }

  private void fresh(long selfPc, long fromPc, long delta) {
    int returns = arcs.returnsTo(fromPc);
    ByteSink known = streams.sinks[ARCS];
    known.reserve(1);
    known.put(returns);
    streams.number(NEW_ARCS, fromPc - arcs.here());
    streams.number(NEW_ARCS, selfPc - fromPc);
    putTime(delta);
    int number = arcs.add(selfPc, fromPc, returns);
    if (number > 0) {
      arcs.learnTime(arcs.pair(number), delta);
    }
    arcs.surprise(returns, number);
  }

  /** 0 where the time is as foretold; else it is coded. */
  private int time(long delta, int pair) {
    if (arcs.time(pair) == delta) {
      return 0;
    }
    arcs.learnTime(pair, delta);
    putTime(delta);
    return 1;
  }

  private void putTime(long delta) {
    streams.sinks[ARC_LOW].put((int) delta);
    long rest = delta >>> 8;
    if (Long.compareUnsigned(rest, HIGH_LONG) < 0) {
      streams.sinks[ARC_HIGH].put((int) rest);
    } else {
      streams.sinks[ARC_HIGH].put(HIGH_LONG);
      ByteSink longs = streams.sinks[ARC_LONG];
      longs.reserve(10);
      longs.varint(rest - HIGH_LONG);
    }
  }
}
