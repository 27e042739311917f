package dev.retstack.fleet.settings;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What a core does when a function is entered, as {@code PATTERN:ACTION[:EVENT][:LIMIT]}: {@code
 * panic:traceoff}, {@code vfs_*:stacktrace:5}, {@code main:enable_event:syscalls:1}.
 *
 * @param pattern the functions
 * @param action what is done
 * @param event that is switched on or off; empty for the other actions
 * @param limit how many times, counted over all functions of the pattern; {@link #UNLIMITED}
 */
public record Trigger(
    FunctionPattern pattern, Action action, Optional<TraceEvent> event, int limit) {
  /** Each time. */
  public static final int UNLIMITED = -1;

  /** What a trigger does. */
  public enum Action {
    /** New entries are recorded from here on. */
    TRACEON,
    /** New entries are recorded no more. */
    TRACEOFF,
    /** The flight recorder's records are sent. */
    SNAPSHOT,
    /** The open frames are recorded. */
    STACKTRACE,
    /** A kind of events is recorded from here on. */
    ENABLE_EVENT,
    /** A kind of events is recorded no more. */
    DISABLE_EVENT;

    boolean takesEvent() {
      return this == ENABLE_EVENT || this == DISABLE_EVENT;
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public Trigger {
    if (action.takesEvent() != event.isPresent()) {
      throw new IllegalArgumentException(
          action.takesEvent()
              ? "%s without an event: say '%s:%s:syscalls'".formatted(action, pattern, action)
              : "%s takes no event: leave '%s' out".formatted(action, event.orElseThrow()));
    }
    if (limit < UNLIMITED || limit == 0) {
      throw new IllegalArgumentException(
          "limit %d of %s:%s: at least 1; leave it out for each time"
              .formatted(limit, pattern, action));
    }
  }

  /**
   * Reads a trigger.
   *
   * @throws IllegalArgumentException with fact, value and cure
   */
  public static Trigger parse(String text) {
    List<String> parts = Arrays.asList(text.split(":", -1));
    for (int i = parts.size() - 1; i > 0; i--) { // a pattern may hold colons: from the right
      Optional<Action> action = action(parts.get(i));
      if (action.isPresent()) {
        String pattern = String.join(":", parts.subList(0, i));
        return of(text, pattern, action.get(), parts.subList(i + 1, parts.size()));
      }
    }
    throw new IllegalArgumentException(
        "not a trigger: '%s'; write FUNCTION:ACTION, the action is %s"
            .formatted(
                text,
                Arrays.stream(Action.values())
                    .map(Action::toString)
                    .collect(Collectors.joining(", "))));
  }

  private static Optional<Action> action(String name) {
    return Arrays.stream(Action.values()).filter(a -> a.toString().equals(name)).findFirst();
  }

  private static Trigger of(String text, String pattern, Action action, List<String> rest) {
    List<String> left = rest;
    Optional<TraceEvent> event = Optional.empty();
    if (action.takesEvent() && !left.isEmpty()) {
      event = Optional.of(TraceEvent.parse(left.getFirst()));
      left = left.subList(1, left.size());
    }
    int limit = UNLIMITED;
    if (!left.isEmpty()) {
      limit = limit(text, left.getFirst());
      left = left.subList(1, left.size());
    }
    if (!left.isEmpty()) {
      throw new IllegalArgumentException(
          "'%s' left over in trigger '%s': a limit is the last part"
              .formatted(String.join(":", left), text));
    }
    return new Trigger(FunctionPattern.parse(pattern), action, event, limit);
  }

  private static int limit(String text, String part) {
    try {
      int limit = Integer.parseInt(part);
      if (limit > 0) {
        return limit;
      }
    } catch (NumberFormatException e) {
      // reported below
    }
    throw new IllegalArgumentException(
        "no limit: '%s' in trigger '%s'; say a number of times from 1 to %d"
            .formatted(part, text, Integer.MAX_VALUE));
  }

  /** The text that {@link #parse} reads. */
  @Override
  public String toString() {
    return pattern
        + ":"
        + action
        + event.map(e -> ":" + e).orElse("")
        + (limit == UNLIMITED ? "" : ":" + limit);
  }
}
