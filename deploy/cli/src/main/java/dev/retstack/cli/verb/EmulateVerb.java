package dev.retstack.cli.verb;

import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.Shutdown;
import dev.retstack.cli.command.Verb;
import dev.retstack.cli.fleet.FleetRun;
import dev.retstack.cli.fleetfile.CoreChoice;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.graph.check.Count;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code retstack emulate}: the left half of the path, into any Kafka cluster. */
@Command(
    name = "emulate",
    description = {
      "Run instrumented programs on emulated cores and send their records to Kafka.",
      "A core waits while Kafka does not take its records: nothing is dropped. Ctrl-C or"
          + " TERM ends the cores in order: what they recorded is sent, and the totals are"
          + " shown.",
      "Exit codes: 0 done, or with --exit-code that of the program; 4 Kafka did not take"
          + " all records, 6 a core faulted, 7 nothing was recorded, 8 a core waits for an"
          + " interrupt that never comes; 130 or 143 after Ctrl-C or TERM."
    },
    footer = {
      "  retstack emulate --image zoo-riscv64-mcount --cores 2 --label rack=7",
      "  retstack emulate --fleet fleet.conf"
    })
public final class EmulateVerb extends Verb {
  @Mixin private CoreChoice choice;

  @Option(
      names = "--exit-code",
      description = "End with the exit code of the first program that does not end with 0.")
  private boolean exitCode;

  @Override
  protected int run() throws IOException, InterruptedException {
    if (!choice.isMade()) {
      throw usage("no image: name one with --image, or a fleet file with --fleet");
    }
    CoreChoice.Chosen chosen = choice.choose(spec(), terminal());
    KafkaLink link = chosen.run().kafka().link(terminal());
    link.ensureTopics();
    FleetOptions options = chosen.run().intoKafka();
    List<CoreResult> results;
    int code;
    try (Shutdown shutdown = Shutdown.install()) {
      ChunkSink sink = shutdown.add(link.openSink());
      note("session " + options.session() + " into " + link.settings().bootstrap());
      FleetRun fleet = new FleetRun(terminal(), shutdown);
      results =
          fleet.run(chosen.cores(), options, sink, chosen.run().isolation(), link.openControl());
      code = fleet.explain(results);
      close(sink);
    }
    long records = results.stream().mapToLong(CoreResult::records).sum();
    note(
        "%s, %s in %s"
            .formatted(
                Count.of(results.size(), "core"),
                Count.grouped(records, "record"),
                link.topics().events()));
    FleetRun.tellUntraced(terminal(), results);
    return exitCode ? FleetRun.guestsCode(results, code) : code;
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
