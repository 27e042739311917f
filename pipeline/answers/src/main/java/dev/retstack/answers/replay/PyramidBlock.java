package dev.retstack.answers.replay;

import dev.retstack.graph.pyramid.TileSource;
import dev.retstack.schema.PyramidPlace;
import dev.retstack.schema.PyramidTiles;
import dev.retstack.schema.file.TracePyramid;
import dev.retstack.schema.file.TracePyramid.WrongPyramidException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A block of tiles, checked and unpacked. */
final class PyramidBlock {
  private static final int TILE_BYTES = Integer.BYTES + 6 * Long.BYTES;
  private static final int CALL_BYTES = Integer.BYTES + 4 * Long.BYTES;
  private static final int HEAD_BYTES = 512;

  private final int shift;
  private final int[] tileLines;
  private final long[] tileStarts;
  private final long[] tileCalls;
  private final long[] tileBusy;
  private final long[] tilePcs;
  private final long[] tileEnters;
  private final long[] tileExits;
  private final int[] callLines;
  private final long[] callCounts;
  private final long[] callPcs;
  private final long[] callEnters;
  private final long[] callExits;
  private long from = Long.MAX_VALUE;
  private long to;

  private PyramidBlock(int shift, int tiles, int calls) {
    this.shift = shift;
    tileLines = new int[tiles];
    tileStarts = new long[tiles];
    tileCalls = new long[tiles];
    tileBusy = new long[tiles];
    tilePcs = new long[tiles];
    tileEnters = new long[tiles];
    tileExits = new long[tiles];
    callLines = new int[calls];
    callCounts = new long[calls];
    callPcs = new long[calls];
    callEnters = new long[calls];
    callExits = new long[calls];
  }

  /**
   * Unpacks a block.
   *
   * @param place where it stands, with the times that it must keep
   * @param shift tiles are {@code 1 << shift} long
   * @param lines of its core
   * @throws WrongPyramidException where it says what cannot be
   */
  static PyramidBlock of(
      TracePyramid pyramid, PyramidPlace place, PyramidTiles of, int shift, int lines)
      throws WrongPyramidException {
    int tiles = of.getTileLines().size();
    int calls = of.getCallLines().size();
    boolean even =
        of.getTileStarts().size() == tiles
            && of.getTileCalls().size() == tiles
            && of.getTileBusy().size() == tiles
            && of.getTileFunctions().size() == tiles
            && of.getTileEnters().size() == tiles
            && of.getTileDurations().size() == tiles
            && of.getCallCounts().size() == calls
            && of.getCallFunctions().size() == calls
            && of.getCallEnters().size() == calls
            && of.getCallDurations().size() == calls;
    if (!even) {
      throw wrong(pyramid, "columns of different lengths");
    }
    PyramidBlock block = new PyramidBlock(shift, tiles, calls);
    String fault = block.takeTiles(of, place);
    fault = fault.isEmpty() ? block.takeCalls(of, place) : fault;
    for (int[] all : List.of(block.tileLines, block.callLines)) {
      for (int line : all) {
        if (line < 0 || line >= lines) {
          fault = "a line that its directory does not name";
        }
      }
    }
    if (fault.isEmpty() && (block.from != place.getFrom() || block.to != place.getTo())) {
      fault =
          "times from %d to %d, its directory says from %d to %d"
              .formatted(block.from, block.to, place.getFrom(), place.getTo());
    }
    if (!fault.isEmpty()) {
      throw wrong(pyramid, fault);
    }
    return block;
  }

  private static WrongPyramidException wrong(TracePyramid pyramid, String fault) {
    return pyramid.wrong("a block has " + fault);
  }

  private String takeTiles(PyramidTiles of, PyramidPlace place) {
    long number = 0;
    for (int i = 0; i < tileLines.length; i++) {
      tileLines[i] = of.getTileLines().get(i);
      number += of.getTileStarts().get(i);
      if (number < 0 || number > Long.MAX_VALUE >>> shift) {
        return "a tile beyond all time";
      }
      tileStarts[i] = number << shift;
      tileEnters[i] = tileStarts[i] + of.getTileEnters().get(i);
      tileExits[i] = tileEnters[i] + of.getTileDurations().get(i);
      tileCalls[i] = of.getTileCalls().get(i);
      tileBusy[i] = of.getTileBusy().get(i);
      if (tileCalls[i] < 0
          || tileBusy[i] < 0
          || !isIn(place, tileEnters[i], tileExits[i])
          || !isIn(place, tileStarts[i], tileStarts[i])) {
        return "a tile that cannot be";
      }
      reach(Math.min(tileStarts[i], tileEnters[i]), Math.max(tileEnd(i), tileExits[i]));
    }
    return functions(of.getTileFunctions(), of.getSelfPcs(), tilePcs);
  }

