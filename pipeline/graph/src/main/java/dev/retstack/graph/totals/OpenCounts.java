package dev.retstack.graph.totals;

import java.util.Arrays;

/**
 * How many calls are open on one stack, by function and by arc. Only the outermost one adds to a
 * total. It is as long as the profile has arcs. So the cores of a profile share one, and each uses
 * it while it takes a chunk.
 */
public final class OpenCounts {
  /** Arcs at even places, functions at odd ones. */
  private int[] counts = new int[32];

  /** Place of an arc's count. */
  public static int ofArc(int arc) {
    return 2 * arc;
  }

  /** Place of a function's count. */
  public static int ofFunction(int function) {
    return 2 * function + 1;
  }

  /** Makes room for calls of an arc and a function. */
  public void ensure(int arc, int function) {
    int most = Math.max(ofArc(arc), ofFunction(function));
    if (most >= counts.length) {
      counts = Arrays.copyOf(counts, Math.max(2 * counts.length, most + 1));
    }
  }

  /** Counts an open call. */
  public void open(int arc, int function) {
    ensure(arc, function);
    counts[ofArc(arc)]++;
    counts[ofFunction(function)]++;
  }

  /** A call of the arc ends; true where no other is open. */
  public boolean closeArc(int arc) {
    return --counts[ofArc(arc)] == 0;
  }

  /** A call of the function ends; true where no other is open. */
  public boolean closeFunction(int function) {
    return --counts[ofFunction(function)] == 0;
  }

  /** A call ends, or its stack is no longer at hand. */
  public void close(int arc, int function) {
    counts[ofArc(arc)]--;
    counts[ofFunction(function)]--;
  }

  /** All counts, until {@link #ensure} makes room. */
  public int[] counts() {
    return counts;
  }
}
