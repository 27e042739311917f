package dev.retstack.machine.isa.system;

import dev.retstack.unicorn.Unicorn;
import java.util.OptionalLong;
import java.util.function.Function;

/** What an ISA needs between the opening of an engine and the program's first instruction. */
@FunctionalInterface
public interface BringUp {
  /** Name by which {@code symbols} knows the program's first instruction. */
  String ENTRY = "e_entry";

  /**
   * Name by which {@code symbols} knows the TOC of the function descriptor that {@code e_entry}
   * names (ppc64 ELFv1); absent in other files.
   */
  String ENTRY_TOC = "e_entry TOC";

  /**
   * Prepares the engine.
   *
   * @param engine opened, memory mapped, without hooks, not yet run
   * @param symbols addresses of the image's symbols by name, and of {@link #ENTRY} and {@link
   *     #ENTRY_TOC}
   */
  void apply(Unicorn engine, Function<String, OptionalLong> symbols);

  /** Does nothing. */
  BringUp NOTHING = (engine, symbols) -> {};
}
