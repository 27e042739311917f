package dev.retstack.graph.aggregate;

import java.util.Arrays;

/** What is added up for the calls on one stack, by slot, in primitive columns. */
final class OpenCalls {
  private static final int INITIAL = 32;

  long[] selfPc = new long[INITIAL];
  long[] enter = new long[INITIAL];

  /** Time of the finished calls below. */
  long[] children = new long[INITIAL];

  int[] function = new int[INITIAL];
  int[] edge = new int[INITIAL];
  int[] treeCall = new int[INITIAL];
  int[] level = new int[INITIAL];
  long[] callerPc = new long[INITIAL];

  void ensure(int slot) {
    if (slot >= enter.length) {
      int capacity = 2 * enter.length;
      selfPc = Arrays.copyOf(selfPc, capacity);
      enter = Arrays.copyOf(enter, capacity);
      children = Arrays.copyOf(children, capacity);
      function = Arrays.copyOf(function, capacity);
      edge = Arrays.copyOf(edge, capacity);
      treeCall = Arrays.copyOf(treeCall, capacity);
      level = Arrays.copyOf(level, capacity);
      callerPc = Arrays.copyOf(callerPc, capacity);
    }
  }
}
