package dev.retstack.benchmarks.measure;

import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import java.util.List;
import java.util.Locale;

/** Figures in the forms that users ask for. */
public final class MeasureTable {
  private static final Table<Measure> MEASURES =
      new Table<Measure>()
          .text("stage", Measure::stage)
          .text("subject", Measure::subject)
          .text("figure", Measure::figure)
          .text("value", m -> new Table.Shown(m.value(), number(m.value())))
          .headedAsNamed();

  private MeasureTable() {}

  /** All of them. */
  public static Document document(List<Measure> measures) {
    return new Document().indented().table("", MEASURES, measures);
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }
}
