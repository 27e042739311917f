package dev.retstack.cli.verb;

import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.FileTrouble;
import dev.retstack.cli.command.FormatOption;
import dev.retstack.cli.command.Output;
import dev.retstack.cli.command.ProgressLine;
import dev.retstack.cli.command.PyramidOption;
import dev.retstack.cli.command.Shutdown;
import dev.retstack.cli.command.Terminal;
import dev.retstack.cli.command.Verb;
import dev.retstack.cli.fleet.FleetRun;
import dev.retstack.cli.fleetfile.CoreChoice;
import dev.retstack.fleet.Fleet;
import dev.retstack.fleet.control.ControlChannel;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.progress.FleetListener;
import dev.retstack.fleet.publish.FileChunkSink;
import dev.retstack.graph.check.Count;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.linux.thread.Schedule;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.file.TraceClaim;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/**
 * {@code record --schedule-seeds}: one program under many seeds in one process. Each run writes a
 * trace; one of each way in which the program went is kept.
 */
final class ScheduleSeeds {
  /** Seeds of one command at most. */
  private static final long SEEDS_MAX = 1_000_000;

  /** What would mean several cores, several files, or runs that see each other. */
  private static final List<String> NOT_WITH =
      List.of("--fleet", "--cores", "--isolate", "--writable", "--rotate", "--schedule-seed");

  private static final Table<Run> RUNS =
      new Table<Run>()
          .number("seed", Run::seed)
          .number("exitCode", run -> run.result().ending().exitCode())
          .text("end", run -> run.result().ending().end())
          .number("records", run -> run.result().records())
          .text("hash", run -> "%016x".formatted(run.hash()))
          .number("like", Run::like)
          .text(
              "task", run -> run.parting().flatMap(CallOrder.Parting::task).map(Table.TaskId::new))
          .number("time", run -> run.parting().map(CallOrder.Parting::time))
          .text("does", run -> run.parting().map(CallOrder.Parting::does))
          .text("insteadOf", run -> run.parting().map(CallOrder.Parting::insteadOf))
          .text("trace", run -> run.trace().map(Path::toString))
          .headedAsNamed();

  @Option(
      names = "--schedule-seeds",
      paramLabel = "A..B",
      converter = RangeConverter.class,
      description =
          "Run one program once for each of these --schedule-seed, and show for each its exit code,"
              + " a hash of what it did, and where it parts from the first. The hash is over the"
              + " calls of each thread in order, and the end. -o t.avro keeps one trace of each"
              + " hash: t.seed-1.avro, t.seed-7.avro. What the program writes is not shown.")
  private Range seeds;

  @Mixin private FormatOption format;

  /** First and last seed. */
  record Range(long first, long last) {}

  /**
   * The program under one seed.
   *
   * @param like the first seed that has this hash
   * @param parting where it parts from the first run; empty: nowhere
   * @param claim what is kept of it, which is held until all have their pyramids
   */
  private record Run(
      long seed,
      CoreResult result,
      long hash,
      long like,
      Optional<CallOrder.Parting> parting,
      Optional<TraceClaim> claim) {
    Optional<Path> trace() {
      return claim.map(TraceClaim::file);
    }
  }

  boolean isGiven() {
    return seeds != null;
  }

  /** Returns what is wrong with the options beside these; empty: nothing. */
  Optional<String> problem(CommandSpec command) {
    CommandLine.ParseResult given = command.commandLine().getParseResult();
    if (!isGiven()) {
      return given.hasMatchedOption("--format")
          ? Optional.of("--format: only with --schedule-seeds, which ends with a table")
          : Optional.empty();
    }
    return NOT_WITH.stream()
        .filter(given::hasMatchedOption)
        .findFirst()
        .map(
            "%s cannot be used with --schedule-seeds: each run is one core that sees no other"
                ::formatted);
  }

  /** Runs the program under all seeds. Returns one of {@link ExitCode}, or the program's own. */
  int run(
      CommandSpec command,
      CoreChoice choice,
      Path output,
      PyramidOption pyramid,
      boolean programsCode,
      Terminal terminal)
      throws IOException, InterruptedException {
    List<Run> runs = new ArrayList<>();
    try {
      return run(command, choice, output, pyramid, programsCode, runs, terminal);
    } finally {
      for (Run run : runs) {
        if (run.claim().isPresent()) {
          run.claim().get().close();
        }
      }
    }
  }

  private int run(
      CommandSpec command,
      CoreChoice choice,
      Path output,
      PyramidOption pyramid,
      boolean programsCode,
      List<Run> runs,
      Terminal terminal)
      throws IOException, InterruptedException {
    Map<Long, Long> firstOf = new HashMap<>(); // hash -> seed
    CallOrder.Reference reference = new CallOrder.Reference(seeds.first());
    Thread runner = Thread.currentThread();
    CountDownLatch done = new CountDownLatch(1);
    int code = ExitCode.OK;
    try (Shutdown shutdown = Shutdown.install();
        ProgressLine line = new ProgressLine(terminal)) {
      shutdown.add(
          () -> {
            if (done.getCount() > 0) {
              runner.interrupt();
              done.await();
            }
          });
      try {
        for (long seed = seeds.first(); seed <= seeds.last(); seed++) {
          Run run = run(core(command, choice, seed, terminal), choice, output, reference, firstOf);
          runs.add(run);
          code =
              Math.max(
                  code,
                  runs.size() == 1
                      ? new FleetRun(terminal, shutdown).explain(List.of(run.result()))
                      : code(run.result()));
          line.show(progress(runs, firstOf.size()));
          if (code == ExitCode.NOTHING_RECORDED) {
            break; // nor would another seed
          }
        }
      } finally {
        done.countDown();
      }
    }
    for (Run run : runs) {
      if (run.claim().isPresent()) {
        pyramid.write(run.claim().get(), terminal);
        RecordVerb.requireThere(run.claim().get());
      }
    }
    show(runs, firstOf.size(), terminal);
    return programsCode ? FleetRun.guestsCode(runs.stream().map(Run::result).toList(), code) : code;
  }

