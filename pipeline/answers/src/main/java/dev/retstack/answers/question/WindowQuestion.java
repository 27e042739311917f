package dev.retstack.answers.question;

import dev.retstack.answers.http.BadRequestException;
import dev.retstack.answers.replay.TraceReplay;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * A question about a time of some cores.
 *
 * @param core their name; empty for any
 * @param session theirs; empty for any
 * @param from first time, where one was given
 * @param to last time, where one was given
 */
public record WindowQuestion(String core, String session, OptionalLong from, OptionalLong to) {
  /** Whether these parameters of a request name a time. */
  public static boolean isTime(Map<String, String> parameters) {
    return parameters.containsKey("from")
        || parameters.containsKey("to")
        || parameters.containsKey("at")
        || parameters.containsKey("window");
  }

  /**
   * What these parameters mean: {@code from} and {@code to}, or {@code at} and {@code window}.
   *
   * @param parameters whose values were checked one by one
   * @throws BadRequestException where they contradict each other
   */
  public static WindowQuestion of(Map<String, String> parameters) {
    OptionalLong at = number(parameters, "at");
    OptionalLong around = number(parameters, "window");
    OptionalLong from = number(parameters, "from");
    OptionalLong to = number(parameters, "to");
    if (at.isPresent() && (from.isPresent() || to.isPresent())) {
      throw new BadRequestException("two times are given", "use at, or from and to, not both");
    }
    if (around.isPresent() && at.isEmpty()) {
      throw new BadRequestException(
          "window %d without a time".formatted(around.getAsLong()), "give at");
    }
    if (at.isPresent()) {
      long time = at.getAsLong();
      long more = around.orElse(0);
      from = OptionalLong.of(Math.max(0, time - more));
      to = OptionalLong.of(time > Long.MAX_VALUE - more ? Long.MAX_VALUE : time + more);
    }
    WindowQuestion question =
        new WindowQuestion(
            parameters.getOrDefault("core", ""), parameters.getOrDefault("session", ""), from, to);
    if (question.first() > question.last()) {
      throw new BadRequestException(
          "from %d is behind to %d".formatted(question.first(), question.last()), "exchange them");
    }
    return question;
  }

  private static OptionalLong number(Map<String, String> parameters, String name) {
    String text = parameters.get(name);
    return text == null ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(text));
  }

  /** Whether all of all cores is meant. */
  public boolean isAll() {
    return core.isEmpty() && session.isEmpty() && from.isEmpty() && to.isEmpty();
  }

  /** First time that is meant. */
  public long first() {
    return from.orElse(0);
  }

  /** Last time that is meant. */
  public long last() {
    return to.orElse(Long.MAX_VALUE);
  }

  /** The window of this question for a trace. */
  public TraceReplay.Window window(boolean counts) {
    return new TraceReplay.Window(
        key ->
            (core.isEmpty() || core.equals(key.core()))
                && (session.isEmpty() || session.equals(key.session())),
        first(),
        last(),
        counts);
  }

  /** The parameters with the time as {@code from} and {@code to}. */
  public Map<String, String> plain(Map<String, String> parameters) {
    Map<String, String> plain = new TreeMap<>(parameters);
    plain.remove("at");
    plain.remove("window");
    from.ifPresent(time -> plain.put("from", String.valueOf(time)));
    to.ifPresent(time -> plain.put("to", String.valueOf(time)));
    return plain;
  }
}
