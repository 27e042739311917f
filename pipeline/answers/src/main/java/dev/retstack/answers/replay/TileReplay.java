package dev.retstack.answers.replay;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.graph.pyramid.Pyramid;
import dev.retstack.graph.pyramid.Tiles;
import dev.retstack.graph.pyramid.Timeline;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.schema.PyramidCore;
import dev.retstack.schema.record.TaskName;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;

/**
 * Rebuilds the calls of a window of one core into tiles of one length: whole calls, as far as its
 * chunks show them.
 */
final class TileReplay {
  /** Tiles of a window that is read. */
  private static final long ENTRIES_MAX = 1 << 20;

  private final CoreKey key;
  private final long last;
  private final Pyramid tiles;
  private final GraphState state;

  /**
   * Nothing is read so far.
   *
   * @param last time of the core's last record
   * @param symbols for images that come without
   * @param shift tiles are {@code 1 << shift} long
   */
  TileReplay(CoreKey key, long last, LateSymbols symbols, int shift) {
    this.key = key;
    this.last = last;
    this.tiles = Pyramid.of(new Pyramid.Room(ENTRIES_MAX), shift);
    PyramidPass.Placing placing = one -> one.key().equals(key) ? tiles : null;
    this.state = PyramidPass.state(placing).named(symbols);
  }

  /** Takes the chunks that the window needs, with the one behind it. */
  GraphState state() {
    return state;
  }

  /** The core, when all chunks were taken. */
  private Optional<CoreGraph> rebuilt() {
    Optional<CoreGraph> graph = state.core(key);
    graph.ifPresent(PyramidPass::closeOpen);
    return graph;
  }

  /**
   * How what a pyramid says of the core beside its tiles differs from the chunks, when all were
   * taken; empty where it does not.
   *
   * @param called its tasks
   * @param all whether the last chunk of the core was among them
   */
  String difference(PyramidCore known, Map<Long, TaskName> called, boolean all) {
    CoreGraph graph = rebuilt().orElse(null);
    if (graph == null) {
      return "expected no core, received one";
    }
    String expected =
        "image %s, clock %s, tasks %s"
            .formatted(
                graph.image().id(), graph.unit(), all ? graph.progress().taskNames() : called);
    String received =
        "image %s, clock %s, tasks %s".formatted(known.getImage(), known.getUnit(), called);
    return expected.equals(received)
        ? ""
        : "expected %s, received %s".formatted(expected, received);
  }

  /** The tiles, when all chunks were taken and closed. */
  Tiles tiles() {
    return tiles.tiles();
  }

  /** Answers when all chunks were taken. */
  TraceTimeline.Answer answer(Timeline.Question question) throws IOException {
    Optional<CoreGraph> graph = rebuilt();
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
