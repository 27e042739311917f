package dev.retstack.machine.isa.call;

import dev.retstack.machine.isa.call.SiteFacts.Where;
import java.util.Optional;

/**
 * A place that holds the return address of the function at entry: the tracer hijacks it there. A
 * card lists several if functions differ. The first that applies is the slot.
 *
 * @param place what kind of place
 * @param only the slot applies only to sites with this finding; {@link Where#UNKNOWN}: to all
 * @param address the slot's address; of a register, the retp that stands for it
 * @param register Unicorn's id of the register; {@link Registers#NONE} in memory
 * @param addend what the register holds is the return address plus this
 * @param frame where present, retp is not the slot but this, the stack pointer, plus the frame that
 *     the prologue scan found: what it was at the call, wherever functions keep the return address
 */
public record Slot(
    Place place, Where only, Operand address, int register, long addend, Optional<Operand> frame) {

  /** Kinds of places. */
  public enum Place {
    /** A word in memory, at {@code address}. It does not apply where that is 0. */
    MEMORY,
    /** A word in memory, at {@code address} plus what the prologue scan found. */
    SAVED,
    /** A register. */
    REGISTER
  }

  /** The word in memory at an address. */
  public static Slot memory(Operand address) {
    return new Slot(Place.MEMORY, Where.UNKNOWN, address, Registers.NONE, 0, Optional.empty());
  }

  /**
   * The word that the prologue saved it in.
   *
   * @param base the stack pointer, plus what lies between it at entry and it at the site
   */
  public static Slot saved(Operand base) {
    return new Slot(Place.SAVED, Where.SAVED, base, Registers.NONE, 0, Optional.empty());
  }

  /**
   * A register that the function returns by.
   *
   * @param retp the address that stands for it: of the word where the ABI would save it, or the
   *     stack pointer
   */
  public static Slot register(int register, Operand retp) {
    return register(register, 0, retp);
  }

  /** A register that holds the return address plus {@code addend}. */
  public static Slot register(int register, long addend, Operand retp) {
    return new Slot(Place.REGISTER, Where.UNKNOWN, retp, register, addend, Optional.empty());
  }

  /** This slot, only where the prologue has saved the return address. */
  public Slot whereSaved() {
    return new Slot(place, Where.SAVED, address, register, addend, frame);
  }

  /** This slot, only where the prologue has left the return address in its register. */
  public Slot whereNotSaved() {
    return new Slot(place, Where.IN_REGISTER, address, register, addend, frame);
  }

  /**
   * This slot, with the stack pointer at the call as retp.
   *
   * @param stackPointer at entry, where the site's frame is the function's
   */
  public Slot retpByFrame(Operand stackPointer) {
    return new Slot(place, only, address, register, addend, Optional.of(stackPointer));
  }

  /** True where the slot is one of such a site. */
  public boolean appliesTo(SiteFacts facts) {
    return only == Where.UNKNOWN || only == facts.where();
  }
}
