package dev.retstack.graph.pyramid;

import java.util.ArrayList;
import java.util.List;

/**
 * Compares tiles with the shorter ones of which they were made: what these add up to is the only
 * thing that longer ones may say. They are added up in the steps in which they were, so that of
 * calls of one length the same is the longest.
 */
public final class TileFold {
  private final int shift;
  private final int steps;
  private final List<TileRow> finer = new ArrayList<>();
  private final List<TileRow> received = new ArrayList<>();

  /**
   * Nothing is compared so far.
   *
   * @param shift of the shorter tiles
   * @param steps levels from there to the longer ones, which may not be stored
   */
  public TileFold(int shift, int steps) {
    this.shift = shift;
    this.steps = steps;
  }

  /** Takes the shorter tiles, in any order. */
  public TileSource.Sink finer() {
    return new Rows(finer, shift);
  }

  /** Takes the tiles that are longer. */
  public TileSource.Sink received() {
    return new Rows(received, shift + steps * Tiles.STEP);
  }

  /**
   * How the longer tiles that begin in [from, to) differ, and calls that begin there; empty where
   * they do not.
   */
  public String difference(long from, long to) {
    for (int line = 0; line < Math.max(finer.size(), received.size()); line++) {
      TileRow expected = row(finer, line);
      for (int step = 0; step < steps; step++) {
        expected = expected.coarser(shift + step * Tiles.STEP, Tiles.STEP);
      }
      String found = expected.difference(row(received, line), shift + steps * Tiles.STEP, from, to);
      if (!found.isEmpty()) {
        return "line %d, %s".formatted(line, found);
      }
    }
    return "";
  }

  private static TileRow row(List<TileRow> rows, int line) {
    while (rows.size() <= line) {
      rows.add(new TileRow());
    }
    return rows.get(line);
  }

  private record Rows(List<TileRow> rows, int shift) implements TileSource.Sink {
    @Override
    public void tile(
        int line, long start, long end, long calls, long busy, long pc, long enter, long exit) {
      row(rows, line).addTile(start >>> shift, calls, busy, pc, enter, exit);
    }

    @Override
    public void call(int line, long calls, long selfPc, long enter, long exit) {
      row(rows, line).addAlone(calls, selfPc, enter, exit);
    }
  }
}
