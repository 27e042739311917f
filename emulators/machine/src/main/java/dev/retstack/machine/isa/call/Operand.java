package dev.retstack.machine.isa.call;

/**
 * Where a value is at a moment that an {@link AbiCard} describes: {@code register + offset}, or the
 * word in memory at that address plus {@code addend}. It is four numbers, so a probe in another
 * language can use the same card.
 *
 * @param register Unicorn's register id
 * @param offset bytes added to the register
 * @param inMemory true where the sum is an address and the value is the word that it holds
 * @param addend bytes added to that word
 */
public record Operand(int register, long offset, boolean inMemory, long addend) {

  /** The register itself. */
  public static Operand register(int register) {
    return new Operand(register, 0, false, 0);
  }

  /** {@code register + offset}, as a number. */
  public static Operand sum(int register, long offset) {
    return new Operand(register, offset, false, 0);
  }

  /** The word at {@code register + offset}. */
  public static Operand word(int register, long offset) {
    return new Operand(register, offset, true, 0);
  }

  /** The word at {@code register + offset}, plus {@code addend}: through one frame to the next. */
  public static Operand wordPlus(int register, long offset, long addend) {
    return new Operand(register, offset, true, addend);
  }
}
