package dev.retstack.fleet.probe.nativec;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.Operand;
import dev.retstack.machine.isa.call.Registers;
import dev.retstack.machine.isa.call.Slot;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/** ABI cards as the plain numbers that drive the probe in C. */
final class NativeCards {
  /** Most slots, and most operands that predict retp, of a card. */
  private static final int LIMIT = 4;

  private final NativeLibrary layout;
  private final int stackPointer;
  private final int pushed;
  private final NativeRegisters registers;

  private NativeCards(NativeLibrary layout, Isa isa, NativeRegisters registers, int pushed) {
    this.layout = layout;
    this.registers = registers;
    this.stackPointer = isa.registers().sp();
    this.pushed = pushed;
  }

  /**
   * An array of {@code struct card}: the cards, and behind them the same again for skipped calls,
   * whose moment of entry is behind the call that did not push its return address.
   */
  static MemorySegment write(
      NativeLibrary layout, Arena arena, Isa isa, NativeRegisters registers, List<AbiCard> cards) {
    long bytes = layout.at("card");
    MemorySegment all =
        arena.allocate(2 * bytes * Math.max(1, cards.size()), NativeTable.CACHE_LINE);
    for (int i = 0; i < cards.size(); i++) {
      for (int skipped = 0; skipped < 2; skipped++) {
        int pushed = skipped == 1 ? pushed(isa) : 0;
        new NativeCards(layout, isa, registers, pushed)
            .card(all.asSlice((i + (long) skipped * cards.size()) * bytes, bytes), cards.get(i));
      }
    }
    return all;
  }

  /** An array of {@code struct arguments}, in the order of the cards. */
  static MemorySegment writeArguments(
      NativeLibrary layout, Arena arena, Isa isa, NativeRegisters registers, List<AbiCard> cards) {
    long bytes = layout.at("arguments");
    int most = (int) layout.at("ARGUMENTS");
    MemorySegment all =
        arena.allocate(2 * bytes * Math.max(1, cards.size()), NativeTable.CACHE_LINE);
    for (int i = 0; i < 2 * cards.size(); i++) {
      AbiCard card = cards.get(i % cards.size());
      NativeCards writer =
          new NativeCards(layout, isa, registers, i < cards.size() ? 0 : pushed(isa));
      for (int k = 0; k < Math.min(card.arguments().size(), most); k++) {
        Operand argument = writer.atEntry(card.arguments().get(k));
        writer.operand(all, i * bytes + k * layout.at("operand"), Optional.of(argument));
      }
    }
    return all;
  }

  /** Bytes that a call pushes, which one that is skipped does not. */
  private static int pushed(Isa isa) {
    return isa.pushesReturnAddress() ? isa.wordBytes() : 0;
  }

  private void card(MemorySegment to, AbiCard card) {
    operand(to, layout.at("card.return_address"), card.returnAddress().map(this::atEntry));
    operand(to, layout.at("card.parent"), card.parent().map(this::atEntry));
    operand(to, layout.at("card.fp_at_entry"), card.fpAtEntry().map(this::atEntry));
    operand(to, layout.at("card.fp_at_exit"), card.fpAtExit());
    checkCount(card, "operands that predict retp", card.retpAtExit().size());
    for (int i = 0; i < card.retpAtExit().size(); i++) {
      long at = layout.at("card.retp_at_exit") + i * layout.at("operand");
      operand(to, at, Optional.of(card.retpAtExit().get(i)));
    }
    checkCount(card, "slots", card.slots().size());
    for (int i = 0; i < card.slots().size(); i++) {
      slot(to.asSlice(layout.at("card.slots") + i * layout.at("slot")), card.slots().get(i));
    }
    to.set(JAVA_INT, layout.at("card.foretold"), card.retpAtExit().size());
    to.set(JAVA_INT, layout.at("card.slot_count"), card.slots().size());
    to.set(JAVA_INT, layout.at("card.popping_return"), card.poppingReturn().orElse(0));
    to.set(JAVA_LONG, layout.at("card.slot_from_fp"), card.slotFromFp().orElse(0));
    to.set(JAVA_INT, layout.at("card.has_slot_from_fp"), card.slotFromFp().isPresent() ? 1 : 0);
  }

  private static void checkCount(AbiCard card, String what, int count) {
    if (count > LIMIT) {
      throw new IllegalStateException(
          "card %s: %d %s, at most %d".formatted(card.name(), count, what, LIMIT));
    }
  }

  private void slot(MemorySegment to, Slot slot) {
    to.set(JAVA_INT, layout.at("slot.place"), (int) layout.at("PLACE_" + slot.place()));
    to.set(JAVA_INT, layout.at("slot.only"), (int) layout.at("WHERE_" + slot.only()));
    to.set(JAVA_INT, layout.at("slot.reg"), registers.number(slot.register()));
    to.set(JAVA_LONG, layout.at("slot.addend"), slot.addend());
    operand(to, layout.at("slot.address"), Optional.of(atEntry(slot.address())));
    operand(to, layout.at("slot.frame"), slot.frame().map(this::atEntry));
  }

  private Operand atEntry(Operand operand) {
    return operand.register() == stackPointer
        ? new Operand(stackPointer, operand.offset() - pushed, operand.inMemory(), operand.addend())
        : operand;
  }

  private void operand(MemorySegment to, long at, Optional<Operand> operand) {
    to.set(
        JAVA_INT,
        at + layout.at("operand.reg"),
        registers.number(operand.map(Operand::register).orElse(Registers.NONE)));
    operand.ifPresent(
        o -> {
          to.set(JAVA_INT, at + layout.at("operand.in_memory"), o.inMemory() ? 1 : 0);
          to.set(JAVA_LONG, at + layout.at("operand.offset"), o.offset());
          to.set(JAVA_LONG, at + layout.at("operand.addend"), o.addend());
        });
  }
}
