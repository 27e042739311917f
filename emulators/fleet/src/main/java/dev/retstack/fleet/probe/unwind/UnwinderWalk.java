package dev.retstack.fleet.probe.unwind;

import dev.retstack.machine.isa.call.CodeAddresses;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** One call of an unwinder or of an asker, until its frame is left: what was put back for it. */
final class UnwinderWalk {
  /**
   * Another stack on which it may continue.
   *
   * @param words of that stack
   * @param from the lowest stack pointer there
   * @param isOwn true where that stack continues only when the unwinder has been left
   */
  record Other(TrueWords words, long from, boolean isOwn) {}

  private final Leaving leaving;
  private Leaving returning;
  private final long stackPointer;
  private final TrueWords words;
  private final List<Other> others = new ArrayList<>();
  private long hijackedReturn = Unwinding.NOWHERE;
  private long originalReturn = Unwinding.NOWHERE;

  /**
   * Nothing was put back yet.
   *
   * @param leaving where its frame has been left
   * @param stackPointer before its first instruction
   * @param words of its stack
   */
  UnwinderWalk(Leaving leaving, long stackPointer, TrueWords words) {
    this.leaving = leaving;
    this.stackPointer = stackPointer;
    this.words = words;
  }

  /** The stack pointer when it was called. */
  long stackPointer() {
    return stackPointer;
  }

  /** Where its frame has been left. */
  Leaving leaving() {
    return leaving;
  }

  /** It may call others with the stack pointer of its caller: with this one it only returns. */
  void returnsBy(Leaving back) {
    returning = back;
  }

  /** Where its frame has been left, in one way or another. */
  Stream<Leaving> leavings() {
    return Stream.of(leaving, returning).filter(Objects::nonNull);
  }

  /** True where its frame has been left. */
  boolean isLeftAt(long address, long sp) {
    return leaving.isAt(address, sp) || (returning != null && returning.isAt(address, sp));
  }

  /** The words of its stack. */
  TrueWords words() {
    return words;
  }

  /** It may continue on another stack. */
  void reaches(Other other) {
    others.add(other);
  }

  /** The other stacks on which it may continue. */
  List<Other> others() {
    return others;
  }

  /** True for words of its stack, or of another on which it may continue. */
  boolean uses(TrueWords some) {
    return some == words || others.stream().anyMatch(other -> other.words() == some);
  }

  /** Its own return address is the true one now. */
  void restoredReturn(long handler, long original) {
    hijackedReturn = handler;
    originalReturn = original;
  }

  boolean hasRestored() {
    return words.size() > 0 || !others.isEmpty() || originalReturn != Unwinding.NOWHERE;
  }

  /** An address of its stack that a traced function is known to have used. */
  long lowestPlace() {
    return words.size() == 0 ? stackPointer : words.lowest();
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
