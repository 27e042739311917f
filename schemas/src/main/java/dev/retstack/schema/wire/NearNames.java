package dev.retstack.schema.wire;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Names that somebody may have meant who wrote another. */
public final class NearNames {
  private record Near(String name, int distance) {}

  private NearNames() {}

  /**
   * The nearest names, the nearest first: those that differ in a third of the letters at most, or
   * only in upper and lower case, or begin or end with what was written.
   *
   * @param most names to return at most
   */
  public static List<String> of(String wanted, Collection<String> names, int most) {
    String lower = wanted.toLowerCase(Locale.ROOT);
    int farthest = Math.max(1, wanted.length() / 3);
    return names.stream()
        .filter(name -> !name.isEmpty())
        .map(name -> new Near(name, distance(lower, name.toLowerCase(Locale.ROOT), farthest)))
        .filter(near -> near.distance() <= farthest)
        .sorted(Comparator.comparingInt(Near::distance).thenComparing(Near::name))
        .limit(most)
        .map(Near::name)
        .toList();
  }

  private static int distance(String wanted, String name, int farthest) {
    boolean part = wanted.length() > 2 && (name.startsWith(wanted) || name.endsWith(wanted));
    if (Math.abs(wanted.length() - name.length()) > farthest) {
      return part ? farthest : Integer.MAX_VALUE; // as many letters differ at least
    }
    return Math.min(part ? farthest : Integer.MAX_VALUE, edits(wanted, name));
  }

  /** Letters to put in, take away, replace or swap with their neighbour, row by row. */
  private static int edits(String a, String b) {
    int[] before = new int[b.length() + 1];
    int[] above = new int[b.length() + 1];
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int[] free = before;
      before = above;
      above = row;
      row = free;
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = above[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(replaced, Math.min(above[j], row[j - 1]) + 1);
        if (i > 1
            && j > 1
            && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)) {
          row[j] = Math.min(row[j], before[j - 2] + 1);
        }
      }
    }
    return row[b.length()];
  }
}
