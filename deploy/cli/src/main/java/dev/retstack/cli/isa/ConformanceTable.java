package dev.retstack.cli.isa;

import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import dev.retstack.fleet.zoo.Cell;
import dev.retstack.fleet.zoo.Check;
import dev.retstack.fleet.zoo.Verification;
import java.util.List;
import java.util.Locale;

/** What the conformance suite found: one row per image as text, one per cell elsewhere. */
public final class ConformanceTable {
  private record CellRow(Verification.Row row, Cell cell) {}

  private static final Table<Verification.Row> OF_IMAGE =
      new Table<Verification.Row>()
          .text("isa", row -> row.image().isa().name())
          .text("convention", row -> row.card().name());

  private static final Table<CellRow> CELLS =
      new Table<CellRow>()
          .and(OF_IMAGE, CellRow::row)
          .text("image", row -> row.cell().image())
          .text("program", row -> row.cell().program())
          .text("check", row -> name(row.cell().check()))
          .text("passed", row -> row.cell().passed())
          .text("reason", row -> row.cell().passed() ? null : row.cell().fault());

  private ConformanceTable() {}

  /** All cells, and as text what each check means and why cells failed. */
  public static Document document(List<Verification.Row> rows) {
    List<CellRow> cells =
        rows.stream()
            .flatMap(row -> row.cells().stream().map(cell -> new CellRow(row, cell)))
            .toList();
    Document document =
        new Document()
            .indented()
            .rows("", CELLS, cells)
            .csv(CELLS, cells)
            .text(images(), rows)
            .gap();
    for (Check check : Check.values()) {
      document.line("%-10s %s".formatted(name(check), check.sentence()));
    }
    for (Verification.Row row : rows) {
      row.failed().forEach(cell -> document.line(line(cell)));
    }
    return document;
  }

  private static Table<Verification.Row> images() {
    Table<Verification.Row> table = OF_IMAGE.text("image", row -> row.image().elf().name());
    for (Check check : Check.values()) {
      table = table.text(name(check), row -> passed(row.of(check)));
    }
    return table
        .text("seconds", row -> String.format(Locale.ROOT, "%.1f", row.nanos() / 1e9))
        .headedAsNamed();
  }

  private static String passed(List<Cell> cells) {
    long passed = cells.stream().filter(Cell::passed).count();
    return cells.isEmpty() ? "-" : passed + "/" + cells.size() + mark(cells);
  }

  private static String line(Cell cell) {
    return "FAIL %s %s %s: %s"
        .formatted(cell.image(), cell.program(), name(cell.check()), cell.fault());
  }

  private static String mark(List<Cell> cells) {
    return cells.stream().anyMatch(Cell::failed) ? " FAIL" : "";
  }

  private static String name(Check check) {
    return check.name().toLowerCase(Locale.ROOT);
  }
}
