package dev.retstack.fleet.settings;

import dev.retstack.schema.record.ValuesDepth;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Values to record with the calls of some functions: {@code NAME@arg1,arg3/x} asks for arguments,
 * {@code NAME/d} for the return value. The format, which may be left out, is for who shows them:
 * records hold the registers as they are.
 *
 * @param pattern the functions
 * @param numbers of the arguments, from 1, ascending; empty where the return value is asked for
 * @param format how they are shown
 */
public record ValueRequest(FunctionPattern pattern, List<Integer> numbers, Format format) {
  /** Highest number of an argument: most ISAs pass this number in registers, none more. */
  public static final int ARGUMENT_MAX = 8;

  private static final String ARGUMENT = "arg";

  /** How a value is shown. */
  public enum Format {
    /** {@code d}: signed. */
    SIGNED('d', ValuesDepth.SIGNED),
    /** {@code u}: unsigned. */
    UNSIGNED('u', ValuesDepth.UNSIGNED),
    /** {@code x}: hexadecimal. */
    HEX('x', ValuesDepth.HEX),
    /** {@code e}: by the name of the error where it is one, else signed. */
    ERRNO('e', ValuesDepth.ERRNO),
    /** Not said: signed where it is small, else hexadecimal. */
    AUTO(' ', ValuesDepth.AUTO);

    private final char letter;
    private final int code;

    Format(char letter, int code) {
      this.letter = letter;
      this.code = code;
    }

    /** What says so in a record: see {@link ValuesDepth}. */
    public int code() {
      return code;
    }
  }

  public ValueRequest {
    numbers = numbers.stream().sorted().distinct().toList();
    if (!numbers.isEmpty() && (numbers.getFirst() < 1 || numbers.getLast() > ARGUMENT_MAX)) {
      throw new IllegalArgumentException(
          "arguments %s of %s: from arg1 to arg%d".formatted(numbers, pattern, ARGUMENT_MAX));
    }
  }

  /**
   * Reads a request for arguments: {@code NAME@arg1,arg2/x}.
   *
   * @throws IllegalArgumentException with fact, value and cure
   */
  public static ValueRequest parseArguments(String text) {
    int at = text.lastIndexOf('@');
    if (at <= 0) {
      throw new IllegalArgumentException(
          "no arguments named: '%s'; say which, such as '%s@arg1,arg2'".formatted(text, text));
    }
    String list = text.substring(at + 1);
    int slash = list.indexOf('/');
    List<Integer> numbers =
        Arrays.stream((slash < 0 ? list : list.substring(0, slash)).split(",", -1))
            .map(name -> number(text, name))
            .toList();
    Format format = slash < 0 ? Format.AUTO : format(text, list.substring(slash + 1));
    return new ValueRequest(FunctionPattern.parse(text.substring(0, at)), numbers, format);
  }

  /**
   * Reads a request for return values: {@code NAME} or {@code NAME/x}.
   *
   * @throws IllegalArgumentException with fact, value and cure
   */
  public static ValueRequest parseReturn(String text) {
    int slash = text.lastIndexOf('/');
    boolean regex = text.startsWith("/");
    if (slash <= 0 || (regex && slash == text.length() - 1)) { // the slash that ends a regex
      return new ValueRequest(FunctionPattern.parse(text), List.of(), Format.AUTO);
    }
    return new ValueRequest(
        FunctionPattern.parse(text.substring(0, slash)),
        List.of(),
        format(text, text.substring(slash + 1)));
  }

  private static int number(String text, String name) {
    if (name.startsWith(ARGUMENT) && name.length() == ARGUMENT.length() + 1) {
      int number = name.charAt(ARGUMENT.length()) - '0';
      if (number >= 1 && number <= ARGUMENT_MAX) {
        return number;
      }
    }
    throw new IllegalArgumentException(
        "no argument: '%s' in '%s'; say arg1 to arg%d".formatted(name, text, ARGUMENT_MAX));
  }

  private static Format format(String text, String letter) {
    return Arrays.stream(Format.values())
        .filter(f -> f != Format.AUTO && letter.equals(String.valueOf(f.letter)))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no format: '%s' in '%s'; say d (signed), u (unsigned), x (hexadecimal) or e"
                            .formatted(letter, text)
                        + " (error name)"));
  }

  /** The text that it is read from. */
  @Override
  public String toString() {
    String list =
        numbers.isEmpty()
            ? ""
            : numbers.stream().map(n -> ARGUMENT + n).collect(Collectors.joining(",", "@", ""));
    return pattern + list + (format == Format.AUTO ? "" : "/" + format.letter);
  }
}
