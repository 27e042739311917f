package dev.retstack.graph.coverage;

import dev.retstack.graph.calls.CoreSummary;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.totals.CallProfile;
import dev.retstack.graph.totals.CallTotals;
import dev.retstack.graph.totals.ProfileKey;
import it.unimi.dsi.fastutil.longs.Long2LongRBTreeMap;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

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
    Map<ProfileKey, Integer> runs = new HashMap<>();
    for (CoreSummary core : state.summaries()) {
      cores.merge(core.image().id(), 1, Integer::sum);
      runs.merge(
          new ProfileKey(core.key().session(), core.image().id(), core.unit()), 1, Integer::sum);
    }
    state.profiles(
        (key, profile) -> {
          Set<String> called = add(state.images().get(key.imageId()), profile);
          called.remove(key.imageId());
          called.forEach(id -> cores.merge(id, runs.getOrDefault(key, 0), Integer::sum));
        });
    return this;
  }

  /** Returns the images of the functions that were called. */
  private Set<String> add(ImageInfo image, CallProfile profile) {
    Set<String> called = new HashSet<>();
    CallTotals totals = profile.functions();
    for (int i = 0; i < profile.functionCount(); i++) {
      if (totals.calls(i) > 0) {
        ImageInfo of = image.of(profile.selfPc(i));
        long start = of.symbols().start(image.in(profile.selfPc(i)));
        functions(of.id()).addTo(start, totals.calls(i));
        called.add(of.id());
      }
    }
    return called;
  }

  private Long2LongRBTreeMap functions(String imageId) {
    return calls.computeIfAbsent(
        imageId, _ -> new Long2LongRBTreeMap((a, b) -> Long.compareUnsigned(a, b)));
  }

  /** Every image with a core, a call site or a call, by name. */
  public List<ImageCoverage> build() {
    List<ImageCoverage> all = new ArrayList<>();
    for (ImageInfo image : images.values()) {
      Long2LongRBTreeMap functions = new Long2LongRBTreeMap(functions(image.id()));
      image.sites().forEach(site -> functions.putIfAbsent(image.symbols().start(site), 0));
      if (functions.isEmpty() && image.isOther() && !cores.containsKey(image.id())) {
        continue; // a shared object without call sites
      }
      List<FunctionCoverage> rows = new ArrayList<>();
      functions.forEach(
          (address, count) ->
              rows.add(
                  new FunctionCoverage(
                      image.symbols().name(address),
                      address,
                      image.symbols().source(address),
                      count)));
      all.add(
          new ImageCoverage(
              image.name(),
              image.id(),
              image.isa(),
              cores.getOrDefault(image.id(), 0),
              image.isOther(),
              rows));
    }
    all.sort(ORDER);
    return all;
  }
}
