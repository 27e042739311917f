package dev.retstack.graph.report;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.totals.SystemCallTotals;
import dev.retstack.graph.totals.SystemCallTotals.Totals;
import dev.retstack.schema.linux.SystemCallNames;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Adds up the system calls of cores by ISA, because each ISA has its own numbers. */
public final class SystemCallRows {
  private static final Comparator<SystemCallRow> ORDER =
      Comparator.comparingLong(SystemCallRow::calls)
          .reversed()
          .thenComparing(SystemCallRow::name)
          .thenComparing(SystemCallRow::isa)
          .thenComparing(SystemCallRow::session);

  private record Isa(String session, String name, String table) {}

  private final Map<Isa, SystemCallTotals> isas = new HashMap<>();

  /** Adds those of a core to those of its session, or of all. */
  void add(String session, CoreGraph core) {
    SystemCallTotals totals = core.other().systemCallTotals();
    if (totals.numbers().length > 0) {
      isas.computeIfAbsent(
              new Isa(session, core.image().isa(), core.image().systemCalls()),
              _ -> new SystemCallTotals())
          .merge(totals);
    }
  }

  /** Name of a system call by its number. */
  public static String name(String table, long number) {
    return number == SystemCallTotals.OTHERS
        ? "others"
        : SystemCallNames.of(table).name(number).orElseGet(() -> String.valueOf(number));
  }

  List<SystemCallRow> rows() {
    List<SystemCallRow> rows = new ArrayList<>();
    isas.forEach(
        (isa, totals) -> {
          for (long number : totals.numbers()) {
            Totals t = totals.get(number);
            rows.add(
                new SystemCallRow(
                    isa.session(),
                    name(isa.table(), number),
                    isa.name(),
                    t.calls(),
                    t.errors(),
                    t.time()));
          }
        });
    rows.sort(ORDER);
    return List.copyOf(rows);
  }
}
