package dev.retstack.fleet.settings;

import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import it.unimi.dsi.fastutil.longs.LongSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The functions that any of several patterns means. Names and single addresses are looked up, so a
 * file of thousands of them costs a core no more than one pattern.
 */
public final class PatternSet implements Predicate<PatternSubject> {
  private final Set<String> names = new HashSet<>();
  private final LongSet sites = new LongOpenHashSet();
  private final List<FunctionPattern> others;

  /** All that the patterns mean; nothing where there are none. */
  public PatternSet(List<FunctionPattern> patterns) {
    patterns.forEach(pattern -> pattern.name().ifPresent(names::add));
    patterns.forEach(pattern -> pattern.site().ifPresent(sites::add));
    others = patterns.stream().filter(p -> p.name().isEmpty() && p.site().isEmpty()).toList();
  }

  @Override
  public boolean test(PatternSubject subject) {
    if (subject.names().is(names::contains) || sites.contains(subject.site())) {
      return true;
    }
    for (FunctionPattern pattern : others) {
      if (pattern.matches(subject)) {
        return true;
      }
    }
    return false;
  }
}
