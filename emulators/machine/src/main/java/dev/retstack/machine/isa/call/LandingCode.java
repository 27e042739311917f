package dev.retstack.machine.isa.call;

/**
 * The machine code of the landing page, where hijacked returns arrive. It has handler slots of
 * equal length, and behind them a tail that some ISAs need. The code keeps every register that may
 * hold a result. It continues at the address in the mailbox, a word in memory.
 *
 * @param stride bytes from one handler slot to the next
 * @param slot code of a handler slot, at most {@code stride} bytes
 * @param tail code of the tail; empty where the slots reach the mailbox by themselves
 * @param trampoline code that continues at one address; {@link Trampoline#NONE} where there is none
 * @param homeWord bytes from a home to a separate word that says where to continue; 0 where the
 *     code of a handler slot reaches the mailbox from there too
 */
public record LandingCode(int stride, Slot slot, Tail tail, Trampoline trampoline, int homeWord) {
  /** All homes use the mailbox. */
  public LandingCode(int stride, Slot slot, Tail tail, Trampoline trampoline) {
    this(stride, slot, tail, trampoline, 0);
  }

  /** Code without a tail. */
  public static LandingCode oneBlock(int stride, WayOut slot, Trampoline trampoline) {
    return new LandingCode(
        stride, (at, _, mailbox) -> slot.code(at, mailbox), (_, _) -> new byte[0], trampoline);
  }

  /** Writes a jump that changes no register and that the engine links: a direct one. */
  @FunctionalInterface
  public interface Trampoline {
    /** No return has one. */
    Trampoline NONE = (_, _) -> new byte[0];

    /**
     * Returns the machine code.
     *
     * @param at address of the code
     * @param target where it continues; empty code where a jump does not reach it
     */
    byte[] code(long at, long target);
  }

  /** Writes a handler slot that needs no tail. */
  @FunctionalInterface
  public interface WayOut {
    /** Returns the machine code of one slot at an address. */
    byte[] code(long at, long mailbox);
  }

  /** Writes a handler slot. */
  @FunctionalInterface
  public interface Slot {
    /**
     * Returns the machine code of one slot.
     *
     * @param at address of the slot
     * @param tail address of the tail
     * @param mailbox address of the word that says where to continue
     */
    byte[] code(long at, long tail, long mailbox);
  }

  /** Writes the tail. */
  @FunctionalInterface
  public interface Tail {
    /**
     * Returns the machine code of the tail.
     *
     * @param at address of the tail
     * @param mailbox address of the word that says where to continue
     */
    byte[] code(long at, long mailbox);
  }
}
