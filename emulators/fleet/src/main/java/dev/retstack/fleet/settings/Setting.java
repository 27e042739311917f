package dev.retstack.fleet.settings;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The parts of {@link TraceSettings} that a command sets, each from a list of texts. A command
 * replaces the earlier value; without a text it is as at {@link TraceSettings#standard}.
 */
public enum Setting {
  FILTER(
      "set-filter",
      (s, texts) -> s.withFilters(all(texts, FunctionPattern::parse)),
      TraceSettings::filters),
  NOTRACE(
      "set-notrace",
      (s, texts) -> s.withNotraces(all(texts, FunctionPattern::parse)),
      TraceSettings::notraces),
  GRAPH_FUNCTION(
      "set-graph-function",
      (s, texts) -> s.withGraphFunctions(all(texts, FunctionPattern::parse)),
      TraceSettings::graphFunctions),
  GRAPH_NOTRACE(
      "set-graph-notrace",
      (s, texts) -> s.withGraphNotraces(all(texts, FunctionPattern::parse)),
      TraceSettings::graphNotraces),
  MAX_DEPTH(
      "set-max-depth",
      (s, texts) -> s.withMaxDepth((int) number(texts, Integer.MAX_VALUE)),
      s -> List.of(s.maxDepth())),
  MIN_DURATION(
      "set-min-duration",
      (s, texts) -> s.withMinDuration(number(texts, Long.MAX_VALUE)),
      s -> List.of(s.minDuration())),
  TRACER(
      "set-tracer",
      (s, texts) ->
          s.withTracer(one(texts).map(Tracer::parse).orElse(TraceSettings.standard().tracer())),
      s -> List.of(s.tracer())),
  TRIGGER(
      "set-trigger",
      (s, texts) -> s.withTriggers(all(texts, Trigger::parse)),
      TraceSettings::triggers),
  ARGUMENTS(
      "set-arguments",
      (s, texts) -> s.withArguments(all(texts, ValueRequest::parseArguments)),
      TraceSettings::arguments),
  RETURNS(
      "set-returns",
      (s, texts) -> s.withReturns(all(texts, ValueRequest::parseReturn)),
      TraceSettings::returns),
  EVENTS(
      "set-events",
      (s, texts) -> s.withEvents(all(texts, EventRequest::parse)),
      TraceSettings::events),
  TASKS(
      "set-tasks", (s, texts) -> s.withTasks(all(texts, TaskPattern::parse)), TraceSettings::tasks),
  NOTASKS(
      "set-notasks",
      (s, texts) -> s.withNotasks(all(texts, TaskPattern::parse)),
      TraceSettings::notasks),
  FLIGHT_RECORDER(
      "set-flight-recorder",
      (s, texts) -> s.withFlightRecorder((int) number(texts, TraceSettings.FLIGHT_RECORDER_MAX)),
      s -> List.of(s.flightRecorder()));

  /** Most texts of one setting. */
  public static final int TEXTS_MAX = 10_000;

  /** Most characters of one setting's wildcards; see {@link FunctionPattern#characters}. */
  public static final int CHARACTERS_MAX = 1 << 17;

  private final String command;
  private final Put put;
  private final Function<TraceSettings, List<?>> values;

  private interface Put {
    TraceSettings in(TraceSettings settings, List<String> texts);
  }

  Setting(String command, Put put, Function<TraceSettings, List<?>> values) {
    this.command = command;
    this.put = put;
    this.values = values;
  }

  private static <T> List<T> all(List<String> texts, Function<String, T> parse) {
    if (texts.size() > TEXTS_MAX) {
      throw new IllegalArgumentException(
          "%d values: at most %d; say them by wildcards".formatted(texts.size(), TEXTS_MAX));
    }
    long characters = characters(texts);
    if (characters > CHARACTERS_MAX) {
      throw new IllegalArgumentException(
          "wildcards of %,d characters, repeats written out: at most %,d; say fewer, or repeat less"
              .formatted(characters, CHARACTERS_MAX));
    }
    return texts.stream().map(parse).toList();
  }

  /** Of all these texts, as {@link FunctionPattern#characters} has it. */
  public static long characters(List<String> texts) {
    return texts.stream().mapToLong(FunctionPattern::characters).sum();
  }

  /** As many of these as a message names. */
  static List<String> few(List<String> texts) {
    return texts.size() > 3 ? texts.subList(0, 3) : texts;
  }

  private static Optional<String> one(List<String> texts) {
    if (texts.size() > 1) {
      throw new IllegalArgumentException(
          "%d values %s: one at most".formatted(texts.size(), few(texts)));
    }
    return texts.stream().findFirst();
  }

  private static long number(List<String> texts, long most) {
    String text = one(texts).orElse("0");
    try {
      long number = Long.parseLong(text);
      if (number >= 0 && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // reported below
    }
    throw new IllegalArgumentException(
        "no number: '%s'; say 0 for none, or up to %d".formatted(text, most));
  }

  /** The command that sets it. */
  public String command() {
    return command;
  }

  /** The setting of a command; empty where the command sets none. */
  public static Optional<Setting> of(String command) {
    return Arrays.stream(values()).filter(s -> s.command.equals(command)).findFirst();
  }

  /**
   * Settings with this part of them anew.
   *
   * @throws IllegalArgumentException with fact, value and cure
   */
  public TraceSettings put(TraceSettings settings, List<String> texts) {
    return put.in(settings, texts);
  }

  /** The texts by which {@link #put} makes this part what it is; none where it is as standard. */
  public List<String> texts(TraceSettings settings) {
    List<?> now = values.apply(settings);
    return now.equals(values.apply(TraceSettings.standard()))
        ? List.of()
        : now.stream().map(Object::toString).toList();
  }

  /** The functions that this part of the settings names, in its order. */
  public List<FunctionPattern> patterns(TraceSettings settings) {
    return values.apply(settings).stream().flatMap(Setting::pattern).toList();
  }

  /** The events that this part of the settings names, in its order. */
  public List<Glob> events(TraceSettings settings) {
    return values.apply(settings).stream()
        .filter(EventRequest.class::isInstance)
        .flatMap(request -> ((EventRequest) request).names().stream())
        .toList();
  }

  private static Stream<FunctionPattern> pattern(Object value) {
    return switch (value) {
      case FunctionPattern pattern -> Stream.of(pattern);
      case Trigger trigger -> Stream.of(trigger.pattern());
      case ValueRequest request -> Stream.of(request.pattern());
      default -> Stream.empty();
    };
  }

  /** All parts that differ from {@link TraceSettings#standard}: the command and its texts. */
  public static Map<String, List<String>> allTexts(TraceSettings settings) {
    Map<String, List<String>> all = new LinkedHashMap<>();
    for (Setting setting : values()) {
      List<String> texts = setting.texts(settings);
      if (!texts.isEmpty()) {
        all.put(setting.command, texts);
      }
    }
    return all;
  }

  /**
   * The settings that {@link #allTexts} wrote, which are on.
   *
   * @throws IllegalArgumentException with fact, value and cure
   */
  public static TraceSettings settings(Map<String, List<String>> texts) {
    TraceSettings settings = TraceSettings.standard();
    for (Map.Entry<String, List<String>> part : texts.entrySet()) {
      settings = Order.parse(part.getKey(), part.getValue()).apply(settings, settings);
    }
    return settings;
  }

  /** What differs from {@link TraceSettings#standard}, as commands: {@code set-filter vfs_*}. */
  public static List<String> lines(TraceSettings settings) {
    List<String> lines = new ArrayList<>();
    allTexts(settings).forEach((name, texts) -> lines.add(name + " " + String.join(" ", texts)));
    if (!settings.on()) {
      lines.add(Order.OFF.name());
    }
    return List.copyOf(lines);
  }
}
