package dev.retstack.graph.report;

import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.graph.totals.ContextKey;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/**
 * Which tasks of the cores are selected.
 *
 * @param text an id, unsigned, in decimal or in hex behind 0x; or a name, as reports show it, with
 *     or without the id behind it; empty for all
 */
public record TaskChoice(String text) {
  /** Behind a name that the program gave a task. */
  private static final Pattern ID = Pattern.compile("-(0x[0-9a-f]+|[0-9]+)( \\([0-9]+\\))?");

  /** All tasks, and interrupts. */
  public static final TaskChoice ALL = new TaskChoice("");

  /** Whether all are meant. */
  public boolean isAll() {
    return text.isEmpty();
  }

  /** Whether this task is meant. */
  public boolean has(long id, String name) {
    OptionalLong number = number();
    return isAll() || isCalled(name) || (number.isPresent() && number.getAsLong() == id);
  }

  /** Whether the calls of this context are meant. */
  boolean has(ContextKey context, String name) {
    return context.isTask() ? has(context.task(), name) : isAll() || name.equals(text);
  }

  /** Whether this task is meant, whose id is in hex as {@link SymbolTable#hex} writes it. */
  public boolean has(String id, String name) {
    OptionalLong number = number();
    return isAll()
        || isCalled(name)
        || (number.isPresent() && SymbolTable.hex(number.getAsLong()).equals(id));
  }

  /** {@code worker} and {@code worker-1001} mean {@code worker-1001}. */
  private boolean isCalled(String name) {
    boolean begins = name.startsWith(text);
    return begins
        && (name.length() == text.length() || ID.matcher(name.substring(text.length())).matches());
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
