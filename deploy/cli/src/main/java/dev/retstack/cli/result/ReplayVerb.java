package dev.retstack.cli.result;

import dev.retstack.answers.table.CutOff;
import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import dev.retstack.answers.table.Units;
import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.FormatOption;
import dev.retstack.cli.command.Output;
import dev.retstack.cli.command.ProgressLine;
import dev.retstack.cli.command.Verb;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.cli.kafka.KafkaOptions;
import dev.retstack.graph.check.Count;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.report.AnomalySum;
import dev.retstack.graph.report.CoreRow;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.file.CorruptTraceException;
import dev.retstack.service.transfer.TraceToKafka;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code retstack replay}: a recorded trace through the code of the live pipeline. */
@Command(
    name = "replay",
    description = {
      "Send a recorded trace through the code of the live pipeline, and show the totals.",
      "With --into-kafka: send its images and chunks to a cluster, as the fleet did."
    },
    footer = {
      "  retstack record --image zoo-x86_64-fentry -o trace.avro",
      "  retstack replay trace.avro"
    })
public final class ReplayVerb extends Verb {
  private static final Table<Map.Entry<String, Object>> FIGURES =
      new Table<Map.Entry<String, Object>>()
          .text("figure", Map.Entry::getKey)
          .text("value", Map.Entry::getValue)
          .headedAsNamed();

  @Parameters(index = "0", paramLabel = "TRACE", description = "A recorded trace.")
  private Path trace;

  @Option(names = "--into-kafka", description = "Send the trace to the events topic instead.")
  private boolean intoKafka;

  @Option(
      names = "--session",
      paramLabel = "NAME",
      description = "Only cores of this session (default: the sums of all, and how many they are).")
  private String session;

  @Mixin private UnitOption unit;
  @Mixin private KafkaOptions kafka;
  @Mixin private FormatOption format;

  @Override
  protected int run() throws Exception {
    if (intoKafka && session != null) {
      throw usage(
          "--session: --into-kafka sends a whole trace; choose the session by retstack cut");
    }
    return intoKafka ? send() : replay();
  }

  private int replay() throws IOException {
    long start = System.nanoTime();
    WindowOptions window = new WindowOptions().of(session);
    GraphState state =
        SourceOptions.replay(
            trace,
            new GraphState(GraphLimits.DEFAULT.withTreeCallsPerCore(0)),
            window.counted(),
            new SymbolOptions(),
            terminal());
    window.require(state);
    Report report = ReportBuilder.of(state).in(unit.unit()).summed(true).build();
    double seconds = (System.nanoTime() - start) / 1e9;
    Map<String, Object> figures =
        Document.object(
            "unit",
            report.unit().name().toLowerCase(Locale.ROOT),
            "sessions",
            report.cores().stream().map(CoreRow::session).distinct().count(),
            "cores",
            report.cores().size(),
            "records",
            report.records(),
            "lost",
            report.lost(),
            "untraced",
            report.untraced(),
            "completeness",
            report.completeness(),
            "functions",
            report.functions().size(),
            "anomalies",
            ReportBuilder.of(state).anomalies(AnomalySum.Query.DEFAULT).stream()
                .mapToLong(AnomalySum::times)
                .sum(),
            "resultHash",
            report.resultHash());
    List<Map.Entry<String, Object>> rows = List.copyOf(figures.entrySet());
    Document document = new Document().indented();
    Units.lines(report.units(), document);
    document.csv(FIGURES, rows).text(FIGURES, rows);
    figures.forEach(document::field);
    Units.others(report.units(), document);
    Output.write(out(), format.format(), CutOff.ahead(state.isCut(), document));
    note("%s in %.1f s".formatted(Count.grouped(report.records(), "record"), seconds));
    return ExitCode.OK;
  }

  private int send() throws IOException, InterruptedException {
    KafkaLink link = kafka.link(terminal());
    TraceToKafka.Sent sent;
    try (ProgressLine line = new ProgressLine(terminal())) {
      sent =
          TraceToKafka.send(
              trace, link.settings(), link.topics(), link.partitions(), line.chunks("sent"));
    } catch (NoSuchFileException e) {
      throw CommandException.badInput("no such trace: " + trace, e);
    } catch (CorruptTraceException e) {
      throw CommandException.badInput(e.getMessage(), e);
    }
    if (!sent.notice().isEmpty()) {
      note(sent.notice());
    }
    note(
        "%s with %s in %s"
            .formatted(
                Count.grouped(sent.chunks(), "chunk"),
                Count.grouped(sent.records(), "record"),
                link.topics().events()));
    return ExitCode.OK;
  }
}
