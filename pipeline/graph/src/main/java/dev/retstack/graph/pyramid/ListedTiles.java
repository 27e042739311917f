package dev.retstack.graph.pyramid;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The finest tiles of a core in a time, with the calls that end in it, so that those of a file can
 * be compared with those of the chunks that they were made of.
 */
public final class ListedTiles {
  private static final Comparator<Row> ORDER =
      Comparator.comparing(Row::line, Line.ORDER)
          .thenComparing(Row::alone)
          .thenComparingLong(Row::start)
          .thenComparingLong(Row::enter)
          .thenComparingLong(Row::exit)
          .thenComparing(Row::pc, Long::compareUnsigned);

  private final List<Row> told;

  private ListedTiles(List<Row> told) {
    this.told = told;
  }

  /**
   * A tile, or a call by itself.
   *
   * @param start first time of the tile; of a call, when it was entered
   * @param pc function of the call, or of the longest in the tile
   */
  private record Row(
      Line line, boolean alone, long start, long calls, long busy, long pc, long enter, long exit) {
    @Override
    public String toString() {
      String longest = "from %d to %d of 0x%x".formatted(enter, exit, pc);
      return "%s: %s"
          .formatted(
              line,
              alone
                  ? "%d calls %s".formatted(calls, longest)
                  : "tile at %d with %d calls that take %d, the longest %s"
                      .formatted(start, calls, busy, longest));
    }
  }

  /**
   * Asks for tiles that begin in [from, to), and calls that end there.
   *
   * @param from a multiple of their length
   */
  public static ListedTiles of(TileSource source, long from, long to) throws IOException {
    List<Row> told = new ArrayList<>();
    source.read(
        source.shift(),
        from,
        to,
        new TileSource.Sink() {
          @Override
          public void tile(
              int line, long start, long end, long calls, long busy, long pc, long in, long out) {
            if (start >= from && start < to) {
              told.add(new Row(source.lines().get(line), false, start, calls, busy, pc, in, out));
            }
          }

          @Override
          public void call(int line, long calls, long pc, long enter, long exit) {
            if (exit >= from && exit < to) {
              told.add(new Row(source.lines().get(line), true, enter, calls, 0, pc, enter, exit));
            }
          }
        });
    told.sort(ORDER);
    return new ListedTiles(told);
  }

  /** How others of the same time differ; empty where they do not. */
  public String difference(ListedTiles other) {
    for (int i = 0; i < Math.max(told.size(), other.told.size()); i++) {
      Object expected = i < told.size() ? told.get(i) : "nothing";
      Object received = i < other.told.size() ? other.told.get(i) : "nothing";
      if (!expected.equals(received)) {
        return "expected %s, received %s".formatted(expected, received);
      }
    }
    return "";
  }
}
