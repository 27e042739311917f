package dev.retstack.graph.aggregate;

import java.util.Arrays;

/** Open calls on one stack per function and per arc: only the outermost adds to a total. */
final class OpenCounts {
  private int[] functions = new int[16];
  private int[] arcs = new int[16];

  /** Makes room for calls of an arc and a function. */
  void ensure(int arc, int function) {
    if (arc >= arcs.length) {
      arcs = Arrays.copyOf(arcs, Math.max(2 * arcs.length, arc + 1));
    }
    if (function >= functions.length) {
      functions = Arrays.copyOf(functions, Math.max(2 * functions.length, function + 1));
    }
  }

  /** One more call is open. */
  void open(int arc, int function) {
    ensure(arc, function);
    arcs[arc]++;
    functions[function]++;
  }

  /** A call of the arc ends; true where no other is open. */
  boolean closeArc(int arc) {
    return --arcs[arc] == 0;
  }

  /** A call of the function ends; true where no other is open. */
  boolean closeFunction(int function) {
    return --functions[function] == 0;
  }

  /** Counts by function id, until {@link #ensure} makes room. */
  int[] functions() {
    return functions;
  }

  /** Counts by arc id, until {@link #ensure} makes room. */
  int[] arcs() {
    return arcs;
  }
}
