package dev.retstack.fleet.isolate;

import dev.retstack.fleet.control.EventRequest;
import dev.retstack.fleet.control.FunctionPattern;
import dev.retstack.fleet.control.TraceSettings;
import dev.retstack.fleet.control.Tracer;
import dev.retstack.fleet.control.Trigger;
import dev.retstack.fleet.control.ValueRequest;
import java.util.List;
import java.util.function.Function;

/** {@link TraceSettings} of one core on their way to its process: every part as its text. */
record TracePart(
    boolean on,
    Tracer tracer,
    List<String> filters,
    List<String> notraces,
    List<String> graphFunctions,
    List<String> graphNotraces,
    int maxDepth,
    long minDuration,
    List<String> triggers,
    List<String> arguments,
    List<String> returns,
    List<String> events,
    int flightRecorder) {

  static TracePart of(TraceSettings settings) {
    return new TracePart(
        settings.on(),
        settings.tracer(),
        texts(settings.filters()),
        texts(settings.notraces()),
        texts(settings.graphFunctions()),
        texts(settings.graphNotraces()),
        settings.maxDepth(),
        settings.minDuration(),
        texts(settings.triggers()),
        texts(settings.arguments()),
        texts(settings.returns()),
        texts(settings.events()),
        settings.flightRecorder());
  }

  private static List<String> texts(List<?> values) {
    return values.stream().map(Object::toString).toList();
  }

  TraceSettings settings() {
    return new TraceSettings(
        on,
        tracer,
        parsed(filters, FunctionPattern::parse),
        parsed(notraces, FunctionPattern::parse),
        parsed(graphFunctions, FunctionPattern::parse),
        parsed(graphNotraces, FunctionPattern::parse),
        maxDepth,
        minDuration,
        parsed(triggers, Trigger::parse),
        parsed(arguments, ValueRequest::parseArguments),
        parsed(returns, ValueRequest::parseReturn),
        parsed(events, EventRequest::parse),
        flightRecorder);
  }

  private static <T> List<T> parsed(List<String> texts, Function<String, T> parser) {
    return texts.stream().map(parser).toList();
  }
}
