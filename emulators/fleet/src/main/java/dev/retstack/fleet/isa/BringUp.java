package dev.retstack.fleet.isa;

import dev.retstack.unicorn.Unicorn;
import java.util.OptionalLong;
import java.util.function.Function;

/** What an ISA needs between the opening of an engine and the program's first instruction. */
@FunctionalInterface
public interface BringUp {
  /**
   * Prepares the engine.
   *
   * @param engine opened, memory mapped, not yet run
   * @param symbols addresses of the image's symbols by name
   */
  void apply(Unicorn engine, Function<String, OptionalLong> symbols);

  /** Nothing. */
  BringUp NOTHING = (engine, symbols) -> {};
}
