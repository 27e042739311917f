package dev.retstack.fleet.probe.java;

import dev.retstack.fleet.probe.EventRecords;
import dev.retstack.fleet.probe.site.EntryPoints.Site;
import dev.retstack.fleet.probe.site.Operands;
import dev.retstack.fleet.probe.site.ValueRange;
import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.CodeAddresses;
import dev.retstack.machine.isa.call.Operand;
import dev.retstack.machine.isa.call.Slot;
import dev.retstack.machine.memory.GuestAccessException;
import dev.retstack.machine.memory.GuestMemory;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.unicorn.Unicorn;
import java.util.List;

/**
 * Finds the slot that holds the return address of a function, and what else an ABI card says of
 * this moment.
 */
final class EntrySlot {
  private final Unicorn engine;
  private final GuestMemory memory;
  private final Operands operands;
  private final long wordMask;
  private Slot slot;
  private long address;
  private long retP;
  private long from;
  private boolean tailCalled;
  private int tailCaller;

  EntrySlot(Unicorn engine, GuestMemory memory, Operands operands, long wordMask) {
    this.engine = engine;
    this.memory = memory;
    this.operands = operands;
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
    address = operands.value(slot.address());
    if (slot.place() == Slot.Place.SAVED) {
      address = (address + site.facts().savedAt()) & wordMask;
    }
    retP =
        slot.frame().isPresent()
            ? (operands.value(slot.frame().get()) + site.facts().frameBytes()) & wordMask
            : address;
    if (slot.place() == Slot.Place.REGISTER) {
      from = (engine.reg_read(slot.register()) - slot.addend()) & wordMask;
      return true;
    }
    if (address == 0) {
      return false;
    }
    from = memory.readWord(address);
    return card.parent().isEmpty() || operands.value(card.parent().get()) == from;
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
    EventRecords.values(to, now, arguments, operands.values(card.arguments(), arguments));
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
    long fp = card.fpAtExit().isPresent() ? operands.value(card.fpAtExit().get()) : 0;
    to.add(RecordBatch.EXIT, now, frame, stack.selfPc(frame), from, slotNow, fp);
    if (stack.isReturnWanted(frame)) {
      ValueRange range = ValueRange.returned(stack.returnFormat(frame));
      EventRecords.values(to, now, range, engine.reg_read(result) & wordMask);
    }
  }

  /** The slot as the stack pointer predicts it; that of the entry where it cannot. */
  private long retpAtExit(AbiCard card, long atEntry) {
    List<Operand> foretold = card.retpAtExit();
    return foretold.isEmpty() || operands.foretells(card, atEntry)
        ? atEntry
        : operands.value(foretold.getFirst());
  }
}
