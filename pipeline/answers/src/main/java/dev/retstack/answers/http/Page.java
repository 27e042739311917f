package dev.retstack.answers.http;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The part of a list that an answer holds. Nothing is cut unasked: a list that is too long for one
 * answer is refused without a limit.
 *
 * @param rows the part, which may be made when it is read
 * @param offset rows before it
 * @param of rows of the whole list
 */
public record Page<T>(List<T> rows, int offset, int of) {
  /** Header of an answer that can be had in parts: {@code offset=0; rows=100; of=4711}. */
  public static final String HEADER = "Retstack-Page";

  /** Rows of one answer at most. */
  public static final int ROWS_MAX = 50_000;

  /**
   * The part that the parameters ask for.
   *
   * @param what the rows are, for a message
   * @throws BadRequestException where there are too many for one answer and no limit is given
   */
  public static <T> Page<T> of(List<T> all, String what, Map<String, String> parameters) {
    int offset = Math.min(number(parameters, "offset", 0), all.size());
    int limit = number(parameters, "limit", -1);
    int left = all.size() - offset;
    requireFew(limit, left, what);
    int end = limit < 0 ? all.size() : offset + Math.min(limit, left);
    return new Page<>(Collections.unmodifiableList(all.subList(offset, end)), offset, all.size());
  }

  /**
   * A page of rows that are made one after the other; only the page is kept.
   *
   * @throws BadRequestException where there are too many for one answer and no limit is given
   */
  public static <T> Page<T> of(Stream<T> all, String what, Map<String, String> parameters) {
    int offset = number(parameters, "offset", 0);
    int limit = number(parameters, "limit", -1);
    List<T> part = new ArrayList<>();
    int[] count = {0};
    all.forEach(
        row -> {
          int place = count[0]++ - offset;
          if (place >= 0 && place < (limit < 0 ? ROWS_MAX : limit)) {
            part.add(row);
          }
        });
    requireFew(limit, count[0] - offset, what);
    return new Page<>(Collections.unmodifiableList(part), Math.min(offset, count[0]), count[0]);
  }

  private static void requireFew(int limit, int left, String what) {
    if (limit < 0 && left > ROWS_MAX) {
      throw new BadRequestException(
          "%d %s, of which one answer holds %d at most".formatted(left, what, ROWS_MAX),
          "add limit=%d and offset=0, then %d, ...".formatted(ROWS_MAX, ROWS_MAX));
    }
  }

  private static int number(Map<String, String> parameters, String name, int otherwise) {
    String text = parameters.get(name);
    return text == null ? otherwise : Integer.parseInt(text);
  }

  /** Value of {@link #HEADER}. */
  public String header() {
    return "offset=%d; rows=%d; of=%d".formatted(offset, rows.size(), of);
  }
}
