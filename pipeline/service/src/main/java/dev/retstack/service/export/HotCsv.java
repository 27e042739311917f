package dev.retstack.service.export;

import dev.retstack.graph.hot.HotProfile;
import dev.retstack.graph.hot.HotRow;
import java.io.IOException;
import java.util.List;

/** Hot addresses as RFC 4180 text; the core is empty for all cores together. */
public final class HotCsv {
  private HotCsv() {}

  /** Writes a head line and one line per address. */
  public static void write(List<HotProfile> profiles, Appendable out) throws IOException {
    Csv csv = new Csv(out);
    csv.line("core", "function", "address", "image", "isa", "hits", "atLeast", "atMost", "ratio");
    for (HotProfile profile : profiles) {
      for (HotRow row : profile.rows()) {
        csv.line(
            profile.core(),
            row.function(),
            Units.hex(row.count().address()),
            row.image(),
            row.isa(),
            row.count().hits(),
            row.count().atLeast(),
            row.count().atMost(),
            row.count().ratio());
      }
    }
  }
}
