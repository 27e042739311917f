package dev.retstack.answers.table;

import dev.retstack.schema.wire.Visible;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/** Rows in columns as wide as their longest cell. A heading that ends in {@code >} aligns right. */
public final class TextTable {
  private static final String GAP = "  ";

  /** Columns are as wide as this at most: one long name in many rows would fill the disk. */
  private static final int WIDTH_MAX = 200;

  private final List<String[]> rows = new ArrayList<>();
  private final boolean[] right;
  private final int[] width;

  /** A table with these headings. */
  public TextTable(String... headings) {
    right = new boolean[headings.length];
    width = new int[headings.length];
    String[] head = headings.clone();
    for (int i = 0; i < head.length; i++) {
      right[i] = head[i].endsWith(">");
      head[i] = right[i] ? head[i].substring(0, head[i].length() - 1) : head[i];
    }
    row(head);
  }

  /** Adds a row of as many cells. */
  public void row(String... given) {
    rows.add(measured(given));
  }

  private String[] measured(String... given) {
    String[] cells = given.clone();
    for (int i = 0; i < cells.length; i++) {
      cells[i] = Visible.line(cells[i]);
      width[i] = Math.max(width[i], Math.min(cells[i].length(), WIDTH_MAX));
    }
    return cells;
  }

  /** Writes all rows, the headings first. */
  public void write(Appendable out) throws IOException {
    for (String[] cells : rows) {
      write(cells, out);
    }
  }

  private void write(String[] cells, Appendable out) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < cells.length; i++) {
      String pad = " ".repeat(Math.max(0, width[i] - cells[i].length()));
      line.append(i == 0 ? "" : GAP);
      line.append(right[i] ? pad + cells[i] : cells[i] + pad);
    }
    out.append(line.toString().stripTrailing()).append('\n');
  }

  /** Writes the lines and tables of a document. */
  static void write(Document document, Appendable out) throws IOException {
    for (Document.Item item : document.items()) {
      switch (item) {
        case Document.TextLine(String text) -> Line.write(out, text);
        case Document.TextRows<?> rows -> write(rows, out);
        case Document.TextPart(Consumer<Document> part) -> {
          Document lines = new Document();
          part.accept(lines);
          write(lines, out);
        }
        case Document.Field _, Document.CsvRows<?> _ -> {}
      }
    }
  }

  private static <T> void write(Document.TextRows<T> rows, Appendable out) throws IOException {
    Table<T> table = rows.table();
    List<Table.Heading> headings = table.headings();
    TextTable text =
        new TextTable(
            headings.stream()
                .map(heading -> heading.text() + (table.isRight(heading.column()) ? ">" : ""))
                .toArray(String[]::new));
    Function<T, String[]> cells =
        row ->
            text.measured(
                headings.stream()
                    .map(heading -> cell(table.value(heading.column(), row)))
                    .toArray(String[]::new));
    for (T row : rows.rows()) {
      var _ = cells.apply(row); // for the widths: all cells together may take much memory
    }
    text.write(out);
    for (T row : rows.rows()) {
      text.write(cells.apply(row), out);
    }
  }

  private static String cell(Object value) {
    return value instanceof Table.Percent(double share)
        ? Units.percent(share)
        : Table.words(value, ",");
  }
}
