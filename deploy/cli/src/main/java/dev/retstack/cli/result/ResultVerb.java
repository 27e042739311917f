package dev.retstack.cli.result;

import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.answers.table.CutOff;
import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Format;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.FormatOption;
import dev.retstack.cli.command.Output;
import dev.retstack.cli.command.Verb;
import dev.retstack.cli.kafka.KafkaOptions;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.state.GraphState;
import java.io.IOException;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import picocli.CommandLine.Mixin;

/** What all verbs share that show a result of a trace or of a running pipeline. */
abstract class ResultVerb extends Verb {
  private static final TimeOptions ALL_TIME = new TimeOptions();

  private final WindowOptions all = new WindowOptions();

  @Mixin private SourceOptions source;
  @Mixin private FormatOption format;
  @Mixin private KafkaOptions kafka;

  @Override
  protected final int run() throws Exception {
    if (explains()) {
      return ExitCode.OK;
    }
    if (source.problem() != null) {
      throw usage(source.problem());
    }
    if (!window().problem().isEmpty()) {
      throw usage(window().problem());
    }
    if (!source.live()) {
      var _ = window().of(source.session());
    }
    if (showsOther(source, format.format())) {
      return ExitCode.OK;
    }
    if (!source.live()) {
      GraphState state = source.replay(state(), part(), terminal());
      window().require(state);
      return show(state, format.format());
    }
    if (!time().given().isEmpty()) {
      throw usage(
          "%s: a running pipeline has added up its totals already; give this to retstack pipeline, or read a trace"
              .formatted(time().given()));
    }
    return live();
  }

  /** What a trace is replayed into. */
  GraphState state() {
    return new GraphState(limits(), time().rules());
  }

  /** Which core and which time is shown. */
  WindowOptions window() {
    return all;
  }

  /** What is read of a trace for that; empty: all of it. */
  Optional<TraceReplay.Window> part() {
    return window().counted();
  }

  /** Which time counts. */
  TimeOptions time() {
    return ALL_TIME;
  }

  /** Where words alone were asked for, prints them, and nothing is shown. */
  boolean explains() {
    return false;
  }

  /** Shows what needs no state of all calls; false where that was not asked for. */
  boolean showsOther(SourceOptions from, Format shape) throws IOException {
    return false;
  }

  /** Shows the result of a trace; returns one of {@link ExitCode}. */
  abstract int show(GraphState state, Format shape) throws IOException;

  /** Writes what is shown of a state, behind what is to be said of all of it. */
  final void write(GraphState state, Format shape, Document shown) throws IOException {
    Output.write(out(), shape, CutOff.ahead(state.isCut(), shown));
  }

  /** Name of the pipeline's answer. */
  abstract String resource();

  /** Parameters of the pipeline's answer, without the format. */
  Map<String, String> parameters() {
    return window().parameters();
  }

  /** What a trace may make grow. */
  GraphLimits limits() {
    return GraphLimits.DEFAULT;
  }

  /** Passes on what the running pipeline answers. */
  int live() throws IOException, InterruptedException {
    out().print(ask(format.format()));
    return ExitCode.OK;
  }

  /** Asks the running pipeline. */
  final String ask(Format shape) throws InterruptedException {
    Map<String, String> all = new TreeMap<>(parameters());
    all.put("format", shape.name().toLowerCase(Locale.ROOT));
    return source.ask(resource(), all, kafka, terminal());
  }
}
