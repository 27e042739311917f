package dev.retstack.answers.replay;

import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.graph.pyramid.Timeline;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.codec.CorruptChunkException;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** A window of a core whose chunks are at hand: what {@link TraceReplay} reads of a trace. */
public final class ChunkReplay {
  private ChunkReplay() {}

  /**
   * Takes the chunks that a window of a core needs into a state.
   *
   * @param source where they are from, for messages
   * @param chunks of one core, in the order of their numbers, each once; at least one
   * @param images that they name, by build-id; others have no names
   * @param lastTime of the core, as far as it came
   * @param state that {@linkplain GraphState#anywhere begins anywhere}
   * @throws InvalidTraceException where chunks do not fit together, or their own image is missing
   * @throws dev.retstack.graph.calls.BrokenCoreException where a chunk makes reconstruction fail
   */
  public static void read(
      String source,
      List<Chunk> chunks,
      Map<String, Image> images,
      long lastTime,
      GraphState state,
      TraceReplay.Window window)
      throws IOException {
    ChunkApplier applier = new ChunkApplier(state);
    WindowReplay counting =
        new WindowReplay(source, state, window, ChunkApplier.key(chunks.getFirst()));
    for (Chunk chunk : chunks) {
      takeImage(applier, chunk.getImage(), images);
      chunk.getImages().forEach(other -> takeImage(applier, other, images));
      if (window.counts() && state.hasImage(chunk.getImage())) {
        counting.take(chunk);
      } else if (!applies(source, applier, chunk)) {
        throw new InvalidTraceException(
            "%s: chunk %d of core %s names image %s, which is not there"
                .formatted(source, chunk.getSequence(), chunk.getCore(), chunk.getImage()),
            null);
      }
    }
    if (window.counts()) {
      counting.end(() -> lastTime);
    }
  }

  /**
   * What a core did in a window.
   *
   * @param last time of the core's last record
   * @param chunks and {@code images} as of {@link #read}, with the chunk behind the window
   * @param symbols for images that come without
   */
  public static TraceTimeline.Answer timeline(
      String source,
      CoreKey key,
      long last,
      List<Chunk> chunks,
      Map<String, Image> images,
      LateSymbols symbols,
      Timeline.Question question)
      throws IOException {
    TileReplay tiles = new TileReplay(key, last, symbols, question.shift());
    read(
        source,
        chunks,
        images,
        question.to(),
        tiles.state(),
        new TraceReplay.Window(key::equals, question.from(), question.to(), false));
    return tiles.answer(question);
  }

  private static void takeImage(ChunkApplier applier, String id, Map<String, Image> images) {
    if (!applier.state().hasImage(id) && images.containsKey(id)) {
      applier.image(images.get(id));
    }
  }

  private static boolean applies(String source, ChunkApplier applier, Chunk chunk)
      throws InvalidTraceException {
    try {
      return applier.apply(chunk) != ApplyResult.NEEDS_IMAGE;
    } catch (CorruptChunkException e) {
      throw new InvalidTraceException(source + ": " + e.getMessage(), e);
    }
  }
}
