package dev.retstack.fleet.probe;

import dev.retstack.fleet.core.GuestAccessException;
import dev.retstack.fleet.core.GuestMemory;
import dev.retstack.fleet.isa.AbiCard;
import dev.retstack.fleet.isa.CodeAddresses;
import dev.retstack.fleet.isa.Operand;
import dev.retstack.fleet.isa.Slot;
import dev.retstack.fleet.probe.EntryPoints.Site;
import dev.retstack.schema.codec.RecordBatch;
import dev.retstack.unicorn.Unicorn;
import java.util.List;
import java.util.stream.LongStream;

/** The slot that holds the return address of a function, and what else an ABI card says of now. */
final class EntrySlot {
  private final Unicorn engine;
  private final GuestMemory memory;
  private final long wordMask;
  private final int stackPointer;
  private Slot slot;
  private long address;
  private long retP;
  private long from;
  private boolean tailCalled;
  private int tailCaller;

  EntrySlot(Unicorn engine, GuestMemory memory, long wordMask, int stackPointer) {
    this.stackPointer = stackPointer;
    this.engine = engine;
    this.memory = memory;
    this.wordMask = wordMask;
  }

  /**
   * Finds the slot.
   *
   * @return false where none of the card's places holds the return address
   * @throws GuestAccessException where one is in memory that is not there
   */
  boolean find(AbiCard card, Site site) {
    List<Slot> slots = card.slots();
    for (int i = 0; i < slots.size(); i++) {
      slot = slots.get(i);
      if (slot.appliesTo(site.facts()) && holdsReturnAddress(card, site)) {
        return true;
      }
    }
    return false;
  }

  private boolean holdsReturnAddress(AbiCard card, Site site) {
    address = value(slot.address());
    if (slot.place() == Slot.Place.SAVED) {
      address = (address + site.facts().savedAt()) & wordMask;
    }
    retP =
        slot.frame().isPresent()
            ? (value(slot.frame().get()) + site.facts().frameBytes()) & wordMask
            : address;
    if (slot.place() == Slot.Place.REGISTER) {
      from = (engine.reg_read(slot.register()) - slot.addend()) & wordMask;
      return true;
    }
    if (address == 0) {
      return false;
    }
    from = memory.readWord(address);
    return card.parent().isEmpty() || value(card.parent().get()) == from;
  }

  /** Where the slot is, as records say it. */
  long retP() {
    return retP;
  }

  /** The word in memory that is the slot; 0 where it is a register. */
  long address() {
    return slot.place() == Slot.Place.REGISTER ? 0 : address;
  }

  /** What it holds. */
  long from() {
    return from;
  }

  /**
   * Says how the function is entered.
   *
   * @param tailCalled true by a tail call
   * @param caller index of the open frame that gave way to it; negative where there is none
   */
  void setTailCaller(boolean tailCalled, int caller) {
    this.tailCalled = tailCalled;
    tailCaller = caller;
  }

  boolean isTailCalled() {
    return tailCalled;
  }

  int tailCaller() {
    return tailCaller;
  }

  /** It holds a handler of a frame that gave way; that would have returned there. */
  void returnsTo(long address) {
    from = address;
  }

  /** Puts the address of a handler slot there. */
  void hijack(long handler) {
    if (slot.place() == Slot.Place.REGISTER) {
      engine.reg_write(slot.register(), (handler + slot.addend()) & wordMask);
    } else {
      memory.writeWord(address, handler);
    }
  }

  /** Records an entry, and the arguments that are asked for. */
  void enter(
      RecordBatch to,
      long now,
      int frame,
      long selfPc,
      long fromPc,
      long fp,
      AbiCard card,
      ValueRange arguments) {
    to.add(RecordBatch.ENTRY, now, frame, selfPc, fromPc, retP, fp);
    EventRecords.values(to, now, arguments, values(card.arguments(), arguments));
  }

  /** Records an exit of a frame, and the value it returns where that is asked for. */
  void exit(
      RecordBatch to,
      long now,
      int frame,
      RetStack stack,
      AbiCard[] cards,
      CodeAddresses addresses,
      int result) {
    AbiCard card = cards[stack.convention(frame)];
    long from = addresses.instruction(stack.fromPc(frame));
    long slotNow = retpAtExit(card, stack.retP(frame));
    long fp = card.fpAtExit().isPresent() ? value(card.fpAtExit().get()) : 0;
    to.add(RecordBatch.EXIT, now, frame, stack.selfPc(frame), from, slotNow, fp);
    if (stack.isReturnWanted(frame)) {
      ValueRange range = ValueRange.returned(stack.returnFormat(frame));
      EventRecords.values(to, now, range, engine.reg_read(result) & wordMask);
    }
  }

  /** True where the stack pointer foretells this slot. */
  boolean foretells(AbiCard card, long retP) {
    List<Operand> foretold = card.retpAtExit();
    for (int i = 0; i < foretold.size(); i++) {
      if (value(foretold.get(i)) == retP) {
        return true;
      }
    }
    return false;
  }

  /** {@link GivenUp.Arrival#exits}, of functions of these cards. */
  long[] exits(List<AbiCard> cards) {
    LongStream foretold =
        cards.stream().flatMap(card -> card.retpAtExit().stream()).mapToLong(this::value);
    long now = engine.reg_read(stackPointer) & wordMask;
    return LongStream.concat(LongStream.of(now), foretold).toArray();
  }

  /** True where the stack pointer is so many bytes above a slot; not for 0. */
  boolean isUp(long bytes, long retP) {
    return bytes > 0 && ((engine.reg_read(stackPointer) - retP) & wordMask) == bytes;
  }

  /** The slot as the stack pointer foretells it; that of the entry where it cannot. */
  private long retpAtExit(AbiCard card, long atEntry) {
    List<Operand> foretold = card.retpAtExit();
    return foretold.isEmpty() || foretells(card, atEntry) ? atEntry : value(foretold.getFirst());
  }

  /** The values of some operands now; 0 for those that cannot be read. */
  long[] values(List<Operand> operands, ValueRange range) {
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
  long argument(AbiCard card, int index) {
    return values(card.arguments(), new ValueRange(index, index + 1, 0))[0];
  }

  /** The value of an operand now. */
  long value(Operand operand) {
    long sum = (engine.reg_read(operand.register()) + operand.offset()) & wordMask;
    return operand.inMemory() ? (memory.readWord(sum) + operand.addend()) & wordMask : sum;
  }
}
