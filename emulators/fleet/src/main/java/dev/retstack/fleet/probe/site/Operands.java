package dev.retstack.fleet.probe.site;

import dev.retstack.fleet.probe.frame.GivenUp;
import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.Operand;
import dev.retstack.machine.landing.Machine;
import dev.retstack.machine.memory.GuestAccessException;
import dev.retstack.machine.memory.GuestMemory;
import dev.retstack.unicorn.Unicorn;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;

/**
 * The present values of the operands of ABI cards: registers of the core, and words of its memory.
 * So it also knows what the registers say of a return that has just arrived.
 */
public final class Operands implements GivenUp.Arrival {
  private final Unicorn engine;
  private final GuestMemory memory;
  private final EntryPoints points;
  private final List<AbiCard> cards;
  private final LongSupplier last;
  private final LongSupplier returned;
  private final ByteOrder order;
  private final long wordMask;
  private final int stackPointer;

  /**
   * The operands of a core.
   *
   * @param points have the cards
   * @param last address of the block of the program that ran last
   * @param returned one past the block that ended with the return that has arrived
   */
  public Operands(Machine machine, EntryPoints points, LongSupplier last, LongSupplier returned) {
    engine = machine.engine();
    memory = machine.memory();
    this.points = points;
    this.last = last;
    this.returned = returned;
    order = machine.isa().order();
    cards = points.cards();
    wordMask = machine.wordMask();
    stackPointer = machine.isa().registers().sp();
  }

  /**
   * The value of an operand.
   *
   * @throws GuestAccessException where it is in memory that is not there
   */
  public long value(Operand operand) {
    long sum = (engine.reg_read(operand.register()) + operand.offset()) & wordMask;
    return operand.inMemory() ? (memory.readWord(sum) + operand.addend()) & wordMask : sum;
  }

  /** The values of some operands now; 0 for those that cannot be read. */
  public long[] values(List<Operand> operands, ValueRange range) {
    long[] values = new long[range.end() - range.first()];
    for (int i = range.first(); i < range.end(); i++) {
      try {
        values[i - range.first()] = value(operands.get(i));
      } catch (GuestAccessException notThere) {
        values[i - range.first()] = 0;
      }
    }
    return values;
  }

  /** An argument of the function that is entered; 0 where it cannot be read. */
  public long argument(AbiCard card, int index) {
    return values(card.arguments(), new ValueRange(index, index + 1, 0))[0];
  }

  /** True where the stack pointer predicts this slot. */
  public boolean foretells(AbiCard card, long retP) {
    List<Operand> foretold = card.retpAtExit();
    for (int i = 0; i < foretold.size(); i++) {
      if (value(foretold.get(i)) == retP) {
        return true;
      }
    }
    long popped = popped(card);
    return popped > 0 && value(foretold.getFirst()) - popped == retP;
  }

  /** Bytes that the return popped beyond its address, as its code says; 0 where it does not. */
  private long popped(AbiCard card) {
    if (card.poppingReturn().isEmpty()) {
      return 0;
    }
    int code = Integer.reverseBytes((int) memory.code(returned.getAsLong() - Integer.BYTES));
    int wanted = card.poppingReturn().getAsInt();
    int opcode = code >>> Short.SIZE & (wanted > 0xff ? 0xffff : 0xff);
    short bytes = order == ByteOrder.BIG_ENDIAN ? (short) code : Short.reverseBytes((short) code);
    return opcode == wanted ? bytes & 0xffff : 0;
  }

  /** True where the stack pointer is this number of bytes above a slot; not for 0. */
  public boolean isUp(long bytes, long retP) {
    return bytes > 0 && ((engine.reg_read(stackPointer) - retP) & wordMask) == bytes;
  }

  @Override
  public long[] exits() {
    LongStream foretold =
        cards.stream().flatMap(card -> card.retpAtExit().stream()).mapToLong(this::value);
    LongStream popped =
        cards.stream()
            .filter(card -> popped(card) > 0)
            .mapToLong(card -> value(card.retpAtExit().getFirst()) - popped(card));
    long now = engine.reg_read(stackPointer) & wordMask;
    return LongStream.concat(LongStream.of(now), LongStream.concat(foretold, popped)).toArray();
  }

  @Override
  public boolean foretells(int convention, long selfPc, long retP) {
    int card = convention % cards.size(); // those of calls that are skipped stand behind them
    return foretells(cards.get(card), retP) || isUp(points.up(card, selfPc), retP);
  }

  @Override
  public boolean isFrom(long selfPc) {
    return points.sameFunction(selfPc, last.getAsLong());
  }
}
