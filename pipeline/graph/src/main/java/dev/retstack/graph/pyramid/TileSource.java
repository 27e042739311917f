package dev.retstack.graph.pyramid;

import java.io.IOException;
import java.util.List;

/** Where the tiles of a core come from: memory, or blocks of a file. */
public interface TileSource {
  /** The lines, by their numbers. */
  List<Line> lines();

  /** The finest tiles are {@code 1 << shift()} long. */
  int shift();

  /** Calls that have no line: they were too deep, or there were too many lines. */
  long leftOut();

  /**
   * Reports all calls that touch [from, to): each alone, or added up in a tile with others that are
   * shorter than it. May report more around.
   *
   * @param shift no tile is longer than {@code 1 << shift}, which is at least {@link #shift()}
   */
  void read(int shift, long from, long to, Sink sink) throws IOException;

  /** Hears of calls. */
  interface Sink {
    /**
     * Calls of one tile that are shorter than it.
     *
     * @param line number of the line
     * @param start first time of the tile
     * @param end first time behind it
     * @param calls how many began in it
     * @param busy how much of its time they take
     * @param selfPc function of the longest call that touches it
     * @param enter when that call was entered
     * @param exit when it ended
     */
    void tile(
        int line, long start, long end, long calls, long busy, long selfPc, long enter, long exit);

    /**
     * A call.
     *
     * @param calls number of calls that it stands for
     */
    void call(int line, long calls, long selfPc, long enter, long exit);
  }
}
