package dev.retstack.answers.replay;

import dev.retstack.graph.limits.Saturating;
import dev.retstack.graph.pyramid.Line;
import dev.retstack.graph.pyramid.ListedTiles;
import dev.retstack.graph.pyramid.TileFold;
import dev.retstack.graph.pyramid.TileSource;
import dev.retstack.graph.pyramid.Tiles;
import dev.retstack.schema.PyramidCore;
import dev.retstack.schema.PyramidLevel;
import dev.retstack.schema.PyramidLine;
import dev.retstack.schema.PyramidPlace;
import dev.retstack.schema.PyramidTiles;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.file.TracePyramid;
import dev.retstack.schema.file.TracePyramid.WrongPyramidException;
import dev.retstack.schema.file.TracePyramidWriter;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * The tiles of a core in the blocks of a trace. A question reads the blocks of one level that its
 * window touches: of the coarsest whose tiles are as long as a pixel, or shorter. Each block is
 * compared once with the level above it, and that with the next: a tile must be the sum of the
 * shorter ones in it. Safe for use by several threads.
 */
final class PyramidBlocks implements TileSource {
  /** Entries of a block, unless one tile has more: some 20 KiB in the file. */
  static final int ENTRIES = 2048;

  /** Levels that hardly have fewer entries than the one below are not stored. */
  private static final double SMALLER = 0.7;

  private static final int SHIFT_MAX = 60;

  private final TracePyramid pyramid;
  private final PyramidCore core;
  private final long records;
  private final List<Line> lines = new ArrayList<>();
  private final PyramidBlock.Cache cache;

  /** By level: the blocks that were compared with the level above. */
  private final List<BitSet> compared = new ArrayList<>();

  /**
   * Nothing is read so far.
   *
   * @param records of the core in the chunks of the trace
   * @param cache of all cores of the pyramid
   */
  PyramidBlocks(TracePyramid pyramid, PyramidCore core, long records, PyramidBlock.Cache cache)
      throws WrongPyramidException {
    this.pyramid = pyramid;
    this.core = core;
    this.records = records;
    this.cache = cache;
    core.getLevels().forEach(_ -> compared.add(new BitSet()));
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

    WrongPyramidException why() {
      return (WrongPyramidException) getCause();
    }
  }

  /**
   * Compares the finest tiles of a time with those of the chunks, and all that are made of them.
   *
   * @param right tiles of the same length, made of the chunks
   * @param from a multiple of their length
   * @throws WrongPyramidException where they differ
   */
  void compare(TileSource right, long from, long to) throws IOException, WrongPyramidException {
    try {
      String difference =
          ListedTiles.of(right, from, to).difference(ListedTiles.of(this, from, to));
      if (!difference.isEmpty()) {
        throw pyramid.wrong(
            "core %s, tiles of length 2^%d are not those of its chunks, %s"
                .formatted(core.getCore(), shift(), difference));
      }
    } catch (WrongBlockException e) {
      throw e.why();
    }
  }

