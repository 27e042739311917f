package dev.retstack.graph.pyramid;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A level of a core's pyramid: its lines in tiles of one length. */
public final class Tiles implements TileSource {
  /** A level of a trace has tiles that are longer by this many powers of two than those below. */
  public static final int STEP = 2;

  private final int shift;
  private final List<Line> lines;
  private final List<TileRow> rows;
  private final long leftOut;

  Tiles(int shift, List<Line> lines, List<TileRow> rows, long leftOut) {
    this.shift = shift;
    this.lines = lines;
    this.rows = rows;
    this.leftOut = leftOut;
  }

  @Override
  public List<Line> lines() {
    return lines;
  }

  @Override
  public int shift() {
    return shift;
  }

  @Override
  public long leftOut() {
    return leftOut;
  }

  @Override
  public void read(int longest, long from, long to, Sink sink) {
    for (int line = 0; line < rows.size(); line++) {
      rows.get(line).report(line, shift, from, to, sink);
    }
  }

  /** Tiles and calls in all lines. */
  public long entries() {
    return rows.stream().mapToLong(TileRow::entries).sum();
  }

  /**
   * The level above it.
   *
   * @param by powers of two that its tiles are longer
   */
  public Tiles coarser(int by) {
    List<TileRow> above = new ArrayList<>(rows.size());
    rows.forEach(row -> above.add(row.coarser(shift, by)));
    return new Tiles(shift + by, lines, above, leftOut);
  }

  /** Some tiles that follow each other, and the calls that begin in them. */
  public interface Part {
    /** Reports the tiles and calls line by line. */
    void report(Sink sink);
  }

  /**
   * Divides it by time into parts.
   *
   * @param most entries of a part, unless one tile has more
   */
  public List<Part> parts(int most) {
    List<Part> parts = new ArrayList<>();
    long[] cuts = cuts(most);
    for (int i = 0; i + 1 < cuts.length; i++) {
      long from = cuts[i];
      long to = cuts[i + 1];
      parts.add(sink -> report(from, to, sink));
    }
    return parts;
  }

  /** Numbers of the tiles with which parts begin, and one behind the last. */
  private long[] cuts(int most) {
    long[] begins = new long[(int) entries()];
    int count = 0;
    for (TileRow row : rows) {
      for (int i = 0; i < row.tiles(); i++) {
        begins[count++] = row.tile(i);
      }
      for (int i = 0; i < row.calls(); i++) {
        begins[count++] = row.callEnter(i) >>> shift;
      }
    }
    Arrays.sort(begins);
    long[] cuts = new long[count / Math.max(1, most) + 2];
    int parts = 0;
    for (int i = 0; i < count; i += most) {
      if (parts == 0 || begins[i] > cuts[parts - 1]) {
        cuts[parts++] = begins[i];
      }
    }
    cuts[parts++] = Long.MAX_VALUE;
    return Arrays.copyOf(cuts, parts);
  }

  private void report(long first, long behind, Sink sink) {
    for (int line = 0; line < rows.size(); line++) {
      rows.get(line).reportPart(line, shift, first, behind, sink);
    }
  }
}
