package dev.retstack.cli.option;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.PrintStream;
import java.util.List;
import java.util.stream.Collectors;

/** Small tables that the command itself makes, as JSON and as CSV (RFC 4180, header first). */
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

  private static String line(List<String> fields) {
    return fields.stream().map(Tables::quoted).collect(Collectors.joining(",", "", "\r\n"));
  }

  private static String quoted(String field) {
    boolean plain = field.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
    return plain ? field : '"' + field.replace("\"", "\"\"") + '"';
  }
}
