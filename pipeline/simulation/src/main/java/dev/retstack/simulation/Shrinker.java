package dev.retstack.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Shortens a failing sequence of parts while it still fails. */
final class Shrinker<T> {
  /** Runs at most; then what is left is taken as it is. */
  private static final int RUNS_MAX = 5000;

  private final Consumer<List<T>> run;
  private int runs;

  Shrinker(Consumer<List<T>> run) {
    this.run = run;
  }

  /** A part of them that fails as well, of which none can be left out. */
  List<T> shrink(List<T> parts) {
    List<T> left = new ArrayList<>(parts);
    for (int length = Math.max(1, left.size() / 2); length > 0; length /= 2) {
      boolean shorter = true;
      while (shorter) {
        shorter = without(left, length);
        shorter &= length == 1;
      }
    }
    return left;
  }

  /** Leaves out as many stretches of this length as it can; whether it was any. */
  private boolean without(List<T> left, int length) {
    boolean any = false;
    for (int from = Math.max(0, left.size() - length); from >= 0; from -= length) {
      List<T> fewer = new ArrayList<>(left.subList(0, from));
      fewer.addAll(left.subList(Math.min(from + length, left.size()), left.size()));
      if (runs < RUNS_MAX && fewer.size() < left.size() && fails(fewer)) {
        left.clear();
        left.addAll(fewer);
        any = true;
      }
    }
    return any;
  }

  private boolean fails(List<T> parts) {
    runs++;
    try {
      run.accept(parts);
      return false;
    } catch (RuntimeException | AssertionError e) {
      return true;
    }
  }
}
