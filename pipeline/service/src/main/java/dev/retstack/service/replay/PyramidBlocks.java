package dev.retstack.service.replay;

import dev.retstack.graph.pyramid.Line;
import dev.retstack.graph.pyramid.TileSource;
import dev.retstack.graph.pyramid.Tiles;
import dev.retstack.schema.PyramidCore;
import dev.retstack.schema.PyramidLevel;
import dev.retstack.schema.PyramidLine;
import dev.retstack.schema.PyramidPlace;
import dev.retstack.schema.PyramidTiles;
import dev.retstack.schema.file.TracePyramid;
import dev.retstack.schema.file.TracePyramid.WrongPyramidException;
import dev.retstack.schema.file.TracePyramidWriter;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.io.IOException;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * The tiles of a core in the blocks of a trace. A question reads the blocks of one level that its
 * window touches: of the coarsest whose tiles are as long as a pixel, or shorter.
 */
final class PyramidBlocks implements TileSource {
  /** Entries of a block, unless one tile has more: some 20 KiB in the file. */
  static final int ENTRIES = 2048;

  /** A stored level has tiles four times as long as the one below it, or longer. */
  private static final int STEP = 2;

  /** Levels that hardly have fewer entries than the one below are not stored. */
  private static final double SMALLER = 0.7;

  private static final int SHIFT_MAX = 60;

  /** Entries that are kept between two readings of a window. */
  private static final int KEPT = 1 << 19;

  private final TracePyramid pyramid;
  private final PyramidCore core;
  private final List<Line> lines = new ArrayList<>();
  private final IdentityHashMap<PyramidPlace, PyramidTiles> read = new IdentityHashMap<>();
  private int kept;

  PyramidBlocks(TracePyramid pyramid, PyramidCore core) throws WrongPyramidException {
    this.pyramid = pyramid;
    this.core = core;
    for (PyramidLine line : core.getLines()) {
      Line.Kind[] kinds = Line.Kind.values();
      if (line.getKind() < 0 || line.getKind() >= kinds.length || line.getDepth() < 0) {
        throw pyramid.wrong("a line of kind %d".formatted(line.getKind()));
      }
      lines.add(
          new Line(
              kinds[line.getKind()],
              line.getTask(),
              line.getInstance(),
              line.getInterrupts(),
              line.getDepth()));
    }
  }

  /** What was wrong with a block, on the way through a reading that knows nothing of blocks. */
  static final class WrongBlockException extends IOException {
    private static final long serialVersionUID = 1;

    WrongBlockException(WrongPyramidException why) {
      super(why.getMessage(), why);
    }
  }

  /** Writes all levels of a core; the levels as the directory names them. */
  static List<PyramidLevel> write(Tiles finest, TracePyramidWriter to) throws IOException {
    List<PyramidLevel> levels = new ArrayList<>();
    Tiles level = finest;
    long before = Long.MAX_VALUE;
    while (true) {
      boolean last = level.entries() <= ENTRIES || level.shift() > SHIFT_MAX - STEP;
      if (last || level.entries() < before * SMALLER) {
        List<PyramidPlace> places = new ArrayList<>();
        for (Tiles.Part part : level.parts(ENTRIES)) {
          Packer packer = new Packer(level.shift());
          part.tell(packer);
          places.add(to.write(packer.tiles(), packer.from, packer.to));
        }
        levels.add(new PyramidLevel(level.shift(), places));
        before = level.entries();
      }
      if (last) {
        return levels;
      }
      level = level.coarser(STEP);
    }
  }

  /** The lines of a core as the directory names them. */
  @SuppressWarnings("EnumOrdinal") // the schema numbers kinds in this order
  static List<PyramidLine> lines(Tiles tiles) {
    return tiles.lines().stream()
        .map(
            line ->
                new PyramidLine(
                    line.kind().ordinal(),
                    line.task(),
                    line.instance(),
                    line.interrupts(),
                    line.depth()))
        .toList();
  }

  @Override
  public List<Line> lines() {
    return lines;
  }

  @Override
  public int shift() {
    return core.getLevels().getFirst().getShift();
  }

  @Override
  public long leftOut() {
    return core.getLeftOut();
  }

  @Override
  public void read(int shift, long from, long to, Sink sink) throws IOException {
    PyramidLevel level = core.getLevels().getFirst();
    for (PyramidLevel one : core.getLevels()) {
      level = one.getShift() <= shift ? one : level;
    }
    for (PyramidPlace place : level.getBlocks()) {
      if (place.getFrom() < to && place.getTo() >= from) {
        try {
          tell(block(place), level.getShift(), place, sink);
        } catch (WrongPyramidException e) {
          throw new WrongBlockException(e);
        }
      }
    }
  }

  private PyramidTiles block(PyramidPlace place) throws IOException, WrongPyramidException {
    PyramidTiles tiles = read.get(place);
    if (tiles == null) {
      tiles = pyramid.read(place);
      kept += tiles.getTileLines().size() + tiles.getCallLines().size();
      if (kept <= KEPT) {
        read.put(place, tiles);
      }
    }
    return tiles;
  }

