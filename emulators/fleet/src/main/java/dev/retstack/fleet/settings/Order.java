package dev.retstack.fleet.settings;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a command says is to be done, without who said it and to whom. */
public sealed interface Order {
  /** Longest argument, in characters: a pattern, and what a trigger has behind it. */
  int TEXT_LENGTH_MAX = 2 * FunctionPattern.LENGTH_MAX;

  /** New entries are recorded. */
  Plain ON = new Plain("on");

  /** New entries are not recorded. */
  Plain OFF = new Plain("off");

  /** The settings are again those that the core was started with. */
  Plain RESET = new Plain("reset");

  /** The flight recorder's records are sent. */
  Plain SNAPSHOT = new Plain("snapshot");

  /** The core says what it traces. */
  Plain STATUS = new Plain("status");

  /** As it stands in a command. */
  String name();

  /** What is set; empty where nothing is. */
  List<String> arguments();

  /**
   * The settings after it.
   *
   * @param now before it
   * @param start those that the core was started with
   */
  TraceSettings apply(TraceSettings now, TraceSettings start);

  /** True where it may change settings: later cores do it too. */
  boolean lasts();

  /** A setting is set anew. */
  record Set(Setting setting, List<String> arguments) implements Order {
    public Set {
      arguments = List.copyOf(arguments);
      var _ = setting.put(TraceSettings.standard(), arguments); // throws where it makes no sense
    }

    @Override
    public String name() {
      return setting.command();
    }

    @Override
    public TraceSettings apply(TraceSettings now, TraceSettings start) {
      return setting.put(now, arguments);
    }

    @Override
    public boolean lasts() {
      return true;
    }
  }

  /** An order without arguments: one of the constants. */
  record Plain(String name) implements Order {
    @Override
    public List<String> arguments() {
      return List.of();
    }

    @Override
    public TraceSettings apply(TraceSettings now, TraceSettings start) {
      if (equals(RESET)) {
        return start;
      }
      return lasts() ? now.withOn(equals(ON)) : now;
    }

    @Override
    public boolean lasts() {
      return equals(ON) || equals(OFF) || equals(RESET);
    }
  }

  /**
   * Reads an order.
   *
   * @throws IllegalArgumentException with fact, value and cure
   */
  static Order parse(String name, List<String> arguments) {
    for (String text : arguments) {
      if (text.length() > TEXT_LENGTH_MAX) {
        throw new IllegalArgumentException(
            "argument of %d characters: at most %d".formatted(text.length(), TEXT_LENGTH_MAX));
      }
    }
    for (Plain plain : List.of(ON, OFF, RESET, SNAPSHOT, STATUS)) {
      if (plain.name().equals(name)) {
        if (!arguments.isEmpty()) {
          throw new IllegalArgumentException(
              "%s takes no arguments: leave %s out".formatted(name, Setting.few(arguments)));
        }
        return plain;
      }
    }
    Setting setting =
        Setting.of(name)
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "no such command: '%s'; there are %s"
                            .formatted(
                                name.substring(0, Math.min(name.length(), TEXT_LENGTH_MAX)),
                                names())));
    try {
      return new Set(setting, arguments);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(name + ": " + e.getMessage(), e);
    }
  }

  private static String names() {
    return Stream.concat(
            Arrays.stream(Setting.values()).map(Setting::command),
            Stream.of(ON, OFF, RESET, SNAPSHOT, STATUS).map(Plain::name))
        .collect(Collectors.joining(", "));
  }
}
