package dev.retstack.graph.hot;

import java.util.List;

/**
 * The hot addresses of a core, or of several.
 *
 * @param session empty where it is that of several cores
 * @param core its name; empty where it is that of several
 * @param calls calls seen, ignored ones included
 * @param lost records known to be missing: calls among them are not counted
 * @param untraced calls known to have made no records, not counted either
 * @param total what all hits add up to
 * @param notKept see {@link HotCounter#notKept}
 * @param rows most hits first
 */
public record HotProfile(
    String session,
    String core,
    long calls,
    long lost,
    long untraced,
    long total,
    long notKept,
    List<HotRow> rows) {
  public HotProfile {
    rows = List.copyOf(rows);
  }

  /** This profile with at most {@code count} rows. */
  public HotProfile top(int count) {
    return new HotProfile(
        session,
        core,
        calls,
        lost,
        untraced,
        total,
        notKept,
        rows.subList(0, Math.min(count, rows.size())));
  }
}
