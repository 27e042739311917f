package dev.retstack.cli.verb;

import dev.retstack.cli.CommandException;
import dev.retstack.cli.ExitCode;
import dev.retstack.cli.Shutdown;
import dev.retstack.cli.fleet.CoreSpecs;
import dev.retstack.cli.fleet.FleetRun;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.cli.option.CodecOption;
import dev.retstack.cli.option.IsolateOptions;
import dev.retstack.cli.option.KafkaOptions;
import dev.retstack.cli.option.ProgramOptions;
import dev.retstack.fleet.CoreResult;
import dev.retstack.fleet.CoreSpec;
import dev.retstack.fleet.FleetListener;
import dev.retstack.fleet.FleetOptions;
import dev.retstack.fleet.publish.ChunkSink;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code retstack emulate}: the left half of the path, into any Kafka. */
@Command(
    name = "emulate",
    description = {
      "Run instrumented programs on emulated cores and send their records to Kafka.",
      "A core stands still while Kafka does not take its records: nothing is dropped."
    },
    footer = "  retstack emulate --image zoo-riscv64-mcount --cores 2")
public final class EmulateVerb extends Verb {
  @Mixin private ProgramOptions program;

  @Mixin private IsolateOptions isolation;

  @Mixin private CodecOption codec;

  @Option(
      names = "--session",
      paramLabel = "NAME",
      description = "Name of this start of the fleet, fresh each time (default: a random one).")
  private String session;

  @Option(
      names = "--flush-ms",
      defaultValue = "500",
      paramLabel = "MS",
      description = "Longest time records wait for a chunk to be full (default: ${DEFAULT-VALUE}).")
  private long flushMs;

  @Mixin private KafkaOptions kafka;

  @Override
  int run() throws IOException, InterruptedException {
    if (program.images().isEmpty()) {
      throw usage("no image: name one with --image");
    }
    isolation.check(spec());
    List<CoreSpec> cores = CoreSpecs.of(program, terminal());
    KafkaLink link = kafka.link(terminal());
    link.ensureTopics();
    FleetOptions options =
        FleetOptions.standard()
            .withCodec(codec.codec())
            .withFlushInterval(Duration.ofMillis(flushMs));
    if (session != null) {
      options = options.withSession(session);
    }
    List<CoreResult> results;
    try (Shutdown shutdown = Shutdown.install()) {
      ChunkSink sink = shutdown.add(link.openSink());
      note("session " + options.session() + " into " + link.settings().bootstrap());
      FleetRun fleet = new FleetRun(terminal(), shutdown);
      results =
          isolation.isolate()
              ? fleet.run(cores, options, sink, isolation)
              : fleet.run(cores, options, sink, FleetListener.NONE, link.openControl());
      fleet.explain(results);
      close(sink);
    }
    long records = results.stream().mapToLong(CoreResult::records).sum();
    note("%d cores, %,d records in %s".formatted(results.size(), records, link.topics().events()));
    boolean delivered = results.stream().allMatch(result -> result.undelivered().isEmpty());
    return delivered ? ExitCode.OK : ExitCode.ENVIRONMENT;
  }

  /** Only when this returns is every chunk kept. */
  private static void close(ChunkSink sink) {
    try {
      sink.close();
    } catch (IOException e) {
      throw CommandException.environment(e.getMessage(), e);
    }
  }
}
