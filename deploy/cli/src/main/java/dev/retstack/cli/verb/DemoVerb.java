package dev.retstack.cli.verb;

import dev.retstack.answers.question.View;
import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.cli.broker.BrokerProcess;
import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.DataFolder;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.FileTrouble;
import dev.retstack.cli.command.Shutdown;
import dev.retstack.cli.command.Verb;
import dev.retstack.cli.demo.DemoText;
import dev.retstack.cli.fleet.CoreSpecs;
import dev.retstack.cli.fleet.FleetRun;
import dev.retstack.cli.fleet.GuestImages;
import dev.retstack.cli.fleet.ProbeOption;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.cli.kafka.KafkaOptions;
import dev.retstack.cli.result.SourceOptions;
import dev.retstack.cli.trace.FleetCommandRules;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.progress.FleetListener;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.graph.check.Count;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.Grouping;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.report.AnomalySum;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.progress.CoreWatch;
import dev.retstack.service.transfer.KafkaToTrace;
import dev.retstack.unicorn.Unicorn;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code retstack demo}: the whole path with real parts, from guest images to the report. */
@Command(
    name = "demo",
    description = {
      "Run the whole path on this machine and show the result.",
      "It starts a Kafka broker, the pipeline, and a fleet of emulated cores of every ISA"
          + " that runs the program zoo. Then it shows call trees, the report, and every"
          + " anomaly. With --bootstrap or KAFKA_BOOTSTRAP_SERVERS it starts no broker."
    },
    footer = "  retstack demo")
public final class DemoVerb extends Verb {
  private static final long ANSWER_SECONDS = 120;

  @Option(
      names = "--cores",
      defaultValue = "1",
      paramLabel = "N",
      description = "Cores per image (default: ${DEFAULT-VALUE}).")
  private int cores;

  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Folder for its data (default: a new one in ./retstack-data).")
  private Path dir;

  @Option(
      names = "--http-port",
      defaultValue = "0",
      paramLabel = "PORT",
      description =
          "Port of the pipeline's HTTP server on 127.0.0.1; 0 (default) takes any free one.")
  private int httpPort;

  @Option(names = "--keep", description = "Leave broker and pipeline running until Ctrl-C.")
  private boolean keep;

  @Mixin private ProbeOption probe;

  @Mixin private KafkaOptions kafka;

  @Override
  protected int run() throws IOException, InterruptedException {
    List<Path> images = GuestImages.zoo();
    if (images.isEmpty()) {
      throw CommandException.environment("no images of the zoo here: start with ./retstack");
    }
    List<CoreSpec> specs = CoreSpecs.zoo(images, cores, probe.probe());
    Unicorn.load();
    Path folder = DataFolder.choose(dir, "demo");
    note("data in " + folder.toAbsolutePath().normalize());
    try (Shutdown shutdown = Shutdown.install()) {
      KafkaLink link = connect(folder, shutdown);
      Pipeline pipeline = startPipeline(link, shutdown);
      note("pipeline answers at " + pipeline.httpUri());
      FleetOptions options = FleetOptions.standard().withFlushInterval(Duration.ofMillis(200));
      DemoText text = new DemoText(out());
      List<CoreResult> results = runFleet(specs, options, link, shutdown);
      final int ended = new FleetRun(terminal(), shutdown).explain(results);
      text.fleet(specs, results);
      Set<CoreKey> keys =
          specs.stream()
              .map(s -> new CoreKey(options.session(), s.name()))
              .collect(Collectors.toSet());
      CoreWatch.Ended watched =
          await(pipeline.awaitCoresEnded(keys), "the pipeline to read every core to its end");
      if (!watched.dead().isEmpty()) {
        note(
            Count.of(watched.dead().size(), "core is dead", "cores are dead")
                + ": their last chunks never came");
      }
      View view = await(pipeline.view(), "the pipeline's result");
      int code = show(text, view, link, folder.resolve("trace.avro"));
      next(folder, pipeline);
      if (keep) {
        note("broker and pipeline stay up; Ctrl-C ends them. In a browser: " + pipeline.httpUri());
        shutdown.await();
      }
      return code == ExitCode.OK ? ended : code;
    }
  }