  private void tell(PyramidTiles tiles, int shift, PyramidPlace place, Sink sink)
      throws WrongPyramidException {
    int size = tiles.getTileLines().size();
    int calls = tiles.getCallLines().size();
    require(
        tiles.getTileStarts().size() == size
            && tiles.getTileCalls().size() == size
            && tiles.getTileBusy().size() == size
            && tiles.getTileFunctions().size() == size
            && tiles.getTileEnters().size() == size
            && tiles.getTileDurations().size() == size
            && tiles.getCallCounts().size() == calls
            && tiles.getCallFunctions().size() == calls
            && tiles.getCallEnters().size() == calls
            && tiles.getCallDurations().size() == calls,
        "columns of different lengths");
    long number = 0;
    for (int i = 0; i < size; i++) {
      number += tiles.getTileStarts().get(i);
      require(number >= 0 && number <= Long.MAX_VALUE >>> shift, "a tile beyond all time");
      long start = number << shift;
      long end = start + (1L << shift) < start ? Long.MAX_VALUE : start + (1L << shift);
      long enter = start + tiles.getTileEnters().get(i);
      long exit = enter + tiles.getTileDurations().get(i);
      long count = tiles.getTileCalls().get(i);
      long busy = tiles.getTileBusy().get(i);
      require(
          count >= 0 && busy >= 0 && isIn(place, enter, exit) && isIn(place, start, start),
          "a tile that cannot be");
      int line = tiles.getTileLines().get(i);
      sink.tile(
          line(line),
          start,
          end,
          count,
          busy,
          function(tiles, tiles.getTileFunctions().get(i)),
          enter,
          exit);
    }
    long enter = 0;
    for (int i = 0; i < calls; i++) {
      enter += tiles.getCallEnters().get(i);
      long exit = enter + tiles.getCallDurations().get(i);
      require(
          tiles.getCallCounts().get(i) >= 0 && isIn(place, enter, exit), "a call that cannot be");
      sink.call(
          line(tiles.getCallLines().get(i)),
          tiles.getCallCounts().get(i),
          function(tiles, tiles.getCallFunctions().get(i)),
          enter,
          exit);
    }
  }

  private static boolean isIn(PyramidPlace place, long enter, long exit) {
    return enter >= place.getFrom() && exit >= enter && exit <= place.getTo();
  }

  private int line(int number) throws WrongPyramidException {
    require(number >= 0 && number < lines.size(), "a line that its directory does not name");
    return number;
  }

  private long function(PyramidTiles tiles, int number) throws WrongPyramidException {
    require(number >= 0 && number < tiles.getSelfPcs().size(), "a function without an address");
    return tiles.getSelfPcs().get(number);
  }

  private void require(boolean possible, String fault) throws WrongPyramidException {
    if (!possible) {
      throw pyramid.wrong("a block has " + fault);
    }
  }

  /** Packs a block. */
  private static final class Packer implements Sink {
    private final int shift;
    private final Long2IntOpenHashMap numbers = new Long2IntOpenHashMap();
    private final LongArrayList selfPcs = new LongArrayList();
    private final IntArrayList tileLines = new IntArrayList();
    private final LongArrayList tileStarts = new LongArrayList();
    private final LongArrayList tileCalls = new LongArrayList();
    private final LongArrayList tileBusy = new LongArrayList();
    private final IntArrayList tileFunctions = new IntArrayList();
    private final LongArrayList tileEnters = new LongArrayList();
    private final LongArrayList tileDurations = new LongArrayList();
    private final IntArrayList callLines = new IntArrayList();
    private final LongArrayList callCounts = new LongArrayList();
    private final IntArrayList callFunctions = new IntArrayList();
    private final LongArrayList callEnters = new LongArrayList();
    private final LongArrayList callDurations = new LongArrayList();
    private long lastTile;
    private long lastEnter;
    private long from = Long.MAX_VALUE;
    private long to;

    Packer(int shift) {
      this.shift = shift;
      numbers.defaultReturnValue(-1);
    }

    @Override
    public void tile(
        int line, long start, long end, long calls, long busy, long pc, long enter, long exit) {
      long number = start >>> shift;
      tileLines.add(line);
      tileStarts.add(number - lastTile);
      tileCalls.add(calls);
      tileBusy.add(busy);
      tileFunctions.add(function(pc));
      tileEnters.add(enter - start);
      tileDurations.add(exit - enter);
      lastTile = number;
      reach(Math.min(start, enter), Math.max(end, exit));
    }

    @Override
    public void call(int line, long calls, long selfPc, long enter, long exit) {
      callLines.add(line);
      callCounts.add(calls);
      callFunctions.add(function(selfPc));
      callEnters.add(enter - lastEnter);
      callDurations.add(exit - enter);
      lastEnter = enter;
      reach(enter, exit);
    }

    private int function(long selfPc) {
      int number = numbers.get(selfPc);
      if (number < 0) {
        number = selfPcs.size();
        numbers.put(selfPc, number);
        selfPcs.add(selfPc);
      }
      return number;
    }

    private void reach(long first, long last) {
      from = Math.min(from, first);
      to = Math.max(to, last);
    }

    PyramidTiles tiles() {
      return new PyramidTiles(
          selfPcs,
          tileLines,
          tileStarts,
          tileCalls,
          tileBusy,
          tileFunctions,
          tileEnters,
          tileDurations,
          callLines,
          callCounts,
          callFunctions,
          callEnters,
          callDurations);
    }
  }
}
