package dev.retstack.fleet.settings;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * What a core traces. Immutable.
 *
 * @param on false: no new entries; what is hijacked already exits all the same
 * @param tracer what becomes of an entry
 * @param filters only these functions; empty = all
 * @param notraces not these functions, whatever the filters say
 * @param graphFunctions only these functions and what is called below them; empty = everything
 * @param graphNotraces neither these functions nor what is called below them
 * @param maxDepth entries at this depth of ret_stack and deeper are left alone; 0 = none
 * @param minDuration calls shorter than this leave no records, in units of the core's clock; 0 =
 *     every call does
 * @param triggers what happens when a function is entered
 * @param arguments that are recorded with an entry
 * @param returns functions whose return value is recorded with the exit
 * @param events recorded beside functions
 * @param tasks only calls of these tasks; empty = of all
 * @param notasks not calls of these tasks, whatever {@code tasks} says
 * @param flightRecorder the core keeps only this number of latest records, until it is asked for
 *     them; 0 = it sends all
 */
@RecordBuilder
public record TraceSettings(
    boolean on,
    Tracer tracer,
    List<FunctionPattern> filters,
    List<FunctionPattern> notraces,
    List<FunctionPattern> graphFunctions,
    List<FunctionPattern> graphNotraces,
    int maxDepth,
    long minDuration,
    List<Trigger> triggers,
    List<ValueRequest> arguments,
    List<ValueRequest> returns,
    List<EventRequest> events,
    List<TaskPattern> tasks,
    List<TaskPattern> notasks,
    int flightRecorder)
    implements TraceSettingsBuilder.With {

  /** Most records that a flight recorder keeps. */
  public static final int FLIGHT_RECORDER_MAX = 1 << 20;

  private static final TraceSettings STANDARD =
      new TraceSettings(
          true,
          Tracer.FUNCTION_GRAPH,
          List.of(),
          List.of(),
          List.of(),
          List.of(),
          0,
          0,
          List.of(),
          List.of(),
          List.of(),
          List.of(),
          List.of(),
          List.of(),
          0);

  public TraceSettings {
    filters = List.copyOf(filters);
    notraces = List.copyOf(notraces);
    graphFunctions = List.copyOf(graphFunctions);
    graphNotraces = List.copyOf(graphNotraces);
    triggers = List.copyOf(triggers);
    arguments = List.copyOf(arguments);
    returns = List.copyOf(returns);
    events = List.copyOf(events);
    tasks = List.copyOf(tasks);
    notasks = List.copyOf(notasks);
    if (maxDepth < 0 || minDuration < 0) {
      throw new IllegalArgumentException(
          "maximum depth %d, minimum duration %d: 0 for none, or more"
              .formatted(maxDepth, minDuration));
    }
    if (flightRecorder < 0 || flightRecorder > FLIGHT_RECORDER_MAX) {
      throw new IllegalArgumentException(
          "flight recorder of %d records: 0 for none, or up to %d"
              .formatted(flightRecorder, FLIGHT_RECORDER_MAX));
    }
  }

  /** Every call of every function, entry and exit. */
  public static TraceSettings standard() {
    return STANDARD;
  }

  /** Which functions are to be recorded, as far as filters and notraces say. */
  public Predicate<PatternSubject> selected() {
    PatternSet left = new PatternSet(notraces);
    return filters.isEmpty() ? left.negate() : new PatternSet(filters).and(left.negate());
  }

  /** True where calls of a task are to be recorded; the task as {@link TaskPattern} knows it. */
  public boolean selectsTask(long task, String symbol) {
    return (tasks.isEmpty() || tasks.stream().anyMatch(p -> p.matches(task, symbol)))
        && notasks.stream().noneMatch(p -> p.matches(task, symbol));
  }

  /** What is asked for of a kind of events; the first request of it counts. */
  public Optional<EventRequest> event(TraceEvent kind) {
    return events.stream().filter(request -> request.event() == kind).findFirst();
  }
}
