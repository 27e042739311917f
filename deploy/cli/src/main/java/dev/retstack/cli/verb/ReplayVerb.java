package dev.retstack.cli.verb;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.retstack.cli.CommandException;
import dev.retstack.cli.ExitCode;
import dev.retstack.cli.fleet.ProgressLine;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.cli.option.FormatOption;
import dev.retstack.cli.option.KafkaOptions;
import dev.retstack.cli.option.Tables;
import dev.retstack.cli.source.SourceOptions;
import dev.retstack.graph.aggregate.GraphLimits;
import dev.retstack.graph.aggregate.GraphState;
import dev.retstack.graph.report.AnomalySum;
import dev.retstack.graph.report.Report;
import dev.retstack.schema.file.CorruptTraceException;
import dev.retstack.service.replay.TraceToKafka;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code retstack replay}: a recorded trace through the code of the live pipeline. */
@Command(
    name = "replay",
    description = {
      "Send a recorded trace through the same code as a live one and say what it came to.",
      "With --into-kafka: send its images and chunks to a cluster, as the fleet did."
    },
    footer = {
      "  retstack record --image zoo-x86_64-fentry -o trace.avro",
      "  retstack replay trace.avro"
    })
public final class ReplayVerb extends Verb {
  @Parameters(index = "0", paramLabel = "TRACE", description = "A recorded trace.")
  private Path trace;

  @Option(names = "--into-kafka", description = "Send it to the events topic instead.")
  private boolean intoKafka;

  @Mixin private KafkaOptions kafka;
  @Mixin private FormatOption format;

  @Override
  int run() throws Exception {
    return intoKafka ? send() : replay();
  }

  private int replay() throws IOException {
    long start = System.nanoTime();
    GraphState state =
        SourceOptions.replay(trace, GraphLimits.DEFAULT.withTreeCallsPerCore(0), terminal());
    Report report = state.report();
    double seconds = (System.nanoTime() - start) / 1e9;
    ObjectNode summary = Tables.JSON.createObjectNode();
    summary
        .put("unit", report.unit().name().toLowerCase(Locale.ROOT))
        .put("cores", report.cores().size())
        .put("records", report.records())
        .put("lost", report.lost())
        .put("untraced", report.untraced())
        .put("completeness", report.completeness())
        .put("functions", report.functions().size())
        .put(
            "anomalies",
            state.anomalies(AnomalySum.Query.ALL).stream().mapToLong(AnomalySum::times).sum())
        .put("resultHash", report.resultHash());
    List<List<String>> rows =
        summary.properties().stream().map(e -> List.of(e.getKey(), e.getValue().asText())).toList();
    switch (format.format()) {
      case TEXT -> Tables.text(out(), List.of("figure", "value"), rows);
      case CSV -> Tables.csv(out(), List.of("figure", "value"), rows);
      case JSON -> Tables.json(out(), summary);
    }
    note("%,d records in %.1f s".formatted(report.records(), seconds));
    return ExitCode.OK;
  }

  private int send() throws IOException, InterruptedException {
    KafkaLink link = kafka.link(terminal());
    TraceToKafka.Sent sent;
    try (ProgressLine line = new ProgressLine(terminal())) {
      sent =
          TraceToKafka.send(
              trace,
              link.settings(),
              link.topics(),
              link.partitions(),
              (chunks, records) ->
                  line.show("%,d records in %,d chunks sent".formatted(records, chunks)));
    } catch (NoSuchFileException e) {
      throw CommandException.badInput("no such trace: " + trace, e);
    } catch (CorruptTraceException e) {
      throw CommandException.badInput(e.getMessage(), e);
    }
    if (!sent.truncation().isEmpty()) {
      note(sent.truncation());
    }
    note(
        "%,d chunks with %,d records in %s"
            .formatted(sent.chunks(), sent.records(), link.topics().events()));
    return ExitCode.OK;
  }
}