  private KafkaLink connect(Path folder, Shutdown shutdown)
      throws IOException, InterruptedException {
    if (kafka.isConfigured(terminal())) {
      KafkaLink given = kafka.link(terminal());
      note("using kafka at " + given.settings().bootstrap());
      if (spec().commandLine().getParseResult().hasMatchedOption("--prefix")) {
        return given;
      }
      // on a cluster that others use, the demo has its own topics
      String prefix = given.topics().prefix() + "-" + folder.getFileName();
      return new KafkaLink(given.settings(), new Topics(prefix));
    }
    note("starting a kafka broker (a separate JVM) ...");
    try {
      BrokerProcess broker = shutdown.add(BrokerProcess.start(folder.resolve("broker"), 0));
      note("kafka broker at " + broker.bootstrap() + ", log " + broker.log());
      return kafka.link(broker.bootstrap(), terminal());
    } catch (IOException e) {
      throw CommandException.environment(e.getMessage(), e);
    }
  }

  private Pipeline startPipeline(KafkaLink link, Shutdown shutdown) throws InterruptedException {
    return shutdown.add(
        PipelineVerb.start(
            PipelineConfig.of(link.settings())
                .but()
                .topics(link.topics())
                .groupId(link.topics().prefix() + "-demo")
                .partitions(KafkaLink.PARTITIONS)
                .http("127.0.0.1", httpPort)
                .commands(new FleetCommandRules(), false)
                .build()));
  }

  private List<CoreResult> runFleet(
      List<CoreSpec> specs, FleetOptions options, KafkaLink link, Shutdown shutdown)
      throws IOException, InterruptedException {
    note(Count.of(specs.size(), "core runs", "cores run") + " the program zoo ...");
    long start = System.nanoTime();
    FleetRun fleet = new FleetRun(terminal(), shutdown);
    ChunkSink sink = shutdown.add(link.openSink());
    List<CoreResult> results = fleet.run(specs, options, sink, FleetListener.NONE);
    sink.close();
    note(
        "%s ended, %s sent in %.1f s"
            .formatted(
                Count.of(results.size(), "core"),
                Count.grouped(results.stream().mapToLong(CoreResult::records).sum(), "record"),
                (System.nanoTime() - start) / 1e9));
    return results;
  }

  /** Shows the live result, and that the recorded one is the same. */
  private int show(DemoText text, View view, KafkaLink link, Path trace)
      throws IOException, InterruptedException {
    Report report = view.report(Optional.empty(), false).by(Grouping.GROUPS);
    text.trees(view.trees(), view.anomalies());
    text.report(report);
    text.anomalies(view.anomalies(AnomalySum.Query.DEFAULT));
    KafkaToTrace.copy(link.settings(), link.topics(), trace, TraceReplay.Progress.SILENT);
    String replayed =
        ReportBuilder.of(SourceOptions.replay(trace, GraphLimits.DEFAULT, terminal()))
            .build()
            .resultHash();
    boolean same = replayed.equals(report.resultHash());
    out()
        .printf(
            "%nlive   %s%nreplay %s  %s%n",
            report.resultHash(), replayed, same ? "same" : "NOT THE SAME");
    out().flush();
    return same ? ExitCode.OK : ExitCode.ENVIRONMENT;
  }

  private void next(Path folder, Pipeline pipeline) {
    String trace = folder.resolve("trace.avro").toString();
    out().println();
    out().println("next:");
    next("graph", trace, "--core", "zoo-riscv64-mcount-0");
    next("anomalies", trace, "--format", "json");
    next("export", trace, "--format", "perfetto", "-o", "trace.perfetto-trace");
    if (keep) {
      next("report", "--live", "--http", pipeline.httpUri().toString());
    } else {
      next("view", trace);
      next("demo", "--keep");
    }
    out().flush();
  }

  private void next(String... words) {
    out().println("  " + command(words));
  }

  private static <T> T await(CompletionStage<T> stage, String what) throws InterruptedException {
    try {
      return stage.toCompletableFuture().get(ANSWER_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw CommandException.environment(
          "no answer while waiting for %s: %s; its log says more"
              .formatted(what, FileTrouble.words(e.getCause())),
          e);
    } catch (TimeoutException e) {
      throw CommandException.environment(
          "waited %d s for %s: see the log with --verbose".formatted(ANSWER_SECONDS, what), e);
    }
  }
}
