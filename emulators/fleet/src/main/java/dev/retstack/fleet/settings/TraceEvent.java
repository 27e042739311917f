package dev.retstack.fleet.settings;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Kinds of events beside functions. */
public enum TraceEvent {
  /** Entry to and exit from system calls. */
  SYSCALLS;

  /**
   * The kind of that name.
   *
   * @throws IllegalArgumentException which names them all
   */
  public static TraceEvent parse(String name) {
    return Arrays.stream(values())
        .filter(event -> event.toString().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no such event: '%s'; there are %s"
                        .formatted(
                            name,
                            Arrays.stream(values())
                                .map(TraceEvent::toString)
                                .collect(Collectors.joining(", ")))));
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
