package dev.retstack.service.replay;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.graph.pyramid.Pyramid;
import dev.retstack.graph.pyramid.Timeline;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.symbol.SymbolTable;
import java.io.IOException;
import java.util.Optional;

/**
 * Rebuilds the calls of a window of one core into tiles as long as a pixel: whole calls, as far as
 * its chunks tell.
 */
final class TileReplay {
  /** Tiles of a window that is read. */
  private static final long ENTRIES_MAX = 1 << 20;

  private final CoreKey key;
  private final long last;
  private final Timeline.Question question;
  private final Pyramid tiles;
  private final GraphState state;

  /**
   * Nothing is read so far.
   *
   * @param last time of the core's last record
   * @param symbols for images that come without
   */
  TileReplay(CoreKey key, long last, LateSymbols symbols, Timeline.Question question) {
    this.key = key;
    this.last = last;
    this.question = question;
    this.tiles = Pyramid.of(new Pyramid.Room(ENTRIES_MAX), question.shift());
    PyramidPass.Placing placing = one -> one.key().equals(key) ? tiles : null;
    this.state = PyramidPass.state(placing).named(symbols);
  }

  /** Takes the chunks that the window needs, with the one behind it. */
  GraphState state() {
    return state;
  }

  /** Answers when all chunks were taken. */
  TraceTimeline.Answer answer() throws IOException {
    state.settle();
    Optional<CoreGraph> graph = state.core(key);
    graph.ifPresent(PyramidPass::closeOpen);
    return new TraceTimeline.Answer(
        key,
        graph.map(CoreGraph::unit).orElse(ClockUnit.INSTRUCTIONS),
        last,
        Timeline.of(tiles.tiles(), question),
        graph.map(one -> one.image().names()).orElse(SymbolTable.EMPTY),
        (task, instance) -> graph.map(one -> one.taskName(task, instance)).orElse(""),
        TraceTimeline.Detail.CHUNKS);
  }
}
