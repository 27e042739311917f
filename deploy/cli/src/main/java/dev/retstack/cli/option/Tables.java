package dev.retstack.cli.option;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import dev.retstack.service.table.Csv;
import dev.retstack.service.table.TextTable;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.util.List;

/**
 * Small tables that the command itself makes, as aligned text, as JSON and as CSV (RFC 4180, header
 * first).
 */
public final class Tables {
  /** Makes nodes and writes them indented. */
  public static final ObjectMapper JSON =
      new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

  private Tables() {}

  /** Writes one document and a line end. */
  public static void json(PrintStream out, JsonNode document) throws JsonProcessingException {
    out.print(JSON.writeValueAsString(document) + "\n");
  }

  /** Writes the header and the rows. */
  public static void csv(PrintStream out, List<String> header, List<List<String>> rows) {
    try {
      Csv csv = new Csv(out);
      csv.line(header.toArray());
      for (List<String> row : rows) {
        csv.line(row.toArray());
      }
    } catch (IOException e) {
      throw new UncheckedIOException("a stream that prints does not throw", e);
    }
  }

  /** Writes the header and the rows in columns as wide as their widest field. */
  public static void text(PrintStream out, List<String> header, List<List<String>> rows) {
    TextTable table = new TextTable(header.toArray(String[]::new));
    rows.forEach(row -> table.row(row.toArray(String[]::new)));
    try {
      table.write(out);
    } catch (IOException e) {
      throw new UncheckedIOException("a stream that prints does not throw", e);
    }
  }
}
