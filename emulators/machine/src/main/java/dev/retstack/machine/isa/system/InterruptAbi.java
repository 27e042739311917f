package dev.retstack.machine.isa.system;

import dev.retstack.machine.isa.call.Registers;
import java.util.List;

/**
 * How an interrupt calls its handler: what the emulator must know to call a C function on a stack
 * that other code uses. Source: the psABI of each ISA.
 *
 * @param arguments registers of the first three integer arguments; none where they lie on the stack
 * @param redZone bytes below the stack pointer that a function may use without moving it
 * @param calleeArea bytes at the stack pointer of a call that belong to the function called, or
 *     that hold its arguments
 * @param alignment of the stack pointer at a call, before a return address is pushed; at least
 * @param backChain true where the word at the stack pointer names the frame above
 * @param entryRegister holds the address of a function that is called by pointer; {@link
 *     Registers#NONE} where none does
 * @param tocRegister is loaded from the function descriptor; {@link Registers#NONE} where functions
 *     are named by their code
 * @param delaySlots true where the instruction behind a jump runs before the target does: nothing
 *     may come between the two
 */
public record InterruptAbi(
    List<Integer> arguments,
    int redZone,
    int calleeArea,
    int alignment,
    boolean backChain,
    int entryRegister,
    int tocRegister,
    boolean delaySlots) {

  public InterruptAbi {
    arguments = List.copyOf(arguments);
  }

  /** A function is its code, and no word of the stack names a frame. */
  public static InterruptAbi plain(int redZone, int area, int alignment, Integer... arguments) {
    return new InterruptAbi(
        List.of(arguments), redZone, area, alignment, false, Registers.NONE, Registers.NONE, false);
  }

  /** This ABI with delay slots. */
  public InterruptAbi withDelaySlots() {
    return new InterruptAbi(
        arguments, redZone, calleeArea, alignment, backChain, entryRegister, tocRegister, true);
  }

  /** This ABI with a register that holds the address of the function called. */
  public InterruptAbi withEntryRegister(int register) {
    return new InterruptAbi(
        arguments, redZone, calleeArea, alignment, backChain, register, tocRegister, delaySlots);
  }
}
