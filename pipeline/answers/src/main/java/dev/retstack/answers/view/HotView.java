package dev.retstack.answers.view;

import dev.retstack.answers.table.CutOff;
import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import dev.retstack.answers.table.Table.Hex;
import dev.retstack.graph.check.Count;
import dev.retstack.graph.hot.HotProfile;
import dev.retstack.graph.hot.HotRow;
import dev.retstack.graph.input.SessionNames;
import java.util.List;

/**
 * Hot addresses; what is uncertain or missing comes first. Core and session are empty for all cores
 * together.
 */
public final class HotView {
  private static final Table<HotRow> ROWS =
      new Table<HotRow>()
          .text("function", HotRow::function)
          .text("address", row -> new Hex(row.count().address()))
          .text("image", HotRow::image)
          .text("isa", HotRow::isa)
          .number("hits", row -> row.count().hits())
          .number("ratio", row -> row.count().ratio());

  private static final Table<HotRow> TEXT =
      ROWS.headed("HITS", "RATIO", "ADDRESS", "FUNCTION", "ISA", "IMAGE");

  private static final Table<HotProfile> PROFILES =
      new Table<HotProfile>()
          .text("core", HotProfile::core)
          .text("session", HotProfile::session)
          .number("calls", HotProfile::calls)
          .number("lost", HotProfile::lost)
          .number("untraced", HotProfile::untraced)
          .number("total", HotProfile::total)
          .number("notKept", HotProfile::notKept)
          .rows("rows", ROWS, HotProfile::rows);

  private record OfCore(HotProfile profile, HotRow row) {}

  private static final Table<OfCore> ALL =
      new Table<OfCore>().text("core", of -> of.profile().core()).and(ROWS, OfCore::row);

  private HotView() {}

  /**
   * A table of each profile.
   *
   * @param cut whether their trace was cut off: each profile of JSON says so
   */
  public static Document of(List<HotProfile> profiles, boolean cut) {
    SessionNames names = SessionNames.of(profiles.stream().map(HotProfile::session));
    Document document =
        new Document()
            .rows("", cut ? PROFILES.onlyJson("cut", _ -> true) : PROFILES, profiles)
            .csv(
                names.several() ? ALL.last("session", of -> of.profile().session()) : ALL,
                profiles.stream()
                    .flatMap(profile -> profile.rows().stream().map(r -> new OfCore(profile, r)))
                    .toList());
    boolean first = true;
    for (HotProfile profile : profiles) {
      if (!first) {
        document.gap();
      }
      first = false;
      head(profile, names, document);
      document.text(TEXT, profile.rows());
    }
    return CutOff.ahead(cut, document);
  }

  private static void head(HotProfile profile, SessionNames names, Document out) {
    String cores = profile.core().isEmpty() ? "all cores" : "core " + profile.core();
    out.line(
        "# %s: %s, ratios of %d"
            .formatted(
                names.name(cores, profile.session()),
                Count.of(profile.calls(), "call"),
                profile.total()));
    if (profile.lost() > 0) {
      out.line(
          "# %s lost: calls among them are not counted"
              .formatted(Count.of(profile.lost(), "record")));
    }
    if (profile.untraced() > 0) {
      out.line("# %s untraced, and not counted".formatted(Count.of(profile.untraced(), "call")));
    }
    if (profile.notKept() > 0) {
      out.line(
          "# %s of further addresses, which were not kept"
              .formatted(Count.of(profile.notKept(), "call")));
    }
  }
}
