package dev.retstack.graph.report;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.totals.InterruptTotals;
import java.util.Arrays;
import java.util.List;

/**
 * The interrupts of one number on a core.
 *
 * @param number as the architecture numbers it; {@link InterruptTotals#OTHERS} for many more
 * @param count that began
 * @param finished that are known to have ended
 * @param total time for which those ran themselves, interrupts on top of them left out
 * @param max the longest of them
 */
public record InterruptRow(long number, long count, long finished, long total, long max) {
  /** The interrupts of a core by number. */
  static List<InterruptRow> of(CoreGraph core) {
    return Arrays.stream(core.interrupts().numbers())
        .mapToObj(
            number -> {
              InterruptTotals.Totals t = core.interrupts().get(number);
              return new InterruptRow(number, t.count(), t.finished(), t.total(), t.max());
            })
        .toList();
  }
}
