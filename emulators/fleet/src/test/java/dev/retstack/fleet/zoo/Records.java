package dev.retstack.fleet.zoo;

import dev.retstack.schema.codec.RecordBatch;
import java.util.stream.IntStream;

/** Comparing the records of two runs. */
final class Records {
  private Records() {}

  /** Index of the first record that is not the same in both; -1 where all are. */
  static int firstDifference(RecordBatch a, RecordBatch b) {
    return IntStream.range(0, Math.max(a.size(), b.size()))
        .filter(i -> i >= a.size() || i >= b.size() || !same(a, b, i))
        .findFirst()
        .orElse(-1);
  }

  private static boolean same(RecordBatch a, RecordBatch b, int i) {
    return a.kind[i] == b.kind[i]
        && a.time[i] == b.time[i]
        && a.depth[i] == b.depth[i]
        && a.selfPc[i] == b.selfPc[i]
        && a.fromPc[i] == b.fromPc[i]
        && a.retP[i] == b.retP[i]
        && a.fp[i] == b.fp[i];
  }
}
