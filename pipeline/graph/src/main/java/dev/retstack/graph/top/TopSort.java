package dev.retstack.graph.top;

import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.ProfileRows;
import java.util.Comparator;
import java.util.function.ToLongFunction;

/** How the first functions are chosen. Equals are in the order of reports. */
public enum TopSort {
  /** Time in the function and below: the order of reports. */
  TOTAL(FunctionRow::total),
  /** Time in the function itself. */
  SELF(FunctionRow::self),
  /** Entries seen. */
  CALLS(FunctionRow::calls);

  private final Comparator<FunctionRow> order;

  TopSort(ToLongFunction<FunctionRow> most) {
    this.order =
        Comparator.comparingLong(most).reversed().thenComparing(ProfileRows.FUNCTION_ORDER);
  }

  Comparator<FunctionRow> order() {
    return order;
  }
}
