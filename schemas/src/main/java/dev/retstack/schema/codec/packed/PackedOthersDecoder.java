package dev.retstack.schema.codec.packed;

import static dev.retstack.schema.codec.packed.PackedLayout.*;

import dev.retstack.schema.codec.ByteSource;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.RecordBatch;
import java.util.Arrays;

/**
 * Unpacks the records of a chunk that are not of the graph, and puts them between those that are;
 * mirror of {@link PackedOthersEncoder}.
 */
final class PackedOthersDecoder {
  private final PackedSource source;
  private final Fields fields;
  private final Arcs arcs;

  /** Records of the chunk. */
  private int records;

  /** Where the records of the graph stand in the chunk, by their number. */
  private int[] places = new int[0];

  PackedOthersDecoder(PackedSource source) {
    this.source = source;
    fields = new Fields(source);
    arcs = new Arcs(source, fields);
  }

  /**
   * Finds out how many there are, without reading them.
   *
   * @param count records of the chunk
   * @return 1 to {@code count}
   */
  int open(int count) throws CorruptChunkException {
    records = count;
    ByteSource runs = source.stream(RUNS);
    final int from = runs.position();
    long total = 0;
    long others = 0;
    int kindBefore = -1;
    while (runs.remaining() > 0) {
      long gap = runs.varint();
      int kind = runs.get();
      long length = runs.varint();
      boolean fits = gap >= 0 && gap < count && length >= 0 && length < count;
      total += gap + length + 1;
      if (!fits || total > count) {
        throw new CorruptChunkException(
            "run before byte " + runs.position() + " is not among " + count + " records");
      }
      if (kind < RecordBatch.FUNCTION || !RecordBatch.isKind(kind)) {
        throw new CorruptChunkException("run of unknown kind " + kind);
      }
      if (gap == 0 && kind == kindBefore) {
        throw new CorruptChunkException("two runs where one is enough");
      }
      kindBefore = kind;
      others += length + 1;
    }
    if (others == 0) {
      throw new CorruptChunkException("payload is marked, and no record is of another kind");
    }
    runs.moveTo(from);
    return (int) others;
  }

  /** Makes the chunk's records of those of the graph and the others. */
  void decode(RecordBatch graph, RecordBatch into) throws CorruptChunkException {
    if (places.length < graph.size()) {
      places = new int[graph.capacity()];
    }
    fields.reset();
    arcs.reset(records);
    ByteSource runs = source.stream(RUNS);
    int at = 0;
    boolean oneContext = true;
    while (runs.remaining() > 0) {
      int end = at + (int) runs.varint();
      copy(graph, at, end, into);
      at = end;
      byte kind = (byte) runs.get();
      int length = (int) runs.varint() + 1;
      oneContext &= !RecordBatch.isOfContexts(kind);
      Arrays.fill(into.links(), into.size(), into.size() + length, RecordBatch.UNLINKED);
      if (kind == RecordBatch.FUNCTION) {
        arcs.run(length, into);
      } else {
        for (int i = 0; i < length; i++) {
          fields.record(kind, into);
        }
      }
    }
    copy(graph, at, graph.size(), into);
    if (oneContext) { // else the model's one ret_stack says nothing of how records hang together
      into.setLinked();
    }
  }

  /** Copies records of the graph; an exit is linked to where its entry stands now. */
  private void copy(RecordBatch graph, int from, int end, RecordBatch into) {
    int[] links = graph.links();
    int[] to = into.links();
    int moved = into.size() - from;
    for (int i = from; i < end; i++) {
      places[i] = i + moved;
      boolean ofExit = graph.kind[i] == RecordBatch.EXIT && links[i] >= 0;
      to[i + moved] = ofExit ? places[links[i]] : links[i];
    }
    into.addAll(graph, from, end);
  }

  /** Unpacks records field by field; mirror of {@code PackedOthersEncoder.Fields}. */
  private static final class Fields {
    private final long[] last = new long[RecordBatch.KINDS * FIELD_COLUMNS];
    private final PackedSource source;

    Fields(PackedSource source) {
      this.source = source;
    }

    void reset() {
      Arrays.fill(last, 0);
    }

    /** Appends a record of this kind. */
    void record(byte kind, RecordBatch into) throws CorruptChunkException {
      int size = into.size();
      long time = (size == 0 ? 0 : into.time[size - 1]) + source.stream(FIELD_TIMES).varint();
      ByteSource depths = source.stream(FIELD_DEPTHS);
      long depth = depths.zigzag();
      if (depth != (int) depth) {
        throw new CorruptChunkException(
            "depth " + depth + " beyond 32 bits at byte " + depths.position());
      }
      int column = kind * FIELD_COLUMNS;
      long selfPc = next(0, column);
      long fromPc = next(1, column);
      long retP = next(2, column);
      long fp = next(3, column);
      into.add(kind, time, (int) depth, selfPc, fromPc, retP, fp);
    }

    private long next(int number, int column) throws CorruptChunkException {
      return last[column + number] += source.stream(FIELDS + number).zigzag();
    }
  }

  /** Unpacks runs of FUNCTION records; mirror of {@code PackedOthersEncoder.Arcs}. */
  private static final class Arcs {
    private final PackedArcs arcs = new PackedArcs();
    private final PackedSource source;
    private final Fields fields;

    Arcs(PackedSource source, Fields fields) {
      this.source = source;
      this.fields = fields;
    }

    void reset(int records) {
      arcs.reset(records, false);
    }

    /** Appends {@code count} records. */
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
}
