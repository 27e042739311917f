package dev.retstack.answers.http;

import dev.retstack.graph.input.Grouping;
import java.util.Arrays;
import java.util.List;

/**
 * A parameter of a question, and its allowed values.
 *
 * @param name as in the query
 * @param description what it does, for the API's document
 * @param allowed the only texts allowed; empty for any
 * @param least smallest number allowed, where it is one
 * @param most greatest number allowed; below {@code least} where it is a text
 */
public record Parameter(
    String name, String description, List<String> allowed, long least, long most) {
  /** Longest text of a parameter. */
  public static final int TEXT_MAX = 1024;

  static final Parameter FORMAT =
      oneOf("format", "form of the answer (default: json)", "json", "csv", "text");
  public static final Parameter UNIT =
      oneOf(
          "unit",
          "figures of the cores that count in this unit (default: the one of most records;"
              + " otherUnits tells how many cores count in the other)",
          "instructions",
          "nanoseconds");
  static final Parameter WHAT =
      oneOf(
          "what",
          "states, how far the cores came, totals, where the chunks of a core stand in events, that"
              + " and what it did when, or how fast the member worked lately",
          "state",
          "cores",
          "totals",
          "places",
          "tiles",
          "history");
  static final Parameter SORT =
      oneOf(
          "sort",
          "order of the functions, greatest first (default: calls)",
          "calls",
          "self",
          "total");
  public static final Parameter CORE = text("core", "of this core only");
  static final Parameter SESSION = text("session", "of this session only");
  static final Parameter SESSIONS_SUMMED =
      oneOf(
          "sessions",
          "several sessions stand apart, or are added up (default: apart)",
          "apart",
          "sum");
  static final Parameter TASK =
      text("task", "of this task only: its id, unsigned, in decimal or hex (0x...); or its name");
  static final Parameter FUNCTION =
      text("function", "calls of this function only: any name that its image has for it");
  static final Parameter MATCH =
      text(
          "match",
          "functions of which a name has this in it: a regular expression, or a plain text where it"
              + " is none; case is ignored (default: all)");
  static final Parameter PLACES =
      number(
          "limit",
          "places at most, each with the calls it stands for (default: 16384)",
          1,
          1 << 16);
  static final Parameter IN =
      text("in", "what stands in this node of the stacks: the in of a row [left out]");
  static final Parameter KIND = text("kind", "of this kind only, such as LOST");
  static final Parameter SEVERITY =
      oneOf("severity", "a less severe kind is one row (default: warning)", "warning", "error");
  static final Parameter FUNCTIONS =
      oneOf(
          "rows",
          "what a row is: a function of a program, or of each of its images (default: groups)",
          Grouping.GROUPS.text(),
          Grouping.BY_IMAGE.text());
  static final Parameter ROWS =
      oneOf(
          "rows",
          "what a row is: a kind, function and place of a program, of each of its images, or of each"
              + " task; or each anomaly that was kept, with its time and stack (default: groups)",
          Arrays.stream(Grouping.values()).map(Grouping::text).toArray(String[]::new));
  static final Parameter AS =
      oneOf(
          "as",
          "rows of JSON as objects, or column by column, each text once: a fourth of the bytes"
              + " (default: objects)",
          "objects",
          "columns");
  static final Parameter APART =
      oneOf(
          "apart",
          "tasks, ISAs or cores stand apart (default: none)",
          "none",
          "task",
          "isa",
          "core");
  static final Parameter NODES =
      number("limit", "nodes, so many of the widest (default: 10000)", 1, 1 << 20);
  static final Parameter DEPTH = number("depth", "levels of calls shown", 1, Integer.MAX_VALUE);
  static final Parameter LINES =
      number("depth", "lines of a core at most, outer calls first (default: 64)", 1, 256);
  static final Parameter WIDTH =
      number(
          "width",
          "stretches of time at most, each as long as a power of two (default: 100)",
          1,
          4096);
  static final Parameter DETAIL =
      oneOf(
          "detail",
          "where tiles are longer than a stretch: read chunks, or answer with such tiles at once and"
              + " say COARSE (default: chunks)",
          "chunks",
          "tiles");
  public static final Parameter FROM =
      number("from", "calls that had not ended before this time of their core", 0, Long.MAX_VALUE);
  static final Parameter TO =
      number("to", "calls that had begun by this time of their core", 0, Long.MAX_VALUE);
  static final Parameter AT =
      number("at", "what was open at this time of the core", 0, Long.MAX_VALUE);
  static final Parameter WINDOW =
      number("window", "with at: also what was so long before and after it", 0, Long.MAX_VALUE);
  static final Parameter COMMAND = text("command", "what to do, as retstack trace has it");
  static final Parameter TARGET = text("target", "which cores (default: all)");
  static final Parameter ARGUMENTS = text("arguments", "what is set, one text a line");
  static final Parameter LAST =
      number("limit", "the last commands, so many (default: 100)", 1, 1000);
  static final Parameter LIMIT = number("limit", "rows in this answer at most", 1, Page.ROWS_MAX);
  static final Parameter OFFSET =
      number("offset", "rows left out before the first", 0, Integer.MAX_VALUE);

  public Parameter {
    allowed = List.copyOf(allowed);
  }

  private static Parameter oneOf(String name, String description, String... allowed) {
    return new Parameter(name, description, List.of(allowed), 1, 0);
  }

  private static Parameter text(String name, String description) {
    return new Parameter(name, description, List.of(), 1, 0);
  }

  private static Parameter number(String name, String description, long least, long most) {
    return new Parameter(name, description, List.of(), least, most);
  }

  public boolean isNumber() {
    return least <= most;
  }

  /**
   * Accepts a value.
   *
   * @throws BadRequestException naming the value and what is allowed
   */
  void check(String value) {
    if (value.length() > TEXT_MAX) {
      throw new BadRequestException(
          "%s of %d characters".formatted(name, value.length()), "use at most " + TEXT_MAX);
    }
    if (!allowed.isEmpty() && allowed.stream().noneMatch(value::equalsIgnoreCase)) {
      throw new BadRequestException("unknown %s %s".formatted(name, value), "use " + choice());
    }
    if (isNumber()) {
      checkNumber(value);
    }
  }

  private void checkNumber(String value) {
    String cure = "use a whole number from %d to %d".formatted(least, most);
    long number;
    try {
      number = Long.parseLong(value);
    } catch (NumberFormatException e) {
      throw new BadRequestException("%s '%s' is not a number".formatted(name, value), cure);
    }
    if (number < least || number > most) {
      throw new BadRequestException("%s %d".formatted(name, number), cure);
    }
  }

  private String choice() {
    int last = allowed.size() - 1;
    return String.join(", ", allowed.subList(0, last)) + " or " + allowed.get(last);
  }
}
