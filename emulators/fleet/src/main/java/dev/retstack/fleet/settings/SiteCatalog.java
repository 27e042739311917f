package dev.retstack.fleet.settings;

import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.wire.NearNames;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What can be traced in an image by name: functions and system calls. Immutable. */
public final class SiteCatalog {
  /** Most names that a refusal offers. */
  private static final int OFFERED_MAX = 3;

  /** Most answers that are kept. */
  private static final int KEPT_MAX = 1_000;

  private final String image;
  private final List<PatternSubject> subjects;

  /** All names of functions. */
  private final Set<String> names;

  private final String isa;
  private final List<String> systemCalls;

  /** Cores of one image get the same answers. */
  private final Map<FunctionPattern, Boolean> known = new ConcurrentHashMap<>();

  private final Map<TraceSettings, Integer> counts = new ConcurrentHashMap<>();

  private SiteCatalog(
      String image, List<PatternSubject> subjects, String isa, List<String> systemCalls) {
    this.image = image;
    this.subjects = List.copyOf(subjects);
    names = new HashSet<>();
    for (PatternSubject subject : subjects) {
      names.add(subject.names().shown());
      names.addAll(subject.names().others());
    }
    this.isa = isa;
    this.systemCalls = systemCalls.stream().sorted().toList();
  }

  /** The sites of an image. */
  public static SiteCatalog of(LoadedImage image) {
    return of(
        image.elf().name(),
        image.conventions().stream()
            .flatMap(convention -> convention.sites().stream())
            .map(site -> PatternSubject.of(image.elf(), site.address(), site.function()))
            .toList(),
        image.isa().name(),
        image.isa().syscalls().names().names());
  }

  /** The sites of an image, with the functions of other files that it calls. */
  public static SiteCatalog withLibraryCalls(LoadedImage image) {
    SiteCatalog own = of(image);
    Stream<PatternSubject> called =
        image
            .libraryCalls()
            .all()
            .map(
                place ->
                    PatternSubject.of(image.elf(), place.site(), place.site())
                        .named(place.symbol().name()));
    List<PatternSubject> all = Stream.concat(own.subjects.stream(), called).toList();
    return new SiteCatalog(own.image, all, own.isa, own.systemCalls);
  }

  /** Those that are listed. */
  public static SiteCatalog of(
      String image, List<PatternSubject> subjects, String isa, List<String> systemCalls) {
    return new SiteCatalog(image, subjects, isa, systemCalls);
  }

  /** Call sites. */
  public List<PatternSubject> subjects() {
    return subjects;
  }

  /** True where at least one function is meant. */
  public boolean has(FunctionPattern pattern) {
    if (pattern.name().isPresent()) {
      return names.contains(pattern.name().get());
    }
    if (known.size() >= KEPT_MAX) {
      known.clear();
    }
    return known.computeIfAbsent(pattern, p -> subjects.stream().anyMatch(p::matches));
  }

  /** True where at least one system call of the ISA is meant. */
  public boolean hasEvent(Glob name) {
    return systemCalls.stream().anyMatch(name::matches);
  }

  /** Says that no system call is meant by a name, and which there are instead. */
  public String whyNoEvent(Glob name) {
    List<String> near =
        name.isName() ? NearNames.of(name.toString(), systemCalls, OFFERED_MAX) : List.of();
    return "no system call of %s is '%s': %s"
        .formatted(
            isa,
            name,
            near.isEmpty()
                ? "it has %d, which \"retstack isa --system-calls %s\" lists"
                    .formatted(systemCalls.size(), isa)
                : "did you mean %s?".formatted(String.join(", ", near)));
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
        settings, now -> (int) subjects.stream().filter(now.selected()).count());
  }

  /** Says that no function is meant by a pattern, and which there are instead. */
  public String whyNone(FunctionPattern pattern) {
    List<String> near =
        pattern.name().map(name -> NearNames.of(name, names, OFFERED_MAX)).orElse(List.of());
    if (!near.isEmpty()) {
      return "no function of %s is '%s': did you mean %s?"
          .formatted(image, pattern, String.join(", ", near));
    }
    List<String> shown =
        subjects.stream().map(subject -> subject.names().shown()).distinct().sorted().toList();
    return "no function of %s is '%s': it has %s with a call site%s"
        .formatted(
            image,
            pattern,
            shown.size() == 1 ? "1 function" : shown.size() + " functions",
            shown.stream()
                .filter(name -> !name.isEmpty())
                .limit(OFFERED_MAX)
                .collect(
                    Collectors.collectingAndThen(Collectors.joining(", "), SiteCatalog::suchAs)));
  }

  private static String suchAs(String names) {
    return names.isEmpty() ? "" : ", such as " + names;
  }
}
