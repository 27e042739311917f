package dev.retstack.benchmarks.stages;

import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.retstack.cli.option.Tables;
import dev.retstack.service.table.Format;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;

/** Figures in the forms that users ask for. */
public final class MeasureTable {
  private static final List<String> HEADER = List.of("stage", "subject", "figure", "value");

  private MeasureTable() {}

  /** Prints all of them. */
  public static void print(PrintStream out, Format format, List<Measure> measures)
      throws IOException {
    List<List<String>> rows =
        measures.stream()
            .map(m -> List.of(m.stage(), m.subject(), m.figure(), number(m.value())))
            .toList();
    switch (format) {
      case TEXT -> Tables.text(out, HEADER, rows);
      case CSV -> Tables.csv(out, HEADER, rows);
      case JSON -> {
        ArrayNode all = Tables.JSON.createArrayNode();
        for (Measure m : measures) {
          all.addObject()
              .put("stage", m.stage())
              .put("subject", m.subject())
              .put("figure", m.figure())
              .put("value", m.value());
        }
        Tables.json(out, all);
      }
    }
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }
}
