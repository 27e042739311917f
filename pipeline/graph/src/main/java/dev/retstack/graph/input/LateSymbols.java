package dev.retstack.graph.input;

import dev.retstack.graph.symbol.SymbolTable;
import java.util.Map;

/**
 * Names for the functions of images that were announced without them, by build-id: a stripped
 * program has the build-id of the file that it was stripped from.
 *
 * @param functions addresses are those of the image that runs
 */
public record LateSymbols(Map<String, SymbolTable> functions) {
  /** No names. */
  public static final LateSymbols NONE = new LateSymbols(Map.of());

  public LateSymbols {
    functions = Map.copyOf(functions);
  }

  /** The image with its late names; the same where there are none. */
  public ImageInfo name(ImageInfo image) {
    SymbolTable late = functions.get(image.id());
    return late == null ? image : image.withSymbols(late);
  }
}
