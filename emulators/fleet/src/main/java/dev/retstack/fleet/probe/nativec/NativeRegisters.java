package dev.retstack.fleet.probe.nativec;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.Operand;
import dev.retstack.machine.isa.call.Registers;
import dev.retstack.unicorn.Unicorn;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * How the probe in C names registers. If their place in the engine's memory is known, a register is
 * an offset from the first one, and reading it is a load. Otherwise it is an id for {@code
 * uc_reg_read}.
 */
final class NativeRegisters {
  private final int[] ids;
  private final long[] places;

  private NativeRegisters(int[] ids, long[] places) {
    this.ids = ids;
    this.places = places;
  }

  /** Finds the registers that the cards of an ISA name. */
  static NativeRegisters of(Unicorn engine, Isa isa, List<AbiCard> cards) {
    Registers registers = isa.registers();
    int[] ids =
        IntStream.concat(
                IntStream.of(registers.sp(), registers.result()),
                cards.stream().flatMapToInt(NativeRegisters::of))
            .filter(id -> id != Registers.NONE)
            .distinct()
            .toArray();
    Optional<long[]> places =
        isa.engine().movesRegisters()
            ? Optional.empty()
            : engine.locateRegisters(isa.wordBytes(), ids);
    return new NativeRegisters(ids, places.orElseGet(() -> new long[0]));
  }

  private static IntStream of(AbiCard card) {
    Stream<Operand> slots =
        card.slots().stream()
            .flatMap(s -> Stream.concat(Stream.of(s.address()), s.frame().stream()));
    Stream<Operand> operands =
        Stream.of(
                card.returnAddress().stream(),
                card.parent().stream(),
                card.fpAtEntry().stream(),
                card.fpAtExit().stream(),
                card.retpAtExit().stream(),
                card.arguments().stream(),
                slots)
            .flatMap(s -> s);
    return IntStream.concat(
        operands.mapToInt(Operand::register), card.slots().stream().mapToInt(s -> s.register()));
  }

  /** Host address of the first; 0 where registers go by their ids. */
  long base() {
    return Arrays.stream(places).min().orElse(0);
  }

  /** What stands for a register in the probe; {@link Registers#NONE} stays. */
  int number(int id) {
    if (id == Registers.NONE || places.length == 0) {
      return id;
    }
    for (int i = 0; i < ids.length; i++) {
      if (ids[i] == id) {
        return (int) (places[i] - base());
      }
    }
    throw new IllegalStateException("register " + id + " is on no card");
  }
}
