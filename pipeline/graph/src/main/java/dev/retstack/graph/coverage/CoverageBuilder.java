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
      Comparator.comparing(ImageCoverage::image)
          .thenComparing(ImageCoverage::imageId)
          .thenComparing(ImageCoverage::session);

  /** What cores of a session did in an image; of all sessions where that is empty. */
  private record Part(String imageId, String session) {}

  private final Map<String, ImageInfo> images = new HashMap<>();
  private final Map<Part, Long2LongRBTreeMap> calls = new HashMap<>();
  private final Map<Part, Integer> cores = new HashMap<>();
  private boolean sum;

  /** An image that may not have run at all. */
  public CoverageBuilder add(ImageInfo image) {
    images.putIfAbsent(image.id(), image);
    return this;
  }

  /** Whether several sessions are added up; where not, each of them has its images. */
  public CoverageBuilder summed(boolean sessions) {
    sum = sessions;
    return this;
  }

  /** The calls of a state. */
  public CoverageBuilder add(GraphState state) {
    state.images().values().forEach(this::add);
    Map<ProfileKey, Integer> runs = new HashMap<>();
    for (CoreSummary core : state.summaries()) {
      String session = core.key().session();
      cores.merge(new Part(core.image().id(), session), 1, Integer::sum);
      runs.merge(new ProfileKey(session, core.image().id(), core.unit()), 1, Integer::sum);
    }
    state.profiles(
        (key, profile) -> {
          Set<String> called = add(state.images().get(key.imageId()), key.session(), profile);
          called.remove(key.imageId());
          int ran = runs.getOrDefault(key, 0);
          called.forEach(id -> cores.merge(new Part(id, key.session()), ran, Integer::sum));
        });
    return this;
  }

  /** Returns the images of the functions that were called. */
  private Set<String> add(ImageInfo image, String session, CallProfile profile) {
    Set<String> called = new HashSet<>();
    CallTotals totals = profile.functions();
    for (int i = 0; i < profile.functionCount(); i++) {
      if (totals.calls(i) > 0) {
        ImageInfo of = image.of(profile.selfPc(i));
        long start = of.symbols().start(image.in(profile.selfPc(i)));
        functions(calls, new Part(of.id(), session)).addTo(start, totals.calls(i));
        called.add(of.id());
      }
    }
    return called;
  }

  private static Long2LongRBTreeMap functions(Map<Part, Long2LongRBTreeMap> calls, Part part) {
    return calls.computeIfAbsent(part, _ -> new Long2LongRBTreeMap(Long::compareUnsigned));
  }

  /** Number of the sessions whose calls are known. */
  public long sessions() {
    return cores.keySet().stream().map(Part::session).distinct().count();
  }

  /** Every image with a core, a call site or a call, by name. */
  public List<ImageCoverage> build() {
    boolean apart = !sum && sessions() > 1;
    Map<Part, Long2LongRBTreeMap> functions = new HashMap<>();
    Map<Part, Integer> ran = new HashMap<>();
    cores.forEach((part, count) -> ran.merge(shown(part, apart), count, Integer::sum));
    calls.forEach(
        (part, counts) -> {
          Long2LongRBTreeMap all = functions(functions, shown(part, apart));
          counts.forEach((start, count) -> all.addTo(start, count));
        });
    ran.keySet().forEach(part -> functions(functions, part));
    functions.keySet().removeIf(part -> !images.containsKey(part.imageId())); // it has no names
    Set<String> known = new HashSet<>();
    functions.keySet().forEach(part -> known.add(part.imageId()));
    images.keySet().stream()
        .filter(id -> !known.contains(id))
        .forEach(id -> functions(functions, new Part(id, "")));
    List<ImageCoverage> all = new ArrayList<>();
    functions.forEach(
        (part, counts) -> {
          ImageInfo image = images.get(part.imageId());
          image.sites().forEach(site -> counts.putIfAbsent(image.symbols().start(site), 0));
          if (!counts.isEmpty() || !image.isOther() || ran.containsKey(part)) {
            all.add(coverage(image, part, ran.getOrDefault(part, 0), counts));
          } // else a shared object without call sites
        });
    all.sort(ORDER);
    return all;
  }

  private static Part shown(Part part, boolean apart) {
    return apart ? part : new Part(part.imageId(), "");
  }

  private static ImageCoverage coverage(
      ImageInfo image, Part part, int cores, Long2LongRBTreeMap functions) {
    List<FunctionCoverage> rows = new ArrayList<>();
    functions.forEach(
        (address, count) ->
            rows.add(
                new FunctionCoverage(
                    image.symbols().name(address),
                    address,
                    image.symbols().source(address),
                    count)));
    return new ImageCoverage(
        image.name(), image.id(), image.isa(), part.session(), cores, image.isOther(), rows);
  }
}
