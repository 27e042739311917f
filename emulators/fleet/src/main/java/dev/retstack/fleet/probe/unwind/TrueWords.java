package dev.retstack.fleet.probe.unwind;

import dev.retstack.fleet.probe.task.Contexts.Stack;
import it.unimi.dsi.fastutil.longs.LongArrayList;

/**
 * The words of one stack that hold true return addresses instead of handlers, the lowest last.
 *
 * <p>An unwinder sees all of them. When it has been left, most stay as they are: only the lowest,
 * those of the frames that return next, are hijacked again, and the others when their turn comes.
 * So an exception through many clean-ups costs no more for a deep stack.
 */
final class TrueWords {
  private Stack stack;
  private final LongArrayList places = new LongArrayList();
  private final LongArrayList hijacked = new LongArrayList();
  private final LongArrayList originals = new LongArrayList();

  /** The lowest stack pointer at which more of them are to be hijacked again. */
  private long due;

  /** None. */
  TrueWords(Stack stack) {
    this.stack = stack;
    due = end();
  }

  /** The stack. */
  Stack stack() {
    return stack;
  }

  /** One past the highest address where it may lie. */
  long end() {
    return stack.region().end();
  }

  /** Its region may have other bounds now. */
  void isNow(Stack now) {
    due = due == end() ? now.region().end() : due;
    stack = now;
  }

  int size() {
    return places.size();
  }

  /** The lowest; the end of the stack where there are none. */
  long lowest() {
    return places.isEmpty() ? end() : places.getLong(places.size() - 1);
  }

  /** A word below all others is what it would be without any hijack. */
  void add(long place, long handler, long original) {
    places.add(place);
    hijacked.add(handler);
    originals.add(original);
  }

  /** What the lowest held. */
  long hijacked() {
    return hijacked.getLong(places.size() - 1);
  }

  /** What the lowest holds instead. */
  long original() {
    return originals.getLong(places.size() - 1);
  }

  /** The lowest is no concern any more. */
  void removeLowest() {
    int last = places.size() - 1;
    places.removeLong(last);
    hijacked.removeLong(last);
    originals.removeLong(last);
  }

  /** The lowest stack pointer at which more is to be done. */
  void due(long stackPointer) {
    due = stackPointer;
  }

  /** The lowest stack pointer at which more is to be done. */
  long due() {
    return due;
  }
}
