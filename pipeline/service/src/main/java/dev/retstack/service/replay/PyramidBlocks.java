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
import java.util.List;

/**
 * The tiles of a core in the blocks of a trace. A question reads the blocks of one level that its
 * window touches: of the coarsest whose tiles are as long as a pixel, or shorter. Safe for use by
 * several threads.
 */
final class PyramidBlocks implements TileSource {
  /** Entries of a block, unless one tile has more: some 20 KiB in the file. */
  static final int ENTRIES = 2048;

  /** A stored level has tiles four times as long as the one below it, or longer. */
  private static final int STEP = 2;

  /** Levels that hardly have fewer entries than the one below are not stored. */
  private static final double SMALLER = 0.7;

  private static final int SHIFT_MAX = 60;

  private final TracePyramid pyramid;
  private final PyramidCore core;
  private final List<Line> lines = new ArrayList<>();
  private final PyramidBlock.Cache cache;

  /**
   * Nothing is read so far.
   *
   * @param cache of all cores of the pyramid
   */
  PyramidBlocks(TracePyramid pyramid, PyramidCore core, PyramidBlock.Cache cache)
      throws WrongPyramidException {
    this.pyramid = pyramid;
    this.core = core;
    this.cache = cache;
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
          block(place, level.getShift()).tell(sink);
        } catch (WrongPyramidException e) {
          throw new WrongBlockException(e);
        }
      }
    }
  }

  private PyramidBlock block(PyramidPlace place, int shift)
      throws IOException, WrongPyramidException {
    PyramidBlock block = cache.get(place);
    if (block == null) {
      block = PyramidBlock.of(pyramid, place, pyramid.read(place), shift, lines.size());
      cache.put(place, block);
    }
    return block;
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
