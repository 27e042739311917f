package dev.retstack.cli.verb;

import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.FileTrouble;
import dev.retstack.cli.command.ProgressLine;
import dev.retstack.cli.command.Shutdown;
import dev.retstack.cli.command.Verb;
import dev.retstack.cli.fleet.FleetRun;
import dev.retstack.cli.fleetfile.CoreChoice;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.fleet.CoreResult;
import dev.retstack.fleet.control.ControlChannel;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.fleet.publish.FileChunkSink;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.service.replay.KafkaToTrace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code retstack record}: emulates into a file, without a broker. */
@Command(
    name = "record",
    description = {
      "Run instrumented programs on emulated cores and write a recorded trace.",
      "It needs no broker. With --from-kafka it copies the events topic of a cluster into"
          + " a trace instead.",
      "Exit codes: 0 done, or with --exit-code that of the program; 4 the trace is not"
          + " whole, 6 a core faulted, 7 nothing was recorded, 8 a core waits for an interrupt"
          + " that never comes."
    },
    footer = {
      "  retstack record --image zoo-x86_64-fentry -o trace.avro -- sort",
      "  retstack record --fleet fleet.conf -o fleet.avro",
      "  retstack record --image rtos-arm-mcount --timer 900:rtos_interrupt"
          + " --timer 7100:rtos_interrupt --task-variable rtos_current -o rtos.avro -- rtos"
    })
public final class RecordVerb extends Verb {
  @Option(
      names = {"-o", "--output"},
      required = true,
      paramLabel = "FILE",
      description = "The trace, an Avro container. An existing file is replaced.")
  private Path output;

  @Option(
      names = "--from-kafka",
      description = "Copy what is in the events topic now, instead of emulating.")
  private boolean fromKafka;

  @Mixin private CoreChoice choice;

  @Option(
      names = "--exit-code",
      description = "End with the exit code of the first program that does not end with 0.")
  private boolean exitCode;

  @Override
  protected int run() throws IOException, InterruptedException {
    if (fromKafka == choice.isMade()) {
      throw usage("give one of --image, --fleet and --from-kafka");
    }
    return fromKafka ? copy() : emulate();
  }

  private int emulate() throws IOException, InterruptedException {
    CoreChoice.Chosen chosen = choice.choose(spec(), terminal());
    long start = System.nanoTime();
    List<CoreResult> results;
    int code;
    try (Shutdown shutdown = Shutdown.install()) {
      ChunkSink sink = shutdown.add(open());
      FleetRun fleet = new FleetRun(terminal(), shutdown);
      results =
          fleet.run(
              chosen.cores(),
              chosen.run().intoFile(),
              sink,
              chosen.run().isolation(),
              ControlChannel.NONE);
      code = fleet.explain(results);
    }
    long records = results.stream().mapToLong(CoreResult::records).sum();
    note(
        "%d cores, %,d records, %,d bytes in %.1f s"
            .formatted(
                results.size(), records, Files.size(output), (System.nanoTime() - start) / 1e9));
    note("next: " + command() + " report " + output);
    return exitCode ? FleetRun.guestsCode(results, code) : code;
  }

  private ChunkSink open() {
    try {
      return new Sink(FileChunkSink.open(output));
    } catch (IOException e) {
      throw FileTrouble.writing(output, e);
    }
  }

  /** Says which file it is that takes no more, and why. */
  private final class Sink implements ChunkSink {
    private final ChunkSink file;
    private String first; // what comes later only follows from it

    Sink(ChunkSink file) {
      this.file = file;
    }

    @Override
    public void image(Image image) throws IOException, InterruptedException {
      try {
        file.image(image);
      } catch (IOException e) {
        throw inWords(e);
      }
    }

    @Override
    public void chunk(Chunk chunk) throws IOException, InterruptedException {
      try {
        file.chunk(chunk);
      } catch (IOException e) {
        throw inWords(e);
      }
    }

    @Override
    public void close() throws IOException {
      try {
        file.close();
      } catch (IOException e) {
        throw inWords(e);
      }
    }

    private synchronized IOException inWords(IOException e) {
      first = first == null ? FileTrouble.whyNotWritten(output, e) : first;
      return new IOException(first, e);
    }
  }

  private int copy() throws IOException, InterruptedException {
    KafkaLink link = choice.run().kafka().link(terminal());
    KafkaToTrace.Copied copied;
    try (ProgressLine line = new ProgressLine(terminal())) {
      copied =
          KafkaToTrace.copy(
              link.settings(),
              link.topics(),
              output,
              (chunks, records) ->
                  line.show("%,d records in %,d chunks copied".formatted(records, chunks)));
    }
    note(
        "%,d images, %,d chunks with %,d records, %,d bytes; %,d refused"
            .formatted(
                copied.images(),
                copied.chunks(),
                copied.records(),
                Files.size(output),
                copied.refused()));
    note("next: " + command() + " report " + output);
    return ExitCode.OK;
  }
}
