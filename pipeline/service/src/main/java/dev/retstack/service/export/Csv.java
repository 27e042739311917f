package dev.retstack.service.export;

import java.io.IOException;

/** Lines of comma-separated values as RFC 4180 has them, CRLF included. */
final class Csv {
  private final Appendable out;

  Csv(Appendable out) {
    this.out = out;
  }

  /** Writes one line; numbers as they are, everything else quoted where it has to be. */
  void line(Object... fields) throws IOException {
    for (int i = 0; i < fields.length; i++) {
      out.append(i == 0 ? "" : ",").append(quote(String.valueOf(fields[i])));
    }
    out.append("\r\n");
  }

  private static String quote(String field) {
    boolean plain =
        field.chars().noneMatch(c -> c == ',' || c == '"' || c == '\r' || c == '\n')
            && field.equals(field.strip());
    return plain ? field : '"' + field.replace("\"", "\"\"") + '"';
  }
}
