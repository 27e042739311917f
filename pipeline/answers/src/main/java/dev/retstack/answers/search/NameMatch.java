package dev.retstack.answers.search;

import dev.retstack.answers.http.BadRequestException;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * What a search finds: a regular expression anywhere in a name, or a plain text where it is none.
 * Upper and lower case are one. The time for a name is bounded, whatever the expression is.
 */
public record NameMatch(String text) {
  /** Characters of a name that are looked at. */
  private static final int NAME_MAX = 4096;

  /** How often an expression may look at a character of one name. */
  private static final int STEPS_MAX = 1 << 20;

  /** A name whose characters can be read that often. */
  private static final class Bounded implements CharSequence {
    private final String name;
    private final int from;
    private final int to;
    private final int[] steps;

    Bounded(String name, int from, int to, int[] steps) {
      this.name = name;
      this.from = from;
      this.to = to;
      this.steps = steps;
    }

    @Override
    public int length() {
      return to - from;
    }

    @Override
    public char charAt(int index) {
      if (++steps[0] > STEPS_MAX) {
        throw tooLong();
      }
      return name.charAt(from + index);
    }

    @Override
    public CharSequence subSequence(int start, int end) {
      return new Bounded(name, from + start, from + end, steps);
    }

    @Override
    public String toString() {
      return name.substring(from, to);
    }
  }

  /** A predicate that matches names. */
  public Predicate<String> compiled() {
    try {
      Pattern pattern = Pattern.compile(text, Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE);
      return name -> finds(pattern, name);
    } catch (PatternSyntaxException e) {
      String plain = text.toLowerCase(Locale.ROOT);
      return name -> name.toLowerCase(Locale.ROOT).contains(plain);
    }
  }

  private static boolean finds(Pattern pattern, String name) {
    try {
      return pattern
          .matcher(new Bounded(name, 0, Math.min(name.length(), NAME_MAX), new int[1]))
          .find();
    } catch (StackOverflowError e) { // java.util.regex calls itself for a repeated choice
      throw tooLong();
    }
  }

  private static BadRequestException tooLong() {
    return new BadRequestException(
        422, "the expression takes too long to try on a name", "search for a simpler one");
  }
}
