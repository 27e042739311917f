package dev.retstack.graph.report;

import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.totals.ContextKey;
import java.util.List;

/**
 * What the calls of one task of one core add up to, or those in its interrupts.
 *
 * @param context which of them
 * @param name of the task, or {@link ContextKey#INTERRUPTS_NAME}
 * @param functions as in {@link Report}, of these calls alone
 * @param edges as in {@link Report}, of these calls alone
 */
public record ContextRow(
    ContextKey context,
    String name,
    ClockUnit unit,
    List<FunctionRow> functions,
    List<EdgeRow> edges) {

  public ContextRow {
    functions = List.copyOf(functions);
    edges = List.copyOf(edges);
  }
}
