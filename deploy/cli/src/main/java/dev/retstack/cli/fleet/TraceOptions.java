package dev.retstack.cli.fleet;

import dev.retstack.cli.command.CommandException;
import dev.retstack.fleet.settings.Order;
import dev.retstack.fleet.settings.Setting;
import dev.retstack.fleet.settings.SiteCatalog;
import dev.retstack.fleet.settings.TraceSettings;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Option;

/** What is traced from the start: the settings of {@code retstack trace} as options. */
public final class TraceOptions {
  @Option(
      names = "--filter",
      paramLabel = "PATTERN",
      description =
          "Trace only these functions. PATTERN is a name, 'vfs_*', '/regex/', 0x8000-0x8fff,"
              + " section:NAME, image:NAME, or @FILE with such words. May be repeated, as may all"
              + " options that take PATTERN.")
  private final List<String> filters = new ArrayList<>();

  @Option(
      names = "--notrace",
      paramLabel = "PATTERN",
      description = "Do not trace these functions.")
  private final List<String> notraces = new ArrayList<>();

  @Option(
      names = "--graph-filter",
      paramLabel = "PATTERN",
      description = "Trace only these functions and what they call.")
  private final List<String> graphFunctions = new ArrayList<>();

  @Option(
      names = "--graph-notrace",
      paramLabel = "PATTERN",
      description = "Trace neither these functions nor what they call.")
  private final List<String> graphNotraces = new ArrayList<>();

  @Option(
      names = "--max-depth",
      paramLabel = "N",
      description = "Trace only calls that are nested at most N deep.")
  private String maxDepth;

  @Option(
      names = "--min-duration",
      paramLabel = "T",
      description = "Leave out calls shorter than T, in units of the clock.")
  private String minDuration;

  @Option(
      names = "--tracer",
      paramLabel = "TRACER",
      description =
          "function_graph (default): entries and exits; function: only entries; nop: nothing.")
  private String tracer;

  @Option(
      names = {"-A", "--argument"},
      paramLabel = "NAME@arg1,arg2/F",
      description =
          "Record these arguments of a function. F: x hexadecimal, d signed, u unsigned, e"
              + " error number. May be repeated, as may -R, --trigger and --event.")
  private final List<String> arguments = new ArrayList<>();

  @Option(
      names = {"-R", "--return"},
      paramLabel = "NAME/F",
      description = "Record what a function returns.")
  private final List<String> returns = new ArrayList<>();

  @Option(
      names = "--trigger",
      paramLabel = "NAME:ACTION[:N]",
      description =
          "Do this when the function is entered, the first N times: traceon, traceoff,"
              + " snapshot, stacktrace, enable_event:EVENT or disable_event:EVENT.")
  private final List<String> triggers = new ArrayList<>();

  @Option(
      names = "--event",
      paramLabel = "EVENT",
      description = "Record system calls, too: syscalls, or syscalls:NAME,...")
  private final List<String> events = new ArrayList<>();

  @Option(
      names = "--task",
      paramLabel = "TASK",
      description =
          "Trace only calls of these tasks, by their number in reports; a core begins with"
              + " task 0. With --task-variable also by name, such as 'task_*'. May be repeated, as"
              + " may --notask.")
  private final List<String> tasks = new ArrayList<>();

  @Option(names = "--notask", paramLabel = "TASK", description = "Do not trace these tasks.")
  private final List<String> notasks = new ArrayList<>();

  @Option(
      names = "--flight-recorder",
      paramLabel = "N",
      description = "Keep only the last N records. They are sent on a snapshot and at the end.")
  private String flightRecorder;

  @Option(
      names = "--start",
      paramLabel = "STATE",
      description = "on (default); with off nothing is traced until \"retstack trace on\".")
  private String start;

  /** What the user asked for. */
  public TraceSettings settings() {
    Map<Setting, List<String>> asked = new EnumMap<>(Setting.class);
    asked.put(Setting.FILTER, filters);
    asked.put(Setting.NOTRACE, notraces);
    asked.put(Setting.GRAPH_FUNCTION, graphFunctions);
    asked.put(Setting.GRAPH_NOTRACE, graphNotraces);
    asked.put(Setting.MAX_DEPTH, one(maxDepth));
    asked.put(Setting.MIN_DURATION, one(minDuration));
    asked.put(Setting.TRACER, one(tracer));
    asked.put(Setting.ARGUMENTS, arguments);
    asked.put(Setting.RETURNS, returns);
    asked.put(Setting.TRIGGER, triggers);
    asked.put(Setting.EVENTS, events);
    asked.put(Setting.TASKS, tasks);
    asked.put(Setting.NOTASKS, notasks);
    asked.put(Setting.FLIGHT_RECORDER, one(flightRecorder));
    TraceSettings settings = TraceSettings.standard();
    for (Map.Entry<Setting, List<String>> part : asked.entrySet()) {
      try {
        settings = part.getKey().put(settings, NameFiles.expand(part.getValue()));
      } catch (IllegalArgumentException e) {
        throw CommandException.badInput(
            part.getKey().toString().toLowerCase(Locale.ROOT).replace('_', '-')
                + ": "
                + e.getMessage(),
            e);
      }
    }
    return settings.withOn(isOn());
  }

  private boolean isOn() {
    for (Order.Plain state : List.of(Order.ON, Order.OFF)) {
      if (start == null || state.name().equals(start)) {
        return state.equals(Order.ON);
      }
    }
    throw CommandException.badInput("start: no such state: '%s'; use on or off".formatted(start));
  }

  private static List<String> one(String text) {
    return text == null ? List.of() : List.of(text);
  }

  /**
   * Refuses what means no function or system call of any image: a misprint would trace nothing.
   *
   * @param catalogs of the images
   * @throws CommandException which names near names
   */
  static void check(TraceSettings settings, List<SiteCatalog> catalogs) {
    if (catalogs.isEmpty()) {
      return;
    }
    for (Setting setting : Setting.values()) {
      setting.patterns(settings).stream()
          .filter(pattern -> catalogs.stream().noneMatch(sites -> sites.has(pattern)))
          .findFirst()
          .ifPresent(
              pattern -> {
                throw CommandException.badInput(catalogs.getFirst().whyNone(pattern));
              });
      setting.events(settings).stream()
          .filter(name -> catalogs.stream().noneMatch(sites -> sites.hasEvent(name)))
          .findFirst()
          .ifPresent(
              name -> {
                throw CommandException.badInput(catalogs.getFirst().whyNoEvent(name));
              });
    }
  }
}
