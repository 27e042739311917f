package dev.retstack.cli.option;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.PrintStream;
import java.util.List;
import java.util.stream.Collectors;

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
    out.println(JSON.writeValueAsString(document));
  }

  /** Writes the header and the rows. */
  public static void csv(PrintStream out, List<String> header, List<List<String>> rows) {
    out.print(line(header));
    rows.forEach(row -> out.print(line(row)));
  }

  /** Writes the header and the rows in columns as wide as their widest field. */
  public static void text(PrintStream out, List<String> header, List<List<String>> rows) {
    int columns = header.size();
    int[] width = new int[columns];
    for (int column = 0; column < columns; column++) {
      width[column] = header.get(column).length();
      for (List<String> row : rows) {
        width[column] = Math.max(width[column], row.get(column).length());
      }
    }
    out.println(aligned(header, width));
    rows.forEach(row -> out.println(aligned(row, width)));
  }

  private static String aligned(List<String> fields, int[] width) {
    StringBuilder line = new StringBuilder();
    for (int column = 0; column < width.length; column++) {
      String field = fields.get(column);
      line.append(field).repeat(' ', width[column] - field.length() + 2);
    }
    return line.toString().stripTrailing();
  }

  private static String line(List<String> fields) {
    return fields.stream().map(Tables::quoted).collect(Collectors.joining(",", "", "\r\n"));
  }

  private static String quoted(String field) {
    boolean plain = field.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
    return plain ? field : '"' + field.replace("\"", "\"\"") + '"';
  }
}
