package dev.retstack.cli.result;

import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.FormatOption;
import dev.retstack.cli.command.Verb;
import dev.retstack.cli.kafka.KafkaOptions;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.state.GraphState;
import dev.retstack.service.table.Format;
import java.io.IOException;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Mixin;

/** What all verbs share that show a result of a trace or of a running pipeline. */
abstract class ResultVerb extends Verb {
  private static final TimeOptions ALL_TIME = new TimeOptions();

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
    if (!source.live()) {
      return show(source.replay(state(), terminal()), format.format());
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

  /** Which time counts. */
  TimeOptions time() {
    return ALL_TIME;
  }

  /** Where words alone were asked for, prints them, and nothing is shown. */
  boolean explains() {
    return false;
  }

  /** Shows the result of a trace; returns one of {@link ExitCode}. */
  abstract int show(GraphState state, Format shape) throws IOException;

  /** Name of the pipeline's answer. */
  abstract String resource();

  /** Parameters of the pipeline's answer, without the format. */
  Map<String, String> parameters() {
    return Map.of();
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
