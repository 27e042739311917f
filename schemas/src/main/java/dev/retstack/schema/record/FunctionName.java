package dev.retstack.schema.record;

import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * What a function is called. Several names can stand at one address: aliases, and functions of the
 * same code that a compiler or linker folded into one. Each of them means the function.
 *
 * @param shown the name that is printed; empty where no symbol has it
 * @param others names that mean the function, too
 */
public record FunctionName(String shown, List<String> others) {
  /** Other names of one function at most. */
  public static final int OTHERS_MAX = 4096;

  /** Name of a function without a symbol. */
  public static final FunctionName NONE = new FunctionName("");

  /** Other names that a sentence lists. */
  private static final int LISTED = 5;

  public FunctionName {
    others = List.copyOf(others);
  }

  /** A function of one name. */
  public FunctionName(String shown) {
    this(shown, List.of());
  }

  /** Whether one of the names is wanted. */
  public boolean is(Predicate<String> wanted) {
    if (wanted.test(shown)) {
      return true;
    }
    for (String other : others) {
      if (wanted.test(other)) {
        return true;
      }
    }
    return false;
  }

  /** This function with more names, in alphabetical order. */
  public FunctionName and(List<String> more) {
    if (more.isEmpty() || others.equals(more)) {
      return this;
    }
    TreeSet<String> all = new TreeSet<>(others);
    all.addAll(more);
    all.remove(shown);
    return new FunctionName(shown, all.stream().limit(OTHERS_MAX).toList());
  }

  /** Puts it among functions by the name that is shown; one that is there gets its other names. */
  public void addTo(Map<String, FunctionName> functions) {
    functions.merge(shown, this, (before, more) -> before.and(more.others));
  }

  /** The name in a sentence: {@code one}; {@code one (also named eins, uno)}. */
  public String text() {
    if (others.isEmpty()) {
      return shown;
    }
    String listed = others.stream().limit(LISTED).collect(Collectors.joining(", "));
    int more = others.size() - LISTED;
    return "%s (also named %s%s)"
        .formatted(shown, listed, more > 0 ? " and %,d more".formatted(more) : "");
  }
}
