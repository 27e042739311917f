package dev.retstack.fleet.settings;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Events to record, as {@code KIND} or {@code KIND:NAME,NAME...}: {@code syscalls}, {@code
 * syscalls:read,write,open*}.
 *
 * @param event the kind
 * @param names which of that kind, by wildcards; empty = all
 */
public record EventRequest(TraceEvent event, List<Glob> names) {
  public EventRequest {
    names = List.copyOf(names);
  }

  /**
   * Reads a request.
   *
   * @throws IllegalArgumentException with fact, value and cure
   */
  public static EventRequest parse(String text) {
    int colon = text.indexOf(':');
    if (colon < 0) {
      return new EventRequest(TraceEvent.parse(text), List.of());
    }
    List<Glob> names =
        Arrays.stream(text.substring(colon + 1).split(",", -1)).map(Glob::parse).toList();
    return new EventRequest(TraceEvent.parse(text.substring(0, colon)), names);
  }

  /** True where an event of the kind with that name is to be recorded. */
  public boolean matches(String name) {
    return names.isEmpty() || names.stream().anyMatch(glob -> glob.matches(name));
  }

  /** The text that {@link #parse} reads. */
  @Override
  public String toString() {
    return names.isEmpty()
        ? event.toString()
        : event + ":" + names.stream().map(Glob::toString).collect(Collectors.joining(","));
  }
}
