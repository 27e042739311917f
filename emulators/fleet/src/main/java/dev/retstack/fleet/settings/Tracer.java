package dev.retstack.fleet.settings;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** What becomes of a call of the counting function. */
public enum Tracer {
  /** Nothing. */
  NOP,
  /** The entry is recorded: who called whom, and when. The return address stays as it is. */
  FUNCTION,
  /** Entry and exit are recorded: the return address is hijacked. */
  FUNCTION_GRAPH;

  /**
   * The tracer of that name.
   *
   * @throws IllegalArgumentException which names them all
   */
  public static Tracer parse(String name) {
    return Arrays.stream(values())
        .filter(tracer -> tracer.toString().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no such tracer: '%s'; there are %s".formatted(name, names())));
  }

  private static String names() {
    return Arrays.stream(values()).map(Tracer::toString).collect(Collectors.joining(", "));
  }

  /** The name, as ftrace spells it: {@code function_graph}. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
