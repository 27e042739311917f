package dev.retstack.graph.coverage;

import dev.retstack.graph.calls.CoreSummary;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.graph.totals.CallProfile;
import dev.retstack.graph.totals.CallTotals;
import it.unimi.dsi.fastutil.longs.Long2LongRBTreeMap;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Functions entered of those with a call site, per image, over all cores of some states. An entered
 * function counts even if its image does not name its site.
 */
public final class CoverageBuilder {
  private static final Comparator<ImageCoverage> ORDER =
      Comparator.comparing(ImageCoverage::image).thenComparing(ImageCoverage::imageId);

  private final Map<String, ImageInfo> images = new HashMap<>();
  private final Map<String, Long2LongRBTreeMap> calls = new HashMap<>();
  private final Map<String, Integer> cores = new HashMap<>();

  /** An image that may not have run at all. */
  public CoverageBuilder add(ImageInfo image) {
    images.putIfAbsent(image.id(), image);
    return this;
  }

  /** The calls of a state. */
  public CoverageBuilder add(GraphState state) {
    state.images().values().forEach(this::add);
    state.profiles(
        (key, profile) -> add(images.get(key.imageId()).symbols(), key.imageId(), profile));
    for (CoreSummary core : state.summaries()) {
      cores.merge(core.image().id(), 1, Integer::sum);
    }
    return this;
  }

  private void add(SymbolTable symbols, String imageId, CallProfile profile) {
    Long2LongRBTreeMap functions = functions(imageId);
    CallTotals totals = profile.functions();
    for (int i = 0; i < profile.functionCount(); i++) {
      if (totals.calls(i) > 0) {
        functions.addTo(symbols.start(profile.selfPc(i)), totals.calls(i));
      }
    }
  }

  private Long2LongRBTreeMap functions(String imageId) {
    return calls.computeIfAbsent(
        imageId, _ -> new Long2LongRBTreeMap((a, b) -> Long.compareUnsigned(a, b)));
  }

  /** Every image, by name. */
  public List<ImageCoverage> build() {
    List<ImageCoverage> all = new ArrayList<>();
    for (ImageInfo image : images.values()) {
      Long2LongRBTreeMap functions = new Long2LongRBTreeMap(functions(image.id()));
      image.sites().forEach(site -> functions.putIfAbsent(image.symbols().start(site), 0));
      List<FunctionCoverage> rows = new ArrayList<>();
      functions.forEach(
          (address, count) ->
              rows.add(new FunctionCoverage(image.symbols().name(address), address, count)));
      all.add(
          new ImageCoverage(
              image.name(), image.id(), image.isa(), cores.getOrDefault(image.id(), 0), rows));
    }
    all.sort(ORDER);
    return all;
  }
}
