package dev.retstack.fleet.control;

import dev.retstack.fleet.settings.Glob;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Which cores are meant. Texts:
 *
 * <pre>
 * all
 * core=zoo-arm-*               by the core's name, wildcards as in {@link Glob}; its restarts too
 * isa=arm|aarch64              one of several
 * image=fw-?.elf               by the name of the program's file
 * label.rack=7*|8              by a label: KEY=VALUE
 * label=rack:7*|board:3        the same, where the keys differ
 * isa=riscv64,label=rack:7     all of it must hold
 * </pre>
 */
public final class Selector {
  /** Every core. */
  public static final Selector ALL = new Selector("all", List.of());

  /** Longest text, in characters. */
  public static final int LENGTH_MAX = 1024;

  private static final String SYNTAX =
      "say all, core=NAME, isa=NAME, image=NAME or label.KEY=VALUE, joined by commas";

  /** Most values of a kind that an explanation lists. */
  private static final int LISTED_MAX = 8;

  private static final String LABEL = "label.";

  private final String text;
  private final List<Term> terms;

  private enum Kind {
    CORE,
    ISA,
    IMAGE,
    LABEL;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** One of the values must be the core's. */
  private record Term(Kind kind, String text, Predicate<CoreIdentity> test) {}

  private Selector(String text, List<Term> terms) {
    this.text = text;
    this.terms = terms;
  }

  /**
   * Reads a selector.
   *
   * @throws IllegalArgumentException with fact, value and cure
   */
  public static Selector parse(String text) {
    if (text.length() > LENGTH_MAX) {
      throw new IllegalArgumentException(
          "target of %d characters: at most %d".formatted(text.length(), LENGTH_MAX));
    }
    if (text.equals(ALL.text)) {
      return ALL;
    }
    List<Term> terms = new ArrayList<>();
    for (String part : text.split(",", -1)) {
      terms.add(term(text, part));
    }
    return new Selector(text, List.copyOf(terms));
  }

  private static Term term(String text, String part) {
    int equals = part.indexOf('=');
    if (part.startsWith(LABEL) && equals > LABEL.length()) {
      return label(part.substring(LABEL.length(), equals), part.substring(equals + 1), part, text);
    }
    String name = equals < 0 ? part : part.substring(0, equals);
    Kind kind =
        Arrays.stream(Kind.values())
            .filter(k -> equals > 0 && k.toString().equals(name))
            .findFirst()
            .orElseThrow(() -> new IllegalArgumentException(noTarget(part, text)));
    List<Predicate<CoreIdentity>> alternatives = new ArrayList<>();
    for (String value : part.substring(equals + 1).split("\\|", -1)) {
      if (value.isBlank()) {
        throw new IllegalArgumentException(noTarget(part, text));
      }
      alternatives.add(test(kind, value, text));
    }
    return new Term(kind, part, core -> alternatives.stream().anyMatch(test -> test.test(core)));
  }

  private static Term label(String key, String values, String part, String text) {
    List<Glob> globs = new ArrayList<>();
    for (String value : values.split("\\|", -1)) {
      if (value.isBlank()) {
        throw new IllegalArgumentException(noTarget(part, text));
      }
      globs.add(Glob.parse(value));
    }
    return new Term(
        Kind.LABEL,
        part,
        core -> {
          String value = core.labels().get(key);
          return value != null && globs.stream().anyMatch(glob -> glob.matches(value));
        });
  }

  private static String noTarget(String part, String text) {
    return "no target: '%s'%s; %s"
        .formatted(part, part.equals(text) ? "" : " in '" + text + "'", SYNTAX);
  }

  private static Predicate<CoreIdentity> test(Kind kind, String value, String text) {
    if (kind == Kind.LABEL) {
      int colon = value.indexOf(':');
      if (colon < 1) {
        throw new IllegalArgumentException(noTarget("label=" + value, text));
      }
      String key = value.substring(0, colon);
      Glob glob = Glob.parse(value.substring(colon + 1));
      return core -> core.labels().containsKey(key) && glob.matches(core.labels().get(key));
    }
    Glob glob = Glob.parse(value);
    return kind == Kind.CORE
        ? core -> glob.matches(core.core()) || glob.matches(core.firstName())
        : core -> glob.matches(value(kind, core));
  }

  private static String value(Kind kind, CoreIdentity core) {
    return switch (kind) {
      case CORE -> core.core();
      case ISA -> core.isa();
      case IMAGE -> core.image();
      case LABEL -> throw new IllegalArgumentException("a core has several labels");
    };
  }

  /** True where the core is meant. */
  public boolean matches(CoreIdentity core) {
    return terms.stream().allMatch(term -> term.test().test(core));
  }

  /** Why it selects none of these cores: one sentence that names what there is. */
  public String whyNone(Collection<CoreIdentity> cores) {
    for (Term term : terms) {
      if (cores.stream().noneMatch(term.test())) {
        return "target '%s' selects none of %d cores: %s"
            .formatted(text, cores.size(), thereAre(term, cores));
      }
    }
    return "target '%s' selects none of %d cores: no core is all of it"
        .formatted(text, cores.size());
  }

  private static String thereAre(Term term, Collection<CoreIdentity> cores) {
    List<String> values =
        cores.stream().flatMap(core -> values(term.kind(), core)).distinct().sorted().toList();
    if (values.isEmpty()) {
      return "no core has a label";
    }
    String some = values.stream().limit(LISTED_MAX).collect(Collectors.joining(", "));
    int more = values.size() - LISTED_MAX;
    String name = term.kind() == Kind.LABEL ? "" : term.kind() + "=";
    return "there are %s%s%s".formatted(name, some, more > 0 ? " and %d more".formatted(more) : "");
  }

  private static Stream<String> values(Kind kind, CoreIdentity core) {
    return kind == Kind.LABEL
        ? core.labels().entrySet().stream()
            .map(label -> LABEL + label.getKey() + "=" + label.getValue())
        : Stream.of(value(kind, core));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Selector selector && selector.text.equals(text);
  }

  @Override
  public int hashCode() {
    return text.hashCode();
  }

  /** The text that it was read from. */
  @Override
  public String toString() {
    return text;
  }
}
