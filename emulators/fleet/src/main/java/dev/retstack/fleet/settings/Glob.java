package dev.retstack.fleet.settings;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;

/**
 * Text with wildcards: {@code *} any text, {@code ?} a character, {@code [a-c_]} one of these,
 * {@code [!a-c]} none of these. The whole name must match, case-sensitive.
 *
 * <p>Matching takes time linear in the name for any pattern, because patterns come through Kafka.
 */
public final class Glob {
  private final String text;
  private final Pattern pattern;

  private Glob(String text, Pattern pattern) {
    this.text = text;
    this.pattern = pattern;
  }

  /**
   * Reads a glob; text without wildcards is one too.
   *
   * @throws IllegalArgumentException where it is empty, a bracket does not close, or a range in one
   *     is the wrong way round
   */
  public static Glob parse(String text) {
    if (text.isEmpty()) {
      throw new IllegalArgumentException("empty name: say '*' for all");
    }
    try {
      return new Glob(text, Pattern.compile(expression(text), Pattern.DOTALL));
    } catch (PatternSyntaxException e) {
      throw new IllegalArgumentException(
          "no range: '%s' in '%s'; say the lower character first".formatted(e.getPattern(), text),
          e);
    }
  }

  private static String expression(String text) {
    StringBuilder expression = new StringBuilder();
    int at = 0;
    while (at < text.length()) {
      int c = text.codePointAt(at);
      if (c == '[') {
        int close = text.indexOf(']', at + 2); // one right behind the bracket is a member
        if (close < 0) {
          throw new IllegalArgumentException(
              "'[' without ']' in '%s': close it, or write '?' for any character".formatted(text));
        }
        expression.append(members(text.substring(at + 1, close)));
        at = close + 1;
      } else {
        switch (c) {
          case '*' -> expression.append(".*");
          case '?' -> expression.append('.');
          default -> expression.append(Pattern.quote(Character.toString(c)));
        }
        at += Character.charCount(c);
      }
    }
    return expression.toString();
  }

  private static String members(String inside) {
    boolean not = inside.length() > 1 && inside.charAt(0) == '!';
    StringBuilder members = new StringBuilder(not ? "[^" : "[");
    for (char c : inside.substring(not ? 1 : 0).toCharArray()) {
      if ("\\[]^&".indexOf(c) >= 0) {
        members.append('\\');
      }
      members.append(c);
    }
    return members.append(']').toString();
  }

  /** True where all of the name is as the glob says. */
  public boolean matches(String name) {
    return pattern.matches(name);
  }

  /** True where it names one thing: no wildcard in it. */
  public boolean isName() {
    return text.chars().noneMatch(c -> c == '*' || c == '?' || c == '[');
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Glob glob && glob.text.equals(text);
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
