package dev.retstack.cli.verb;

import dev.retstack.cli.ExitCode;
import dev.retstack.cli.option.Format;
import dev.retstack.cli.option.FormatOption;
import dev.retstack.cli.source.PipelineClient;
import dev.retstack.cli.source.SourceOptions;
import dev.retstack.graph.aggregate.GraphLimits;
import dev.retstack.graph.aggregate.GraphState;
import java.io.IOException;
import java.io.InputStream;
import java.util.Locale;
import picocli.CommandLine.Mixin;

/** What the verbs have in common that show a result: of a trace, or of a running pipeline. */
abstract class ResultVerb extends Verb {
  @Mixin private SourceOptions source;
  @Mixin private FormatOption format;

  @Override
  final int run() throws Exception {
    if (source.problem() != null) {
      throw usage(source.problem());
    }
    return source.live() ? live() : show(source.replay(limits(), terminal()), format.format());
  }

  /** Shows the result of a trace; returns one of {@link ExitCode}. */
  abstract int show(GraphState state, Format shape) throws IOException;

  /** Path and query of the pipeline's answer, without the format. */
  abstract String path();

  /** What a trace may make grow. */
  GraphLimits limits() {
    return GraphLimits.DEFAULT;
  }

  /** Passes on what the running pipeline answers. */
  int live() throws IOException, InterruptedException {
    String shape = format.format().name().toLowerCase(Locale.ROOT);
    String separator = path().contains("?") ? "&" : "?";
    try (PipelineClient pipeline = source.pipeline();
        InputStream body = pipeline.get(path() + separator + "format=" + shape)) {
      body.transferTo(out());
    }
    return ExitCode.OK;
  }

  final PipelineClient pipeline() {
    return source.pipeline();
  }
}
