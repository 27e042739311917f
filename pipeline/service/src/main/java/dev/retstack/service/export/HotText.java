package dev.retstack.service.export;

import dev.retstack.graph.hot.HotCount;
import dev.retstack.graph.hot.HotProfile;
import dev.retstack.graph.hot.HotRow;
import java.io.IOException;
import java.util.List;

/** Hot addresses as tables, with what is uncertain or missing said first. */
public final class HotText {
  private HotText() {}

  /**
   * Writes one table per profile.
   *
   * @param bounds whether hits are estimates between bounds
   */
  public static void write(List<HotProfile> profiles, boolean bounds, Appendable out)
      throws IOException {
    boolean first = true;
    for (HotProfile profile : profiles) {
      if (!first) {
        out.append('\n');
      }
      first = false;
      head(profile, bounds, out);
      table(profile, bounds, out);
    }
  }

  private static void head(HotProfile profile, boolean bounds, Appendable out) throws IOException {
    Line.write(
        out,
        "# %s: %d calls, ratios of %d"
            .formatted(
                profile.core().isEmpty() ? "all cores" : "core " + profile.core(),
                profile.calls(),
                profile.total()));
    if (bounds) {
      Line.write(
          out,
          "# true counts lie between AT_LEAST and AT_MOST, at most %d apart; what is not here was called at most that often"
              .formatted(profile.error()));
    }
    if (profile.lost() > 0) {
      Line.write(
          out, "# %d records lost: calls among them are not counted".formatted(profile.lost()));
    }
    if (profile.untraced() > 0) {
      Line.write(out, "# %d calls untraced: they are not counted".formatted(profile.untraced()));
    }
    if (profile.notKept() > 0) {
      Line.write(
          out, "# %d calls of further addresses, beyond what is kept".formatted(profile.notKept()));
    }
  }

  private static void table(HotProfile profile, boolean bounds, Appendable out) throws IOException {
    TextTable table =
        bounds
            ? new TextTable(
                "HITS>", "AT_LEAST>", "AT_MOST>", "RATIO>", "ADDRESS", "FUNCTION", "ISA", "IMAGE")
            : new TextTable("HITS>", "RATIO>", "ADDRESS", "FUNCTION", "ISA", "IMAGE");
    for (HotRow row : profile.rows()) {
      HotCount count = row.count();
      String hits = String.valueOf(count.hits());
      String ratio = String.valueOf(count.ratio());
      String address = Units.hex(count.address());
      if (bounds) {
        String least = String.valueOf(count.atLeast());
        String most = String.valueOf(count.atMost());
        table.row(hits, least, most, ratio, address, row.function(), row.isa(), row.image());
      } else {
        table.row(hits, ratio, address, row.function(), row.isa(), row.image());
      }
    }
    table.write(out);
  }
}
