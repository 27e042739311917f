package dev.retstack.schema.codec.packed;

import static dev.retstack.schema.codec.packed.PackedLayout.*;

import dev.retstack.schema.codec.ByteSink;
import dev.retstack.schema.record.RecordBatch;
import java.util.Arrays;

/**
 * Packs the records of a chunk that are not of the graph: where they stand, and what they hold.
 * {@link PackedOthersDecoder} is its mirror.
 */
final class PackedOthersEncoder {
  private final PackedStreams streams;
  private final Fields fields;
  private final Arcs arcs;

  PackedOthersEncoder(PackedStreams streams) {
    this.streams = streams;
    fields = new Fields(streams);
    arcs = new Arcs(streams, fields);
  }

  /**
   * Packs the other records of a batch.
   *
   * @param graph takes the records of the graph
   */
  void encode(RecordBatch batch, RecordBatch graph) {
    ByteSink runs = streams.sinks[RUNS];
    int count = batch.size();
    fields.reset();
    arcs.reset(count);
    int at = 0;
    while (at < count) {
      int first = at;
      while (first < count && RecordBatch.isOfGraph(batch.kind[first])) {
        first++;
      }
      graph.addAll(batch, at, first);
      if (first == count) {
        break;
      }
      byte kind = batch.kind[first];
      if (!RecordBatch.isKind(kind)) {
        throw new IllegalArgumentException("record " + first + " is of kind " + kind);
      }
      int end = first + 1;
      while (end < count && batch.kind[end] == kind) {
        end++;
      }
      runs.reserve(16);
      runs.varint(first - at);
      runs.put(kind);
      runs.varint(end - first - 1);
      if (kind == RecordBatch.FUNCTION) {
        arcs.run(batch, first, end);
      } else {
        for (int i = first; i < end; i++) {
          fields.record(batch, i);
        }
      }
      at = end;
    }
  }

  /**
   * Packs records field by field, a stream for each, as differences to the last record of the kind.
   * {@code PackedOthersDecoder.Fields} is its mirror.
   */
  private static final class Fields {
    private final long[] last = new long[RecordBatch.KINDS * FIELD_COLUMNS];
    private final PackedStreams streams;

    Fields(PackedStreams streams) {
      this.streams = streams;
    }

    void reset() {
      Arrays.fill(last, 0);
    }

    void record(RecordBatch batch, int i) {
      ByteSink times = streams.sinks[FIELD_TIMES];
      times.reserve(10);
      times.varint(batch.time[i] - (i == 0 ? 0 : batch.time[i - 1]));
      streams.number(FIELD_DEPTHS, batch.depth[i]);
      int column = batch.kind[i] * FIELD_COLUMNS;
      put(0, column, batch.selfPc[i]);
      put(1, column, batch.fromPc[i]);
      put(2, column, batch.retP[i]);
      put(3, column, batch.fp[i]);
    }

    private void put(int number, int column, long value) {
      streams.number(FIELDS + number, value - last[column + number]);
      last[column + number] = value;
    }
  }

  /** Packs runs of FUNCTION records; {@code PackedOthersDecoder.Arcs} is its mirror. */
  private static final class Arcs {
    private final PackedArcs arcs = new PackedArcs();
    private final PackedStreams streams;
    private final Fields fields;

    Arcs(PackedStreams streams, Fields fields) {
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
     * Step to an arc if it is predicted, without the part for the time; else {@code STEP_KNOWN}.
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

    /** Returns 0 where the time is as predicted; else codes it and returns 1. */
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
}
