package dev.retstack.fleet.probe.unwind;

import dev.retstack.fleet.isa.call.CodeAddresses;
import it.unimi.dsi.fastutil.longs.LongArrayList;

/** One call of an unwinder, until its frame is left: what was put back for it. */
final class UnwinderWalk {
  private final Leaving leaving;
  private final long stackPointer;
  private final LongArrayList places = new LongArrayList();
  private final LongArrayList hijacked = new LongArrayList();
  private final LongArrayList originals = new LongArrayList();
  private long hijackedReturn = Unwinding.NOWHERE;
  private long originalReturn = Unwinding.NOWHERE;

  /**
   * Nothing was put back yet.
   *
   * @param leaving where its frame has been left
   * @param stackPointer before its first instruction
   */
  UnwinderWalk(Leaving leaving, long stackPointer) {
    this.leaving = leaving;
    this.stackPointer = stackPointer;
  }

  /** The stack pointer when it was called. */
  long stackPointer() {
    return stackPointer;
  }

  /** Where its frame has been left. */
  Leaving leaving() {
    return leaving;
  }

  /** A word of the stack holds the true return address now; in ascending order. */
  void restored(long place, long handler, long original) {
    if (place == stackPointer) { // where calls push it
      hijackedReturn = handler;
      originalReturn = original;
    }
    places.add(place);
    hijacked.add(handler);
    originals.add(original);
  }

  /** The link register does. */
  void restoredLink(long handler, long original) {
    hijackedReturn = handler;
    originalReturn = original;
  }

  boolean hasRestored() {
    return !places.isEmpty() || originalReturn != Unwinding.NOWHERE;
  }

  /** An address of its stack that a traced function is known to have used. */
  long lowestPlace() {
    return places.isEmpty() ? stackPointer : places.getLong(0);
  }

  /** Words that were put back. */
  int size() {
    return places.size();
  }

  /** Index of the first word at or above an address. */
  int firstFrom(long address) {
    int at = 0;
    while (at < places.size() && Long.compareUnsigned(places.getLong(at), address) < 0) {
      at++;
    }
    return at;
  }

  /** Address of a word. */
  long place(int index) {
    return places.getLong(index);
  }

  /** What it held. */
  long hijacked(int index) {
    return hijacked.getLong(index);
  }

  /** What it holds instead. */
  long original(int index) {
    return originals.getLong(index);
  }

  /** Where the unwinder itself would have returned to. */
  long hijackedReturn() {
    return hijackedReturn;
  }

  /** True where it was called away by a traced function, and has returned for it. */
  boolean returnsTo(long address, CodeAddresses addresses) {
    return originalReturn != Unwinding.NOWHERE && address == addresses.instruction(originalReturn);
  }

  /** Where it returns to instead; {@link Unwinding#NOWHERE} where that was not hijacked. */
  long originalReturn() {
    return originalReturn;
  }
}
