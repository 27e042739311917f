package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.PackedLayout.*;

/** Unpacks runs of FUNCTION records; mirror of {@link PackedArcsEncoder}. */
final class PackedArcsDecoder {
  private final PackedArcs arcs = new PackedArcs();
  private final PackedSource source;
  private final PackedFieldsDecoder fields;

  PackedArcsDecoder(PackedSource source, PackedFieldsDecoder fields) {
    this.source = source;
    this.fields = fields;
  }

  void reset(int records) {
    arcs.reset(records, false);
  }

  /** Appends so many records. */
  void run(int count, RecordBatch into) throws CorruptChunkException {
    ByteSource steps = source.stream(STEPS);
    for (int i = 0; i < count; i++) {
      int step = steps.get();
      if (step < STEP_KNOWN) {
        int returns = step / STEPS_OF_POINT;
        int slot = step % STEPS_OF_POINT >>> 1;
        int number = returns > arcs.returnsMax() ? 0 : arcs.foretold(returns, slot);
        add(step, number, into);
        arcs.enter(returns, number);
      } else if (step < STEP_NEW) {
        int number = source.symbol(ARCS, arcs.count() + 1);
        add(step, number, into);
        arcs.surprise(arcs.returnsTo(number), number);
      } else if (step == STEP_NEW) {
        fresh(into);
      } else if (step == STEP_FIELDS) {
        otherwise(into);
      } else {
        throw refused(step);
      }
    }
  }

  /** Appends a record of an arc that has a number. */
  private void add(int step, int number, RecordBatch into) throws CorruptChunkException {
    if (number == 0) {
      throw refused(step);
    }
    int pair = arcs.pair(number);
    long delta = arcs.time(pair);
    if ((step & 1) != 0) {
      long foretold = delta;
      delta = time();
      if (delta == foretold) {
        throw refused(step);
      }
      arcs.learnTime(pair, delta);
    }
    add(delta, arcs.selfPc(number), arcs.fromPc(number), into);
  }

  private static void add(long delta, long selfPc, long fromPc, RecordBatch into) {
    int size = into.size();
    long time = (size == 0 ? 0 : into.time[size - 1]) + delta;
    into.add(RecordBatch.FUNCTION, time, 0, selfPc, fromPc, 0, 0);
  }

  private void fresh(RecordBatch into) throws CorruptChunkException {
    int returns = source.stream(ARCS).get();
    if (returns > arcs.returnsMax() + 1) {
      throw refused(STEP_NEW);
    }
    ByteSource fields = source.stream(NEW_ARCS);
    long fromPc = arcs.here() + fields.zigzag();
    long selfPc = fromPc + fields.zigzag();
    long delta = time();
    int number = arcs.add(selfPc, fromPc, returns);
    if (number > 0) {
      arcs.learnTime(arcs.pair(number), delta);
    }
    arcs.surprise(returns, number);
    add(delta, selfPc, fromPc, into);
  }

  /** A record with fields that should be 0. */
  private void otherwise(RecordBatch into) throws CorruptChunkException {
    fields.record(RecordBatch.FUNCTION, into);
    int i = into.size() - 1;
    if ((into.depth[i] | into.retP[i] | into.fp[i]) == 0) {
      throw refused(STEP_FIELDS);
    }
  }

  private long time() throws CorruptChunkException {
    int low = source.stream(ARC_LOW).get();
    long high = source.stream(ARC_HIGH).get();
    return (source.high(high, ARC_LONG) << 8) | low;
  }

  private CorruptChunkException refused(int step) {
    return new CorruptChunkException(
        "step "
            + step
            + " before byte "
            + source.stream(STEPS).position()
            + " does not fit those before it");
  }
}
