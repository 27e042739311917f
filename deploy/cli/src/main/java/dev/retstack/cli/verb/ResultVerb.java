package dev.retstack.cli.verb;

import dev.retstack.cli.ExitCode;
import dev.retstack.cli.option.FormatOption;
import dev.retstack.cli.option.KafkaOptions;
import dev.retstack.cli.option.TimeOptions;
import dev.retstack.cli.source.SourceOptions;
import dev.retstack.graph.aggregate.GraphLimits;
import dev.retstack.graph.aggregate.GraphState;
import dev.retstack.service.table.Format;
import java.io.IOException;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Mixin;

/** What the verbs have in common that show a result: of a trace, or of a running pipeline. */
abstract class ResultVerb extends Verb {
  private static final TimeOptions ALL_TIME = new TimeOptions();

  @Mixin private SourceOptions source;
  @Mixin private FormatOption format;
  @Mixin private KafkaOptions kafka;

  @Override
  final int run() throws Exception {
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
          "%s: a pipeline adds totals up as it goes; give this to retstack pipeline, or a trace here"
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
