package dev.retstack.answers.table;

import dev.retstack.schema.wire.Visible;
import java.io.IOException;
import java.util.Arrays;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * Lines of comma-separated values as in RFC 4180, with CRLF. A spreadsheet takes a cell that begins
 * like a formula for one, so such text gets an apostrophe in front; numbers stay numbers.
 */
public final class Csv {
  /** A number, with the name of an error as ValueText has it, or several of them. */
  private static final Pattern NUMBER =
      Pattern.compile(
          "[+-]?[0-9][0-9.]*([eE][+-]?[0-9]+)?( E[A-Z0-9]+)?(, [+-]?[0-9][0-9a-fA-Z x]*)*");

  /** What spreadsheets take for the beginning of a formula, also in the width of Han characters. */
  private static final String FORMULA = "=+-@\uff1d\uff0b\uff0d\uff20";

  private final Appendable out;

  public Csv(Appendable out) {
    this.out = out;
  }

  /** Writes one line, each field quoted where it has to be. */
  public void line(Object... fields) throws IOException {
    for (int i = 0; i < fields.length; i++) {
      out.append(i == 0 ? "" : ",").append(quote(Visible.line(String.valueOf(fields[i]))));
    }
    out.append("\r\n");
  }

  /** Writes the table that is the CSV of a document. */
  static void write(Document document, Appendable out) throws IOException {
    for (Document.Item item : document.items()) {
      if (item instanceof Document.CsvRows<?> rows) {
        write(rows, document.ahead(), new Csv(out));
      }
    }
  }

  private static <T> void write(Document.CsvRows<T> rows, String ahead, Csv csv)
      throws IOException {
    Table<T> table = rows.table();
    int[] columns = IntStream.range(0, table.size()).filter(table::isInCsv).toArray();
    csv.line(Arrays.stream(columns).mapToObj(table::name).toArray());
    for (T row : rows.rows()) {
      csv.line(
          Arrays.stream(columns).mapToObj(i -> Table.words(table.value(i, row), ";")).toArray());
    }
    if (!ahead.isEmpty()) {
      csv.line(Arrays.stream(columns).mapToObj(i -> i == columns[0] ? ahead : "").toArray());
    }
  }

  private static String quote(String field) {
    boolean formula =
        !field.isEmpty()
            && FORMULA.indexOf(field.charAt(0)) >= 0
            && !NUMBER.matcher(field).matches();
    String shown = formula ? "'" + field : field;
    boolean plain =
        shown.chars().noneMatch(c -> c == ',' || c == '"') && shown.equals(shown.strip());
    return plain ? shown : '"' + shown.replace("\"", "\"\"") + '"';
  }
}