  private String takeCalls(PyramidTiles of, PyramidPlace place) {
    long enter = 0;
    for (int i = 0; i < callLines.length; i++) {
      callLines[i] = of.getCallLines().get(i);
      enter += of.getCallEnters().get(i);
      callEnters[i] = enter;
      callExits[i] = enter + of.getCallDurations().get(i);
      callCounts[i] = of.getCallCounts().get(i);
      if (callCounts[i] < 0 || !isIn(place, enter, callExits[i])) {
        return "a call that cannot be";
      }
      reach(enter, callExits[i]);
    }
    return functions(of.getCallFunctions(), of.getSelfPcs(), callPcs);
  }

  private void reach(long first, long last) {
    from = Math.min(from, first);
    to = Math.max(to, last);
  }

  /** First time behind a tile, or the last time of all. */
  private long tileEnd(int at) {
    long end = tileStarts[at] + (1L << shift);
    return end < tileStarts[at] ? Long.MAX_VALUE : end;
  }

  private static String functions(List<Integer> numbers, List<Long> selfPcs, long[] into) {
    for (int i = 0; i < into.length; i++) {
      int number = numbers.get(i);
      if (number < 0 || number >= selfPcs.size()) {
        return "a function without an address";
      }
      into[i] = selfPcs.get(number);
    }
    return "";
  }

  private static boolean isIn(PyramidPlace place, long enter, long exit) {
    return enter >= place.getFrom() && exit >= enter && exit <= place.getTo();
  }

  /** First time of the first tile in which anything of it begins. */
  long begin() {
    long begin = Long.MAX_VALUE;
    for (long start : tileStarts) {
      begin = Math.min(begin, start);
    }
    for (long enter : callEnters) {
      begin = Math.min(begin, enter >>> shift << shift);
    }
    return begin;
  }

  /** What it takes in memory. */
  long bytes() {
    return HEAD_BYTES + (long) tileLines.length * TILE_BYTES + (long) callLines.length * CALL_BYTES;
  }

  /** Reports its tiles and calls to the sink. */
  void report(TileSource.Sink sink) {
    for (int i = 0; i < tileLines.length; i++) {
      sink.tile(
          tileLines[i],
          tileStarts[i],
          tileEnd(i),
          tileCalls[i],
          tileBusy[i],
          tilePcs[i],
          tileEnters[i],
          tileExits[i]);
    }
    for (int i = 0; i < callLines.length; i++) {
      sink.call(callLines[i], callCounts[i], callPcs[i], callEnters[i], callExits[i]);
    }
  }

  /**
   * Blocks of a trace's pyramid that were read lately, of all cores: the next step of a person
   * needs nearly the same. Safe for use by several threads.
   */
  static final class Cache {
    /** Some hundred blocks: a window takes about ten of each core. */
    static final long BYTES_MAX = 32 << 20;

    private final long most;
    private final Map<Key, PyramidBlock> blocks = new LinkedHashMap<>(16, 0.75f, true);
    private long bytes;

    /** A place of the directory by identity; another core may have an equal place. */
    private record Key(PyramidPlace place) {
      @Override
      @SuppressWarnings("ReferenceEquality") // places of two cores may be equal
      public boolean equals(Object other) {
        return other instanceof Key(PyramidPlace one) && one == place;
      }

      @Override
      public int hashCode() {
        return System.identityHashCode(place);
      }
    }

    /**
     * Holds nothing so far.
     *
     * @param most bytes at once
     */
    Cache(long most) {
      this.most = most;
    }

    /** The block; null where it is not held. */
    synchronized PyramidBlock get(PyramidPlace place) {
      return blocks.get(new Key(place));
    }

    /** Holds a block, in place of those that were not asked for the longest. */
    synchronized void put(PyramidPlace place, PyramidBlock block) {
      if (block.bytes() > most) {
        return;
      }
      PyramidBlock before = blocks.put(new Key(place), block);
      bytes += block.bytes() - (before == null ? 0 : before.bytes());
      Iterator<PyramidBlock> oldest = blocks.values().iterator();
      while (bytes > most) {
        bytes -= oldest.next().bytes();
        oldest.remove();
      }
    }

    /** Bytes that are held. */
    synchronized long bytes() {
      return bytes;
    }
  }
}
