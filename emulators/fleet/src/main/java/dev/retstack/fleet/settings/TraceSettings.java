package dev.retstack.fleet.settings;

import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
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
    int flightRecorder) {

  /** Most records that a flight recorder keeps. */
  public static final int FLIGHT_RECORDER_MAX = 1 << 20;

  private static final TraceSettings STANDARD = new Edit().settings();

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

  public TraceSettings withOn(boolean value) {
    return with(edit -> edit.on = value);
  }

  public TraceSettings withTracer(Tracer value) {
    return with(edit -> edit.tracer = value);
  }

  public TraceSettings withFilters(List<FunctionPattern> value) {
    return with(edit -> edit.filters = value);
  }

  public TraceSettings withNotraces(List<FunctionPattern> value) {
    return with(edit -> edit.notraces = value);
  }

  public TraceSettings withGraphFunctions(List<FunctionPattern> value) {
    return with(edit -> edit.graphFunctions = value);
  }

  public TraceSettings withGraphNotraces(List<FunctionPattern> value) {
    return with(edit -> edit.graphNotraces = value);
  }

  public TraceSettings withMaxDepth(int value) {
    return with(edit -> edit.maxDepth = value);
  }

  public TraceSettings withMinDuration(long value) {
    return with(edit -> edit.minDuration = value);
  }

  public TraceSettings withTriggers(List<Trigger> value) {
    return with(edit -> edit.triggers = value);
  }

  public TraceSettings withArguments(List<ValueRequest> value) {
    return with(edit -> edit.arguments = value);
  }

  public TraceSettings withReturns(List<ValueRequest> value) {
    return with(edit -> edit.returns = value);
  }

  public TraceSettings withEvents(List<EventRequest> value) {
    return with(edit -> edit.events = value);
  }

  public TraceSettings withTasks(List<TaskPattern> value) {
    return with(edit -> edit.tasks = value);
  }

  public TraceSettings withNotasks(List<TaskPattern> value) {
    return with(edit -> edit.notasks = value);
  }

  public TraceSettings withFlightRecorder(int value) {
    return with(edit -> edit.flightRecorder = value);
  }

  private TraceSettings with(Consumer<Edit> change) {
    Edit edit = new Edit();
    edit.on = on;
    edit.tracer = tracer;
    edit.filters = filters;
    edit.notraces = notraces;
    edit.graphFunctions = graphFunctions;
    edit.graphNotraces = graphNotraces;
    edit.maxDepth = maxDepth;
    edit.minDuration = minDuration;
    edit.triggers = triggers;
    edit.arguments = arguments;
    edit.returns = returns;
    edit.events = events;
    edit.tasks = tasks;
    edit.notasks = notasks;
    edit.flightRecorder = flightRecorder;
    change.accept(edit);
    return edit.settings();
  }

  /** Settings in the making. */
  private static final class Edit {
    private boolean on = true;
    private Tracer tracer = Tracer.FUNCTION_GRAPH;
    private List<FunctionPattern> filters = List.of();
    private List<FunctionPattern> notraces = List.of();
    private List<FunctionPattern> graphFunctions = List.of();
    private List<FunctionPattern> graphNotraces = List.of();
    private int maxDepth;
    private long minDuration;
    private List<Trigger> triggers = List.of();
    private List<ValueRequest> arguments = List.of();
    private List<ValueRequest> returns = List.of();
    private List<EventRequest> events = List.of();
    private List<TaskPattern> tasks = List.of();
    private List<TaskPattern> notasks = List.of();
    private int flightRecorder;

    private TraceSettings settings() {
      return new TraceSettings(
          on,
          tracer,
          filters,
          notraces,
          graphFunctions,
          graphNotraces,
          maxDepth,
          minDuration,
          triggers,
          arguments,
          returns,
          events,
          tasks,
          notasks,
          flightRecorder);
    }
  }
}