  /** Writes all levels of a core; the levels as the directory names them. */
  static List<PyramidLevel> write(Tiles finest, TracePyramidWriter to) throws IOException {
    List<PyramidLevel> levels = new ArrayList<>();
    Tiles level = finest;
    long before = Long.MAX_VALUE;
    while (true) {
      boolean last = level.entries() <= ENTRIES || level.shift() > SHIFT_MAX - Tiles.STEP;
      if (last || level.entries() < before * SMALLER) {
        List<PyramidPlace> places = new ArrayList<>();
        for (Tiles.Part part : level.parts(ENTRIES)) {
          Packer packer = new Packer(level.shift());
          part.report(packer);
          places.add(to.write(packer.tiles(), packer.from, packer.to));
        }
        levels.add(new PyramidLevel(level.shift(), places));
        before = level.entries();
      }
      if (last) {
        return levels;
      }
      level = level.coarser(Tiles.STEP);
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
    int level = 0;
    while (level + 1 < core.getLevels().size()
        && core.getLevels().get(level + 1).getShift() <= shift) {
      level++;
    }
    try {
      compareTotal();
      List<PyramidPlace> blocks = core.getLevels().get(level).getBlocks();
      for (int i = 0; i < blocks.size(); i++) {
        if (blocks.get(i).getFrom() < to && blocks.get(i).getTo() >= from) {
          compare(level, i);
          block(level, i).report(sink);
        }
      }
    } catch (WrongPyramidException e) {
      throw new WrongBlockException(e);
    }
  }

  /**
   * Compares a block with the longer tiles above it, and those with theirs. A longer tile may have
   * parts in the blocks around, and time of calls that began in the tile before it.
   */
  private synchronized void compare(int level, int index)
      throws IOException, WrongPyramidException {
    if (level + 1 == core.getLevels().size() || compared.get(level).get(index)) {
      return;
    }
    int shift = core.getLevels().get(level).getShift();
    int above = core.getLevels().get(level + 1).getShift();
    List<PyramidPlace> blocks = core.getLevels().get(level).getBlocks();
    boolean last = index + 1 == blocks.size();
    long from = index == 0 ? 0 : block(level, index).begin() >>> above << above;
    long to = last ? Long.MAX_VALUE : block(level, index + 1).begin();
    TileFold fold = new TileFold(shift, (above - shift) / Tiles.STEP);
    long needed = Math.max(0, from - (1L << above));
    boolean more = true;
    for (int i = index; i >= 0 && more; i--) {
      block(level, i).report(fold.finer());
      more = block(level, i).begin() > needed;
    }
    long end = last ? Long.MAX_VALUE : behind(to, above);
    for (int i = index + 1; i < blocks.size() && block(level, i).begin() < end; i++) {
      block(level, i).report(fold.finer());
    }
    List<PyramidPlace> longer = core.getLevels().get(level + 1).getBlocks();
    for (int i = 0; i < longer.size(); i++) {
      if (longer.get(i).getFrom() < end && longer.get(i).getTo() >= from) {
        compare(level + 1, i);
        block(level + 1, i).report(fold.received());
      }
    }
    String difference = fold.difference(from, end);
    if (!difference.isEmpty()) {
      throw pyramid.wrong(
          "core %s, a tile of length 2^%d is not the sum of shorter ones, %s"
              .formatted(core.getCore(), above, difference));
    }
    compared.get(level).set(index);
    for (int i = index + 1; i + 1 < blocks.size() && block(level, i + 1).begin() <= end; i++) {
      compared.get(level).set(i);
    }
  }

  /** Counts calls. */
  private final class Counter implements Sink {
    private long calls;

    @Override
    public void tile(
        int line, long start, long end, long count, long busy, long pc, long enter, long exit) {
      call(line, count, pc, enter, exit);
    }

    @Override
    public void call(int line, long count, long selfPc, long enter, long exit) {
      calls = Saturating.sum(calls, lines.get(line).kind() == Line.Kind.CALLS ? count : 0);
    }
  }

  /** Each call has a record, unless it is open all the time. */
  private synchronized void compareTotal() throws IOException, WrongPyramidException {
    int top = core.getLevels().size() - 1;
    if (compared.get(top).get(0)) {
      return;
    }
    Counter counter = new Counter();
    for (int i = 0; i < core.getLevels().get(top).getBlocks().size(); i++) {
      block(top, i).report(counter);
    }
    if (counter.calls > records + Chunks.DEPTH_MAX) {
      throw pyramid.wrong(
          "core %s has %d calls, and %d records in the index"
              .formatted(core.getCore(), counter.calls, records));
    }
    compared.get(top).set(0);
  }

  /** Begin of the first tile that begins at a time or behind it; the last time where none does. */
  private static long behind(long time, int shift) {
    long begin = time >>> shift << shift;
    return begin == time
        ? time
        : begin + (1L << shift) < 0 ? Long.MAX_VALUE : begin + (1L << shift);
  }

  private PyramidBlock block(int level, int index) throws IOException, WrongPyramidException {
    PyramidLevel of = core.getLevels().get(level);
    return block(of.getBlocks().get(index), of.getShift());
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
