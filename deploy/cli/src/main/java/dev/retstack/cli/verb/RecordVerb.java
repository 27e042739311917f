package dev.retstack.cli.verb;

import dev.retstack.cli.ExitCode;
import dev.retstack.cli.FileTrouble;
import dev.retstack.cli.Shutdown;
import dev.retstack.cli.fleet.FleetRun;
import dev.retstack.cli.fleet.ProgressLine;
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

/** {@code retstack record}: emulate into a file, without any broker. */
@Command(
    name = "record",
    description = {
      "Run instrumented programs on emulated cores and write a recorded trace; needs no broker.",
      "Or copy the events topic of a cluster into one.",
      "The exit code is 4 where the trace is not whole, 6 where a core faulted, 7 where nothing was",
      "recorded, 8 where a core waits for an interrupt that never comes; else 0, or, with",
      "--exit-code, that of the program."
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
      description = "The trace: an Avro container. What the file held before is gone.")
  private Path output;

  @Option(
      names = "--from-kafka",
      description = "Copy what is in the events topic now, instead of emulating.")
  private boolean fromKafka;

  @Mixin private CoreChoice choice;

  @Option(
      names = "--exit-code",
      description = "End with the exit code of the first program that has one other than 0.")
  private boolean exitCode;

  @Override
  int run() throws IOException, InterruptedException {
    if (fromKafka == choice.isMade()) {
      throw usage("give --image, --fleet or --from-kafka, one of them");
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
