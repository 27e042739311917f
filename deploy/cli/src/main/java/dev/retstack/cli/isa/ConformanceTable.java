package dev.retstack.cli.isa;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.retstack.cli.option.Tables;
import dev.retstack.fleet.zoo.Cell;
import dev.retstack.fleet.zoo.Check;
import dev.retstack.fleet.zoo.Verification;
import dev.retstack.service.table.Format;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What the conformance suite found: one row per image as text, one per cell elsewhere. */
public final class ConformanceTable {
  private static final List<String> CELL_HEADER =
      List.of("isa", "convention", "image", "program", "check", "passed", "reason", "limit");

  private ConformanceTable() {}

  /** Writes the table in one of its shapes. */
  public static void write(List<Verification.Row> rows, Format format, PrintStream out)
      throws IOException {
    switch (format) {
      case TEXT -> text(rows, out);
      case CSV -> csv(rows, out);
      case JSON -> json(rows, out);
    }
  }

  private static void text(List<Verification.Row> rows, PrintStream out) {
    List<String> header = new ArrayList<>(List.of("isa", "convention", "image"));
    for (Check check : Check.values()) {
      header.add(name(check));
    }
    header.add("seconds");
    List<List<String>> lines = new ArrayList<>();
    for (Verification.Row row : rows) {
      List<String> line = new ArrayList<>();
      line.add(row.image().isa().name());
      line.add(row.card().name());
      line.add(row.image().elf().name());
      for (Check check : Check.values()) {
        List<Cell> cells = row.of(check);
        long passed = cells.stream().filter(Cell::passed).count();
        line.add(cells.isEmpty() ? "-" : passed + "/" + cells.size() + mark(cells));
      }
      line.add(String.format(Locale.ROOT, "%.1f", row.nanos() / 1e9));
      lines.add(line);
    }
    Tables.text(out, header, lines);
    out.println();
    for (Check check : Check.values()) {
      out.printf("%-10s %s%n", name(check), check.sentence());
    }
    for (Verification.Row row : rows) {
      for (Cell cell : row.failed()) {
        out.printf(
            "FAIL %s %s %s: %s%n", cell.image(), cell.program(), name(cell.check()), cell.fault());
      }
      for (Cell cell : row.limited()) {
        out.printf(
            "LIMIT %s %s %s: %s%n", cell.image(), cell.program(), name(cell.check()), cell.limit());
      }
    }
  }

  private static String mark(List<Cell> cells) {
    if (cells.stream().anyMatch(Cell::failed)) {
      return " FAIL";
    }
    return cells.stream().anyMatch(Cell::limited) ? " LIMIT" : "";
  }

  private static void csv(List<Verification.Row> rows, PrintStream out) {
    List<List<String>> lines = new ArrayList<>();
    for (Verification.Row row : rows) {
      for (Cell cell : row.cells()) {
        lines.add(
            List.of(
                row.image().isa().name(),
                row.card().name(),
                cell.image(),
                cell.program(),
                name(cell.check()),
                String.valueOf(cell.passed()),
                cell.fault(),
                cell.limit()));
      }
    }
    Tables.csv(out, CELL_HEADER, lines);
  }

  private static void json(List<Verification.Row> rows, PrintStream out) throws IOException {
    ArrayNode all = Tables.JSON.createArrayNode();
    for (Verification.Row row : rows) {
      for (Cell cell : row.cells()) {
        ObjectNode object =
            all.addObject()
                .put("isa", row.image().isa().name())
                .put("convention", row.card().name())
                .put("image", cell.image())
                .put("program", cell.program())
                .put("check", name(cell.check()))
                .put("passed", cell.passed());
        if (!cell.passed()) {
          object.put("reason", cell.fault());
        }
        if (cell.limited()) {
          object.put("limit", cell.limit());
        }
      }
    }
    Tables.json(out, all);
  }

  private static String name(Check check) {
    return check.name().toLowerCase(Locale.ROOT);
  }
}
