package dev.retstack.answers.replay;

import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.graph.state.GraphState;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Names of functions by images. They are kept, since to make them an image is read and its symbols
 * are sorted. Safe for use by several threads.
 */
public final class KeptNames {
  /** As many as one answer has cores. */
  private static final int KEPT = 16;

  private final LateSymbols symbols;
  private final Map<Images, ImageInfo> kept = new LinkedHashMap<>(16, 0.75f, true);

  private record Images(String own, Set<String> others) {}

  /** Where images are. */
  public interface Finder {
    /** The image with that build-id, or none. */
    Optional<ImageInfo> find(String id) throws IOException;
  }

  /**
   * Keeps none so far.
   *
   * @param symbols for images that come without
   */
  public KeptNames(LateSymbols symbols) {
    this.symbols = symbols;
  }

  /**
   * An image with the names of others that are mapped beside it.
   *
   * @return empty where the image is not found; of another one that is not, addresses are names
   */
  public Optional<ImageInfo> of(String own, Set<String> others, Finder finder) throws IOException {
    Images images = new Images(own, Set.copyOf(others));
    synchronized (kept) {
      ImageInfo found = kept.get(images);
      if (found != null) {
        return Optional.of(found);
      }
    }
    GraphState state = new GraphState().named(symbols);
    boolean all = true;
    for (String other : others) {
      if (state.others().enter(other) != 0) {
        Optional<ImageInfo> found = finder.find(other);
        found.ifPresent(state::image);
        all &= found.isPresent();
      }
    }
    Optional<ImageInfo> image = finder.find(own);
    if (image.isEmpty()) {
      return Optional.empty();
    }
    state.image(image.get());
    ImageInfo named = state.findImage(own).orElseThrow();
    if (all) {
      synchronized (kept) {
        kept.put(images, named);
        if (kept.size() > KEPT) {
          kept.remove(kept.keySet().iterator().next());
        }
      }
    }
    return Optional.of(named);
  }
}
