package dev.retstack.graph.report;

import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.graph.totals.ContextKey;
import java.util.OptionalLong;

/**
 * Which tasks of the cores are selected.
 *
 * @param text an id, unsigned, in decimal or in hex behind 0x; or a name, as reports show it; empty
 *     for all
 */
public record TaskChoice(String text) {
  /** All tasks, and interrupts. */
  public static final TaskChoice ALL = new TaskChoice("");

  /** Whether all are meant. */
  public boolean isAll() {
    return text.isEmpty();
  }

  /** Whether this task is meant. */
  public boolean has(long id, String name) {
    OptionalLong number = number();
    return isAll() || name.equals(text) || (number.isPresent() && number.getAsLong() == id);
  }

  /** Whether the calls of this context are meant. */
  boolean has(ContextKey context, String name) {
    return context.isTask() ? has(context.task(), name) : isAll() || name.equals(text);
  }

  /** Whether this task is meant, whose id is in hex as {@link SymbolTable#hex} writes it. */
  public boolean has(String id, String name) {
    OptionalLong number = number();
    return isAll()
        || name.equals(text)
        || (number.isPresent() && SymbolTable.hex(number.getAsLong()).equals(id));
  }

  private OptionalLong number() {
    boolean hex = text.startsWith("0x");
    try {
      return OptionalLong.of(Long.parseUnsignedLong(hex ? text.substring(2) : text, hex ? 16 : 10));
    } catch (NumberFormatException e) {
      return OptionalLong.empty(); // a name
    }
  }
}
