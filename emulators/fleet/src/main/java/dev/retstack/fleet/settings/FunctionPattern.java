package dev.retstack.fleet.settings;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;
import java.util.regex.Matcher;

/**
 * Which functions are meant. Texts:
 *
 * <pre>
 * vfs_read            the function of that name
 * vfs_*  w20?_[0-9]   names by wildcards, see {@link Glob}
 * /^vfs_(read|open)$/ names in which the regular expression (RE2) is found
 * 0x8000              the call site at that address
 * 0x8000-0x8fff       call sites from the first to the last address
 * section:.init.text  functions of sections by wildcards
 * image:fw-*.elf      functions of programs by wildcards
 * </pre>
 *
 * <p>Two patterns are equal when their texts are.
 */
public final class FunctionPattern {
  /** Longest text, in characters. */
  public static final int LENGTH_MAX = 1024;

  private static final java.util.regex.Pattern REPEAT =
      java.util.regex.Pattern.compile("\\{(\\d+)(?:,(\\d*))?}");

  private static final String SECTION = "section:";
  private static final String IMAGE = "image:";

  private final String text;
  private final Predicate<PatternSubject> test;
  private final Optional<String> name;
  private final OptionalLong site;

  private FunctionPattern(String text, Predicate<PatternSubject> test) {
    this(text, test, Optional.empty(), OptionalLong.empty());
  }

  private FunctionPattern(
      String text, Predicate<PatternSubject> test, Optional<String> name, OptionalLong site) {
    this.text = text;
    this.test = test;
    this.name = name;
    this.site = site;
  }

  /**
   * Reads a pattern.
   *
   * @throws IllegalArgumentException with fact, value and cure
   */
  public static FunctionPattern parse(String text) {
    if (text.length() > LENGTH_MAX) {
      throw new IllegalArgumentException(
          "pattern of %d characters: at most %d; say several shorter ones"
              .formatted(text.length(), LENGTH_MAX));
    }
    if (text.startsWith("@")) {
      throw new IllegalArgumentException(
          "file of names '%s': only the command line reads files; say the names".formatted(text));
    }
    if (text.startsWith("/")) {
      return regex(text);
    }
    if (text.startsWith("0x")) {
      return range(text);
    }
    if (text.startsWith(SECTION)) {
      Glob glob = glob(text, text.substring(SECTION.length()));
      return new FunctionPattern(text, s -> glob.matches(s.section()));
    }
    if (text.startsWith(IMAGE)) {
      Glob glob = glob(text, text.substring(IMAGE.length()));
      return new FunctionPattern(text, s -> glob.matches(s.image()));
    }
    Glob glob = glob(text, text);
    return glob.isName()
        ? new FunctionPattern(
            text, s -> s.names().is(text::equals), Optional.of(text), OptionalLong.empty())
        : new FunctionPattern(text, s -> s.names().is(glob::matches));
  }

  /**
   * Reads several patterns that stand in one text, separated by blanks or commas. A regular
   * expression stands alone.
   *
   * @throws IllegalArgumentException with fact, value and cure
   */
  public static List<FunctionPattern> parseAll(String text) {
    if (text.startsWith("/")) {
      return List.of(parse(text));
    }
    return Arrays.stream(text.split("[,\\s]+"))
        .filter(part -> !part.isEmpty())
        .map(FunctionPattern::parse)
        .toList();
  }

  /**
   * Characters that a text with wildcards has once its repeats are written out, and each of them
   * takes memory; none of a plain name. Repeats inside of repeats multiply: {@code
   * /((a{100}){100}){100}/} has a million.
   */
  static long characters(String text) {
    if (!text.startsWith("/") && text.chars().noneMatch(c -> c == '*' || c == '?' || c == '[')) {
      return 0;
    }
    double all = text.length();
    Matcher repeat = REPEAT.matcher(text);
    while (repeat.find()) {
      String most = repeat.group(2);
      all *= Math.max(1, Double.parseDouble(repeat.group(1)));
      all *= most == null || most.isEmpty() ? 1 : Math.max(1, Double.parseDouble(most));
    }
    return (long) Math.min(all, Integer.MAX_VALUE);
  }

  private static Glob glob(String text, String glob) {
    if (glob.isEmpty() || glob.chars().anyMatch(c -> c <= ' ' || c == 0x7f)) {
      throw new IllegalArgumentException(
          "no pattern: '%s'; say a name, 'vfs_*', '/regex/', '0x8000-0x8fff', 'section:NAME' or"
                  .formatted(text)
              + " 'image:NAME'");
    }
    return Glob.parse(glob);
  }

  private static FunctionPattern regex(String text) {
    if (text.length() < 3 || !text.endsWith("/")) {
      throw new IllegalArgumentException(
          "regular expression without an end or empty: '%s'; say '/EXPRESSION/'".formatted(text));
    }
    String expression = text.substring(1, text.length() - 1);
    try {
      Pattern pattern = Pattern.compile(expression);
      return new FunctionPattern(text, s -> s.names().is(name -> pattern.matcher(name).find()));
    } catch (PatternSyntaxException e) {
      throw new IllegalArgumentException(
          "no regular expression: '%s': %s; it takes RE2 syntax, without back references"
              .formatted(text, e.getDescription()),
          e);
    }
  }

  private static FunctionPattern range(String text) {
    int dash = text.indexOf('-');
    long first = address(text, dash < 0 ? text : text.substring(0, dash));
    long last = dash < 0 ? first : address(text, text.substring(dash + 1));
    if (Long.compareUnsigned(first, last) > 0) {
      throw new IllegalArgumentException(
          "range '%s' ends before it begins: say the lower address first".formatted(text));
    }
    return new FunctionPattern(
        text,
        s ->
            Long.compareUnsigned(first, s.site()) <= 0 && Long.compareUnsigned(s.site(), last) <= 0,
        Optional.empty(),
        first == last ? OptionalLong.of(first) : OptionalLong.empty());
  }

  private static long address(String text, String part) {
    try {
      if (part.startsWith("0x") && part.length() > 2 && part.charAt(2) != '+') {
        return Long.parseUnsignedLong(part.substring(2), 16);
      }
    } catch (NumberFormatException e) {
      // reported below
    }
    throw new IllegalArgumentException(
        "no address: '%s' in '%s'; say 0x and up to 16 hexadecimal digits".formatted(part, text));
  }

  /** True where the function is meant. */
  public boolean matches(PatternSubject subject) {
    return test.test(subject);
  }

  /** The one name that it stands for; empty for all other forms. */
  public Optional<String> name() {
    return name;
  }

  /** The one address that it stands for; empty for all other forms. */
  public OptionalLong site() {
    return site;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof FunctionPattern pattern && pattern.text.equals(text);
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
