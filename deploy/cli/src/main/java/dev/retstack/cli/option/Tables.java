package dev.retstack.cli.option;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import dev.retstack.schema.wire.Visible;
import dev.retstack.service.export.Csv;
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

  /** Columns are as wide as this at most: one long name in many rows would fill the disk. */
  private static final int WIDTH_MAX = 200;

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
  public static void text(PrintStream out, List<String> header, List<List<String>> given) {
    List<List<String>> rows =
        given.stream().map(row -> row.stream().map(Visible::line).toList()).toList();
    int columns = header.size();
    int[] width = new int[columns];
    for (int column = 0; column < columns; column++) {
      width[column] = header.get(column).length();
      for (List<String> row : rows) {
        width[column] = Math.max(width[column], Math.min(row.get(column).length(), WIDTH_MAX));
      }
    }
    out.println(aligned(header, width));
    rows.forEach(row -> out.println(aligned(row, width)));
  }

  private static String aligned(List<String> fields, int[] width) {
    StringBuilder line = new StringBuilder();
    for (int column = 0; column < width.length; column++) {
      String field = fields.get(column);
      line.append(field).repeat(' ', Math.max(0, width[column] - field.length()) + 2);
    }
    return line.toString().stripTrailing();
  }
}
