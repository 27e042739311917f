package dev.retstack.fleet.zoo;

import dev.retstack.schema.record.RecordBatch;
import java.util.stream.Collectors;
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

  /** The records around one, for the message of a failed test. */
  static String around(RecordBatch records, int index) {
    return IntStream.range(Math.max(0, index - 4), Math.min(index + 5, records.size()))
        .mapToObj(i -> (i == index ? "> " : "  ") + line(records, i))
        .collect(Collectors.joining("\n"));
  }

  private static String line(RecordBatch records, int i) {
    return "%d %s t=%d d=%d self=%x from=%x retp=%x fp=%x"
        .formatted(
            i,
            kind(records.kind[i]),
            records.time[i],
            records.depth[i],
            records.selfPc[i],
            records.fromPc[i],
            records.retP[i],
            records.fp[i]);
  }

  private static String kind(byte kind) {
    return switch (kind) {
      case RecordBatch.ENTRY -> "ENTRY";
      case RecordBatch.EXIT -> "EXIT ";
      default -> "kind " + kind;
    };
  }

  /** Fails where the probes did not record the same, or had other frames where a batch begins. */
  static void assertSame(Run java, Run inC) {
    assertSame("Java", java.records(), "C", inC.records());
    for (int batch = 0; batch < java.keyframes().size(); batch++) {
      if (java.keyframes().getLong(batch) != inC.keyframes().getLong(batch)) {
        throw new AssertionError("other frames are open where batch " + (batch + 1) + " begins");
      }
    }
  }

  /** Fails with both neighbourhoods where two runs did not record the same. */
  static void assertSame(String name, RecordBatch one, String otherName, RecordBatch other) {
    int differs = firstDifference(one, other);
    if (differs >= 0) {
      throw new AssertionError(
          "first difference at record %d; %s:\n%s\n%s:\n%s"
              .formatted(differs, name, around(one, differs), otherName, around(other, differs)));
    }
  }
}
