package dev.retstack.graph.input;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * What a row of functions, edges or anomalies is. A fleet runs images of one program for several
 * ISAs, from several compilers: what has the same name in all of them is one row, unless it is to
 * be apart. See {@link ImageInfo#programOf}.
 */
public enum Grouping {
  /** A function of a program, in all images of it. */
  GROUPS,
  /** A function of an image. */
  BY_IMAGE,
  /** A function or anomaly of each task of each core. */
  BY_TASK,
  /** Each anomaly that was kept. */
  EACH;

  /** The one of this name, as users write it: {@code by-image}. */
  public static Grouping of(String name) {
    return valueOf(name.toUpperCase(Locale.ROOT).replace('-', '_'));
  }

  /** As users write it. */
  public String text() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Joins the rows of each key. */
  public static <R> Stream<R> join(
      Collection<R> rows, Function<R, Object> key, Function<List<R>, R> joined) {
    Map<Object, List<R>> groups = new LinkedHashMap<>();
    rows.forEach(row -> groups.computeIfAbsent(key.apply(row), _ -> new ArrayList<>()).add(row));
    return groups.values().stream()
        .map(group -> group.size() == 1 ? group.getFirst() : joined.apply(group));
  }

  /** What all rows of a group have in common; {@code otherwise} where they differ. */
  public static <R, T> T common(List<R> group, Function<R, T> value, T otherwise) {
    T first = value.apply(group.getFirst());
    return group.stream().allMatch(row -> value.apply(row).equals(first)) ? first : otherwise;
  }

  /** How many values the rows of a group have. */
  public static <R> int distinct(List<R> group, Function<R, Object> value) {
    return (int) group.stream().map(value).distinct().count();
  }
}