  /** Runs the program once. Its trace stays if no seed before went this way. */
  private static Run run(
      CoreSpec core,
      CoreChoice choice,
      Path output,
      CallOrder.Reference reference,
      Map<Long, Long> firstOf)
      throws IOException, InterruptedException {
    long seed = core.options().schedule().seed();
    TraceClaim claim = RecordVerb.claim(RecordVerb.beside(output, "seed-" + seed));
    boolean keeps = false;
    try {
      CallOrder order = new CallOrder(open(claim), reference);
      CoreResult result;
      try (order) {
        result =
            Fleet.run(
                    List.of(core),
                    options(choice, seed),
                    order,
                    FleetListener.NONE,
                    ControlChannel.NONE)
                .getFirst();
      }
      long hash = order.hash(result.ending());
      keeps = firstOf.putIfAbsent(hash, seed) == null;
      boolean differs = firstOf.get(hash) != reference.seed();
      return new Run(
          seed,
          result,
          hash,
          firstOf.get(hash),
          differs ? Optional.of(order.parting(result.ending())) : Optional.empty(),
          keeps ? Optional.of(claim) : Optional.empty());
    } finally {
      if (!keeps) {
        Files.deleteIfExists(claim.file());
        claim.close();
      }
    }
  }

  private void show(List<Run> runs, int ways, Terminal terminal) throws IOException {
    Output.write(
        terminal.out(),
        format.format(),
        new Document()
            .indented()
            .line("# " + progress(runs, ways))
            .gap()
            .field("seeds", runs.size())
            .field("differ", differ(runs))
            .field("ways", ways)
            .table("runs", RUNS, runs));
    runs.stream()
        .filter(run -> run.parting().isPresent() && run.trace().isPresent())
        .findFirst()
        .ifPresent(
            run ->
                terminal.note(
                    "next: "
                        + Verb.command(
                            "graph",
                            run.trace().get().toString(),
                            "--at",
                            Long.toString(run.parting().get().time()),
                            "--window",
                            "1000")));
  }

  private String progress(List<Run> runs, int ways) {
    return "%s of %,d: %,d %s from seed %d, %s in all"
        .formatted(
            Count.grouped(runs.size(), "seed"),
            seeds.last() - seeds.first() + 1,
            differ(runs),
            differ(runs) == 1 ? "differs" : "differ",
            seeds.first(),
            Count.grouped(ways, "way"));
  }

  private static long differ(List<Run> runs) {
    return runs.stream().filter(run -> run.parting().isPresent()).count();
  }

  private static int code(CoreResult result) {
    if (!result.undelivered().isEmpty()) {
      return ExitCode.ENVIRONMENT;
    }
    return result.ending().end() == CoreEnd.FAULTED ? ExitCode.FAULTED : ExitCode.OK;
  }

  /** The core of one run, made anew: its standard input begins at its first byte again. */
  private static CoreSpec core(
      CommandSpec command, CoreChoice choice, long seed, Terminal terminal) {
    List<CoreSpec> cores = choice.choose(command, terminal).cores();
    if (cores.size() != 1) {
      throw new ParameterException(
          command.commandLine(), "--schedule-seeds runs one program: give one --image");
    }
    CoreSpec one = cores.getFirst();
    CoreOptions options = one.options();
    LinuxOptions linux = options.linux();
    boolean hasInput = command.commandLine().getParseResult().hasMatchedOption("--stdin");
    return new CoreSpec(
        one.name(),
        one.image(),
        options
            .withSchedule(new Schedule(options.schedule().quantum(), seed))
            .withLinux(
                linux.withStreams(
                    hasInput ? linux.stdin() : InputStream.nullInputStream(),
                    OutputStream.nullOutputStream(),
                    OutputStream.nullOutputStream())),
        one.labels());
  }

  private static FleetOptions options(CoreChoice choice, long seed) {
    FleetOptions options = choice.run().intoFile();
    return choice
        .run()
        .session()
        .map(name -> options.withSession("%s-seed-%d".formatted(name, seed)))
        .orElse(options);
  }

  private static FileChunkSink open(TraceClaim claim) {
    try {
      return FileChunkSink.open(claim);
    } catch (IOException e) {
      throw FileTrouble.writing(claim.file(), e);
    }
  }

  /** {@code 1..1000}. */
  static final class RangeConverter implements CommandLine.ITypeConverter<Range> {
    private static final Pattern RANGE = Pattern.compile("(\\d{1,18})\\.\\.(\\d{1,18})");

    @Override
    public Range convert(String text) {
      Matcher range = RANGE.matcher(text);
      if (!range.matches()) {
        throw wrong(text);
      }
      long first = Long.parseLong(range.group(1));
      long last = Long.parseLong(range.group(2));
      if (last < first || last - first >= SEEDS_MAX) {
        throw wrong(text);
      }
      return new Range(first, last);
    }

    private static CommandLine.TypeConversionException wrong(String text) {
      return new CommandLine.TypeConversionException(
          "'%s' is not a range of seeds: give the first and the last, such as 1..1000; %,d at most"
              .formatted(text, SEEDS_MAX));
    }
  }
}
