package dev.retstack.answers.state;

import dev.retstack.graph.calls.BrokenCoreException;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.input.ImageTraits;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.OtherName;
import dev.retstack.schema.SourceLine;
import dev.retstack.schema.Symbol;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.FunctionName;
import dev.retstack.schema.record.RecordBatch;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The one way from a chunk into a state: what a live partition does and what a replay does are this
 * class. Checks and decodes, then applies; a chunk that is refused leaves the state as it was, but
 * for the count of refusals.
 */
public final class ChunkApplier {
  private static final int USUAL_RECORDS = 16_384;

  private final GraphState state;
  private final Map<CoreKey, BrokenCoreException> broken = new HashMap<>();
  private RecordBatch batch = new RecordBatch(USUAL_RECORDS);
  private boolean oneOfMany;

  public ChunkApplier(GraphState state) {
    this.state = state;
  }

  /** There is one for each partition of a member: it does not keep the room for large chunks. */
  public ChunkApplier oneOfMany() {
    oneOfMany = true;
    return this;
  }

  /** The state that is filled. */
  public GraphState state() {
    return state;
  }

  /**
   * Makes an image known; chunks that name it can be applied from now on.
   *
   * @return false where there is no room for it: then they cannot
   */
  public boolean image(Image image) {
    return state.image(info(image));
  }

  /**
   * Applies one chunk.
   *
   * @throws CorruptChunkException when it is not what it claims to be; it is counted
   */
  public ApplyResult apply(Chunk chunk) throws CorruptChunkException {
    try {
      batch = Chunks.decode(chunk, batch);
    } catch (CorruptChunkException e) {
      refused();
      throw e;
    } catch (RuntimeException | StackOverflowError e) {
      refused();
      batch = new RecordBatch(USUAL_RECORDS);
      throw new CorruptChunkException("its records cannot be unpacked: " + e, e);
    }
    ApplyResult result = apply(chunk, batch);
    if (oneOfMany && batch.capacity() > 2 * USUAL_RECORDS) {
      batch = new RecordBatch(USUAL_RECORDS);
    }
    return result;
  }

  /**
   * These chunks made reconstruction fail when they were applied to another state: they are left
   * out of this one, with all behind them of their cores.
   */
  public void leaveOut(Collection<BrokenCoreException> known) {
    known.forEach(one -> broken.put(one.key(), one));
  }

  /** Applies one chunk whose records were unpacked already. */
  public ApplyResult apply(Chunk chunk, RecordBatch records) {
    BrokenCoreException known = broken.isEmpty() ? null : broken.get(key(chunk));
    if (known != null && chunk.getSequence() >= known.sequence()) {
      breakCore(chunk, known);
    }
    return state.apply(meta(chunk), key(chunk), chunk.getImage(), records);
  }

  /** The core of this chunk takes no more; false where there is none, and none can be made. */
  public boolean breakCore(Chunk chunk, BrokenCoreException why) {
    ClockUnit unit = ClockUnit.valueOf(chunk.getClockUnit().name());
    return state.breakCore(why.key(), chunk.getImage(), unit, why);
  }

  /** A chunk of a core that was just broken, by {@link #breakCore}, is left out. */
  public ApplyResult refuseBroken(Chunk chunk) {
    return state.apply(meta(chunk), key(chunk), chunk.getImage(), batch);
  }

  /** Whether this core is there, and broken. */
  public boolean isBroken(CoreKey key) {
    return state.isBroken(key);
  }

  /** Counts a record that did not even hold a chunk. */
  public void refused() {
    state.count(Stat.CORRUPT_CHUNKS, 1);
  }

  /** The core a chunk belongs to. */
  public static CoreKey key(Chunk chunk) {
    return new CoreKey(chunk.getSession(), chunk.getCore());
  }

  /** What a chunk says about its records. */
  public static ChunkMeta meta(Chunk chunk) {
    return new ChunkMeta(
        chunk.getSequence(),
        chunk.getRecordsBefore(),
        chunk.getLostBefore(),
        chunk.getOverruns(),
        chunk.getUnhijackable(),
        chunk.getAbandoned(),
        chunk.getFirstTime(),
        chunk.getLastTime(),
        ClockUnit.valueOf(chunk.getClockUnit().name()),
        CoreEnd.valueOf(chunk.getEnd().name()),
        chunk.getEndDetail(),
        chunk.getTask(),
        chunk.getInterrupts());
  }

  /** What reconstruction and reports need of an image. */
  public static ImageInfo info(Image image) {
    return new ImageInfo(
        image.getBuildId(),
        image.getName(),
        image.getIsa(),
        new ImageTraits(
            image.getFpCheck(),
            image.getRetpCheck(),
            image.getReturnToHandlerStart(),
            image.getReturnToHandlerEnd(),
            new LongArrayList(image.getCopiedReturns())),
        functions(image),
        image.getWordBytes(),
        new LongArrayList(image.getMcountLoc()),
        image.getSystemCalls(),
        table(image.getObjects()));
  }

  private static SymbolTable functions(Image image) {
    Map<Integer, dev.retstack.graph.symbol.SourceLine> sources = new HashMap<>();
    for (SourceLine line : image.getLines()) {
      sources.put(
          line.getSymbol(),
          new dev.retstack.graph.symbol.SourceLine(
              image.getFiles().get(line.getFile()), line.getLine()));
    }
    Map<Integer, List<String>> others = new HashMap<>();
    for (OtherName other : image.getOtherNames()) {
      others.computeIfAbsent(other.getSymbol(), _ -> new ArrayList<>()).add(other.getName());
    }
    List<SymbolTable.Symbol> functions = new ArrayList<>();
    for (Symbol s : image.getSymbols()) {
      int i = functions.size();
      functions.add(
          new SymbolTable.Symbol(
              new FunctionName(s.getName(), others.getOrDefault(i, List.of())),
              s.getAddress(),
              s.getSize(),
              sources.getOrDefault(i, dev.retstack.graph.symbol.SourceLine.NONE)));
    }
    return SymbolTable.of(functions);
  }

  private static SymbolTable table(List<Symbol> symbols) {
    return SymbolTable.of(
        symbols.stream()
            .map(s -> new SymbolTable.Symbol(s.getName(), s.getAddress(), s.getSize()))
            .toList());
  }
}
