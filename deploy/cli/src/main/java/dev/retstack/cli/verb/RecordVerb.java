package dev.retstack.cli.verb;

import dev.retstack.answers.replay.InvalidTraceException;
import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.FileTrouble;
import dev.retstack.cli.command.ProgressLine;
import dev.retstack.cli.command.PyramidOption;
import dev.retstack.cli.command.Shutdown;
import dev.retstack.cli.command.Verb;
import dev.retstack.cli.fleet.FleetRun;
import dev.retstack.cli.fleetfile.CoreChoice;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.cli.result.LiveOptions;
import dev.retstack.cli.result.WindowOptions;
import dev.retstack.fleet.control.ControlChannel;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.fleet.publish.FileChunkSink;
import dev.retstack.fleet.publish.RotatingChunkSink;
import dev.retstack.graph.check.Count;
import dev.retstack.machine.memory.ByteSize;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.file.TraceClaim;
import dev.retstack.service.transfer.KafkaToTrace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code retstack record}: emulates into a file, without a broker. */
@Command(
    name = "record",
    description = {
      "Run instrumented programs on emulated cores and write a recorded trace.",
      "It needs no broker. With --from-kafka it copies the events topic of a cluster into"
          + " a trace instead; with --session, --core, --from, --to or --at only that window: with"
          + " --http as a running pipeline finds it by its index, without by reading the whole"
          + " topic. So: retstack record --from-kafka --http http://127.0.0.1:7070 --core cpu0"
          + " --from 1000 --to 2000 -o window.avro",
      "Exit codes: 0 done, or with --exit-code that of the program; 4 the trace is not"
          + " whole, 6 a core faulted, 7 nothing was recorded, 8 a core waits for an interrupt"
          + " that never comes."
    },
    footer = {
      "  retstack record --image zoo-x86_64-fentry -o trace.avro -- sort",
      "  echo 'int main(void) { return 0; }' | gcc -pg -x c - &&"
          + " retstack record --image a.out -o a.avro",
      "  echo 'int main(void) { return puts(\"hi\") < 0; }' | gcc -pg -include stdio.h -x c - &&"
          + " retstack record --libcalls --image a.out -o libcalls.avro",
      "  retstack record --image zoo-x86_64-fentry --rotate 64K -o part.avro -- w200 2000",
      "  retstack record --schedule-seeds 1..20 --image zoo-x86_64-fentry -o seeds.avro -- sort",
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

  @Option(
      names = "--rotate",
      paramLabel = "SIZE|TIME",
      converter = RotateConverter.class,
      description =
          "Begin another file when one has this size (64M, 1G) or was written for this time (90s,"
              + " 30m, 12h). -o t.avro gives t.0001.avro, t.0002.avro and so on, each a whole trace."
              + " \"retstack merge\" makes one of them.")
  private RotatingChunkSink.Limit rotate;

  private RotatingChunkSink rotating;

  @Mixin private CoreChoice choice;
  @Mixin private PyramidOption pyramid;
  @Mixin private WindowOptions window;
  @Mixin private LiveOptions pipeline;
  @Mixin private ScheduleSeeds seeds;

  @Option(
      names = "--exit-code",
      description = "End with the exit code of the first program that does not end with 0.")
  private boolean exitCode;

  @Override
  protected int run() throws IOException, InterruptedException {
    if (fromKafka == choice.isMade()) {
      throw usage("give one of --image, --fleet and --from-kafka");
    }
    if (fromKafka && rotate != null) {
      throw usage("--rotate: a copy of the topics is one file; cut it with retstack cut");
    }
    if (!window.problem().isEmpty()) {
      throw usage(window.problem());
    }
    if (!fromKafka && (!window.given().isEmpty() || pipeline.isNamed())) {
      throw usage(
          "%s: only with --from-kafka; give a time to report or cut"
              .formatted(pipeline.isNamed() ? "--http" : window.given()));
    }
    seeds
        .problem(spec())
        .ifPresent(
            problem -> {
              throw usage(problem);
            });
    if (fromKafka) {
      return copy();
    }
    return seeds.isGiven()
        ? seeds.run(spec(), choice, output, pyramid, exitCode, terminal())
        : emulate();
  }

  private int emulate() throws IOException, InterruptedException {
    CoreChoice.Chosen chosen = choice.choose(spec(), terminal());
    // of several files, the first
    try (TraceClaim file = claim(rotate == null ? output : piece(1))) {
      return emulate(chosen, file);
    }
  }

  /** Holds a file, until its pyramid is written. */
  static TraceClaim claim(Path file) {
    try {
      return TraceClaim.of(file);
    } catch (IOException e) {
      throw FileTrouble.writing(file, e);
    }
  }

  private int emulate(CoreChoice.Chosen chosen, TraceClaim first)
      throws IOException, InterruptedException {
    long start = System.nanoTime();
    List<CoreResult> results;
    int code;
    try (Shutdown shutdown = Shutdown.install()) {
      ChunkSink sink = shutdown.add(open(first));
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
    List<Path> files =
        rotating == null
            ? List.of(output)
            : IntStream.rangeClosed(1, rotating.files()).mapToObj(this::piece).toList();
    long bytes = 0;
    for (Path file : files.reversed()) {
      if (file.equals(first.file())) {
        pyramid.write(first, terminal());
        requireThere(first);
      } else {
        pyramid.write(file, terminal());
      }
      bytes += Files.size(file);
    }
    note(
        "%s, %s, %,d bytes in %.1f s"
            .formatted(
                Count.of(results.size(), "core"),
                Count.grouped(records, "record"),
                bytes,
                (System.nanoTime() - start) / 1e9));
    if (rotating != null) {
      note(
          "%s, %s to %s"
              .formatted(Count.grouped(files.size(), "file"), files.getFirst(), files.getLast()));
      Path next = piece(files.size() + 1);
      if (Files.exists(next)) {
        note("%s is of an earlier recording: leave it out, or remove it".formatted(next));
      }
    }
    note("next: " + command("report", files.getFirst().toString()));
    FleetRun.tellUntraced(terminal(), results);
    return exitCode ? FleetRun.guestsCode(results, code) : code;
  }

  static void requireThere(TraceClaim file) {
    try {
      file.requireThere();
    } catch (IOException e) {
      throw FileTrouble.writing(file.file(), e);
    }
  }

  private ChunkSink open(TraceClaim first) {
    try {
      if (rotate == null) {
        return new Sink(FileChunkSink.open(first), () -> output);
      }
      rotating = RotatingChunkSink.open(first, this::piece, rotate, System::nanoTime);
      return new Sink(rotating, rotating::file);
    } catch (IOException e) {
      throw FileTrouble.writing(rotate == null ? output : piece(1), e);
    }
  }

  private Path piece(int number) {
    return beside(output, "%04d".formatted(number));
  }

  /** The name of a file of several: t.avro is t.0001.avro. */
  static Path beside(Path output, String which) {
    String name = output.getFileName().toString();
    int dot = name.lastIndexOf('.');
    int end = dot > 0 ? dot : name.length();
    return output.resolveSibling(
        "%s.%s%s".formatted(name.substring(0, end), which, name.substring(end)));
  }

  /** A size or a time. */
  static final class RotateConverter
      implements CommandLine.ITypeConverter<RotatingChunkSink.Limit> {
    private static final Pattern SIZE = Pattern.compile("\\d+[KMG]?");

    @Override
    public RotatingChunkSink.Limit convert(String text) {
      if (!SIZE.matcher(text).matches()) {
        Duration time = new MemberOptions.TimeSpanConverter().convert(text);
        return new RotatingChunkSink.Limit(Long.MAX_VALUE, atLeastOne(time.toNanos(), text));
      }
      try {
        long bytes = ByteSize.parse(text);
        return new RotatingChunkSink.Limit(atLeastOne(bytes, text), Long.MAX_VALUE);
      } catch (IllegalArgumentException e) {
        throw new CommandLine.TypeConversionException(e.getMessage());
      }
    }

    private static long atLeastOne(long number, String text) {
      if (number <= 0) {
        throw new CommandLine.TypeConversionException(
            "'%s' is no limit: give a size such as 64M, or a time such as 30m".formatted(text));
      }
      return number;
    }
  }

  /** Says which file it is that takes no more, and why. */
  private static final class Sink implements ChunkSink {
    private final ChunkSink file;
    private final Supplier<Path> name;
    private String first; // what comes later only follows from it

    Sink(ChunkSink file, Supplier<Path> name) {
      this.file = file;
      this.name = name;
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
      first = first == null ? FileTrouble.whyNotWritten(name.get(), e) : first;
      return new IOException(first, e);
    }
  }

  private int copy() throws IOException, InterruptedException {
    String session = choice.run().session().orElse("");
    if (pipeline.isNamed()) {
      Map<String, String> parameters = new TreeMap<>(window.parameters());
      if (!session.isEmpty()) {
        parameters.put("session", session);
      }
      byte[] trace = pipeline.trace(parameters, choice.run().kafka(), terminal());
      try {
        Files.write(output, trace);
      } catch (IOException e) {
        throw FileTrouble.writing(output, e);
      }
      pyramid.write(output, terminal());
      note("%,d bytes in %s".formatted(trace.length, output));
      note("next: " + command("report", output.toString()));
      return ExitCode.OK;
    }
    KafkaLink link = choice.run().kafka().link(terminal());
    KafkaToTrace.Copied copied;
    boolean isWhole = window.given().isEmpty() && session.isEmpty();
    try (ProgressLine line = new ProgressLine(terminal())) {
      TraceReplay.Progress progress = line.chunks(isWhole ? "copied" : "searched");
      copied =
          isWhole
              ? KafkaToTrace.copy(link.settings(), link.topics(), output, progress)
              : KafkaToTrace.copy(
                  link.settings(),
                  link.topics(),
                  window.of(session.isEmpty() ? null : session).window(),
                  output,
                  progress);
    } catch (InvalidTraceException e) {
      throw CommandException.badInput(e.getMessage(), e);
    }
    pyramid.write(output, terminal());
    note(
        "%s, %s with %s, %,d bytes; %,d refused"
            .formatted(
                Count.grouped(copied.images(), "image"),
                Count.grouped(copied.chunks(), "chunk"),
                Count.grouped(copied.records(), "record"),
                Files.size(output),
                copied.refused()));
    note("next: " + command("report", output.toString()));
    return ExitCode.OK;
  }
}
