package dev.retstack.fleet.control;

import dev.retstack.fleet.loader.LoadedImage;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** The functions of an image that can be traced, for who names some of them. Immutable. */
public final class SiteCatalog {
  /** Most names that a refusal offers. */
  private static final int OFFERED_MAX = 3;

  /** Most answers that are kept. */
  private static final int KEPT_MAX = 1_000;

  private final String image;
  private final List<PatternSubject> subjects;

  /** Cores of one image are told the same. */
  private final Map<FunctionPattern, Boolean> known = new ConcurrentHashMap<>();

  private final Map<TraceSettings, Integer> counts = new ConcurrentHashMap<>();

  private SiteCatalog(String image, List<PatternSubject> subjects) {
    this.image = image;
    this.subjects = subjects;
  }

  /** Those of an image. */
  public static SiteCatalog of(LoadedImage image) {
    return of(
        image.elf().name(),
        image.conventions().stream()
            .flatMap(convention -> convention.sites().stream())
            .map(site -> PatternSubject.of(image.elf(), site.address(), site.function()))
            .toList());
  }

  /** Those that are listed. */
  public static SiteCatalog of(String image, List<PatternSubject> subjects) {
    return new SiteCatalog(image, List.copyOf(subjects));
  }

  /** Call sites. */
  public List<PatternSubject> subjects() {
    return subjects;
  }

  /** True where at least one function is meant. */
  public boolean has(FunctionPattern pattern) {
    if (known.size() >= KEPT_MAX) {
      known.clear();
    }
    return known.computeIfAbsent(pattern, p -> subjects.stream().anyMatch(p::matches));
  }

  /** Call sites that are on under settings, as far as these alone say. */
  public int countOn(TraceSettings settings) {
    if (!settings.on() || settings.tracer() == Tracer.NOP) {
      return 0;
    }
    if (counts.size() >= KEPT_MAX) {
      counts.clear();
    }
    return counts.computeIfAbsent(
        settings, now -> (int) subjects.stream().filter(now::selects).count());
  }

  /** Says that no function is meant by a pattern, and which there are instead. */
  public String whyNone(FunctionPattern pattern) {
    List<String> names =
        subjects.stream().map(PatternSubject::function).distinct().sorted().toList();
    List<String> near =
        pattern.name().map(name -> NearNames.of(name, names, OFFERED_MAX)).orElse(List.of());
    if (!near.isEmpty()) {
      return "no function of %s is '%s': did you mean %s?"
          .formatted(image, pattern, String.join(", ", near));
    }
    return "no function of %s is '%s': it has %d functions with a call site%s"
        .formatted(
            image,
            pattern,
            names.size(),
            names.stream()
                .filter(name -> !name.isEmpty())
                .limit(OFFERED_MAX)
                .collect(
                    Collectors.collectingAndThen(Collectors.joining(", "), SiteCatalog::suchAs)));
  }

  private static String suchAs(String names) {
    return names.isEmpty() ? "" : ", such as " + names;
  }
}
