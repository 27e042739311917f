package dev.retstack.cli.fleet;

import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.ProgressLine;
import dev.retstack.cli.command.Shutdown;
import dev.retstack.cli.command.Terminal;
import dev.retstack.cli.command.Verb;
import dev.retstack.fleet.Fleet;
import dev.retstack.fleet.control.ControlChannel;
import dev.retstack.fleet.isolate.IsolateListener;
import dev.retstack.fleet.isolate.IsolatedFleet;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.probe.nativec.NativeLibrary;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.progress.FleetListener;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.fleet.publish.SinkWaits;
import dev.retstack.graph.check.Count;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.record.EndDetail;
import dev.retstack.unicorn.Unicorn;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

/**
 * Runs a fleet in the calling thread. If the process is asked to stop meanwhile, every core ends in
 * order with its last chunk. Only then are the parts closed that were started before.
 */
public final class FleetRun {
  /** Shorter waits are the usual course of things. */
  private static final double WORTH_TELLING_SECONDS = 1;

  /** Cores that a line names at most. */
  private static final int NAMED = 3;

  /** What starts another process. */
  private static final Set<String> PROCESSES = Set.of("fork", "vfork", "execve", "execveat");

  private final Terminal terminal;
  private final Shutdown shutdown;

  public FleetRun(Terminal terminal, Shutdown shutdown) {
    this.terminal = terminal;
    this.shutdown = shutdown;
  }

  /** What runs the cores, in this process or in others. */
  private interface Runner {
    List<CoreResult> run(ProgressLine line) throws IOException, InterruptedException;
  }

  /**
   * Runs the cores into the sink until all have ended. The sink is not closed.
   *
   * @param listener hears of the progress too, beside the progress line
   */
  public List<CoreResult> run(
      List<CoreSpec> cores, FleetOptions options, ChunkSink sink, FleetListener listener)
      throws IOException, InterruptedException {
    return run(cores, options, sink, listener, ControlChannel.NONE);
  }

  /**
   * Runs the cores into the sink until all have ended. The sink is not closed.
   *
   * @param listener hears of the progress too, beside the progress line
   * @param channel commands that they follow
   */
  public List<CoreResult> run(
      List<CoreSpec> cores,
      FleetOptions options,
      ChunkSink sink,
      FleetListener listener,
      ControlChannel channel)
      throws IOException, InterruptedException {
    noteLeftAlone(cores);
    return run(
        sink,
        line -> Fleet.run(cores, options, sink, new ProgressListener(line, listener), channel));
  }

  /**
   * Runs the cores into the sink, in this process or isolated, until all have ended.
   *
   * @param channel commands that they follow
   */
  public List<CoreResult> run(
      List<CoreSpec> cores,
      FleetOptions options,
      ChunkSink sink,
      IsolateOptions isolation,
      ControlChannel channel)
      throws IOException, InterruptedException {
    if (!isolation.isolate()) {
      requireSafe(cores);
      return run(cores, options, sink, FleetListener.NONE, channel);
    }
    noteLeftAlone(cores);
    return run(
        sink,
        line ->
            IsolatedFleet.run(
                cores, options, isolation.restarts(), sink, new DeathTeller(line), channel));
  }

  /**
   * Refuses images that did not come with retstack where nothing bounds the blocks of the
   * translator: their code could end this process.
   */
  private static void requireSafe(List<CoreSpec> cores) {
    if (Unicorn.isBounded()) {
      return;
    }
    cores.stream()
        .map(CoreSpec::image)
        .distinct()
        .filter(image -> !GuestImages.comesAlong(image))
        .findFirst()
        .ifPresent(
            image -> {
              throw CommandException.environment(
                  "%s could end this process, since no C compiler built libretstack-bound.so: run it with --isolate, or %s"
                      .formatted(image.elf().name(), NativeLibrary.CURE));
            });
  }

  private void noteWithoutCompiler() {
    if (NativeLibrary.find().isEmpty()) {
      terminal.note(
          "the probe in Java records, 5 to 9 times slower than the one in C: %s: %s"
              .formatted(NativeLibrary.whyNot(), NativeLibrary.CURE));
    }
  }

  private void noteLeftAlone(List<CoreSpec> cores) {
    noteWithoutCompiler();
    cores.stream()
        .map(CoreSpec::image)
        .distinct()
        .forEach(
            image -> {
              image.notes().forEach(terminal::note);
              image.leftOut().ifPresent(terminal::note);
            });
  }

  private List<CoreResult> run(ChunkSink sink, Runner fleet)
      throws IOException, InterruptedException {
    Unicorn.load(); // a core without it would only fault, in a child too
    Thread runner = Thread.currentThread();
    CountDownLatch done = new CountDownLatch(1);
    shutdown.add(
        () -> {
          if (done.getCount() > 0) {
            runner.interrupt();
            done.await();
          }
        });
    try (ProgressLine line = new ProgressLine(terminal);
        SilenceTeller _ = new SilenceTeller(sink, line::note)) {
      try {
        return fleet.run(line);
      } catch (InterruptedException e) {
        line.noteStopped(); // its last progress comes after the last chunks
        throw e;
      }
    } finally {
      done.countDown();
      explainWaits(sink.waits());
    }
  }

  /** Explains waits of the cores: backpressure is not a fault, but the user should know why. */
  private void explainWaits(SinkWaits waits) {
    double seconds = waits.nanos() / 1e9;
    if (seconds >= WORTH_TELLING_SECONDS) {
      terminal.note(
          "cores waited %s, %.1f s in all, because their chunks were not taken at once"
              .formatted(Count.grouped(waits.times(), "time"), seconds));
    }
  }

  /**
   * Says what went wrong with cores, one line each.
   *
   * @return the gravest of it as one of {@link ExitCode}
   */
  public int explain(List<CoreResult> results) {
    for (CoreResult result : results) {
      boolean well = result.ending().end() == CoreEnd.HALTED && result.ending().exitCode() == 0;
      if (result.undelivered().isEmpty() && (!well || EndDetail.waits(result.ending().detail()))) {
        terminal.note(
            "core %s: %s: %s"
                .formatted(result.name(), result.ending().end(), result.ending().detail()));
      }
      if (result.overruns() > 0) {
        terminal.note(
            "core %s: %s untraced: ret_stack was full"
                .formatted(result.name(), Count.grouped(result.overruns(), "call")));
      }
      if (result.unhijackable() > 0) {
        terminal.note(
            "core %s: %s untraced, of %s: no return address where the ABI puts it"
                .formatted(
                    result.name(),
                    Count.grouped(result.unhijackable(), "call"),
                    named(result.leftAlone())));
      }
      if (result.abandoned() > 0) {
        terminal.note(
            "core %s: %s dropped that a longjmp left, or a switch of stacks: if they return, there is no record"
                    .formatted(result.name(), Count.grouped(result.abandoned(), "call"))
                + " tells");
      }
      result
          .unsupported()
          .forEach(
              (call, count) ->
                  terminal.note("core %s: %s".formatted(result.name(), missing(call, count))));
      result.lacks().forEach(lack -> terminal.note("core %s: %s".formatted(result.name(), lack)));
    }
    undelivered(results);
    boolean nothing = results.stream().allMatch(result -> result.records() == 0);
    if (nothing) {
      terminal.note(
          "nothing was recorded by %s: %s; \"%s\" lists them, compile with -pg, and look at the filters"
              .formatted(
                  Count.grouped(results.size(), "core"),
                  results.stream().anyMatch(result -> result.unhijackable() > 0)
                      ? "no call site that was reached shows the return address"
                      : "no call site was reached that is traced",
                  Verb.command("sites", "IMAGE")));
    }
    if (results.stream().anyMatch(result -> !result.undelivered().isEmpty())) {
      return ExitCode.ENVIRONMENT;
    }
    if (results.stream().anyMatch(result -> result.ending().end() == CoreEnd.FAULTED)) {
      return ExitCode.FAULTED;
    }
    if (nothing) {
      return ExitCode.NOTHING_RECORDED;
    }
    boolean waits = results.stream().anyMatch(result -> EndDetail.waits(result.ending().detail()));
    return waits ? ExitCode.WAITS : ExitCode.OK;
  }

  /** What must not be missed of a run: the last line, where much of it is not in the trace. */
  public static void tellUntraced(Terminal terminal, List<CoreResult> results) {
    List<CoreResult> much = results.stream().filter(CoreResult::muchUntraced).toList();
    if (much.isEmpty()) {
      return;
    }
    long untraced = much.stream().mapToLong(CoreResult::unhijackable).sum();
    long traced = much.stream().mapToLong(result -> result.records() / 2).sum(); // at most
    List<String> functions =
        much.stream().flatMap(result -> result.leftAlone().stream()).distinct().sorted().toList();
    terminal.note(
        "at least %.1f %% of the calls are not in the trace: %s, of %s; compile with -fpatchable-function-entry or frame pointers, do not strip the program, or record entries alone with --tracer function; \"%s\" marks their sites"
            .formatted(
                100.0 * untraced / (untraced + traced),
                Count.grouped(untraced, "call"),
                named(functions),
                Verb.command("sites", "IMAGE")));
  }

  private static String named(List<String> functions) {
    int more = functions.size() - NAMED;
    String first = String.join(", ", functions.subList(0, Math.min(NAMED, functions.size())));
    return functions.isEmpty() ? "unknown functions" : more > 0 ? first + " and others" : first;
  }

  /** Prints one line for each reason, with the first cores that it hit. */
  private void undelivered(List<CoreResult> results) {
    Map<String, List<String>> cores = new LinkedHashMap<>();
    for (CoreResult result : results) {
      if (!result.undelivered().isEmpty()) {
        cores.computeIfAbsent(result.undelivered(), _ -> new ArrayList<>()).add(result.name());
      }
    }
    cores.forEach(
        (why, names) ->
            terminal.note(
                "the last chunks of %s%s were not delivered: %s"
                    .formatted(
                        String.join(", ", names.subList(0, Math.min(NAMED, names.size()))),
                        names.size() > NAMED ? " and %,d more".formatted(names.size() - NAMED) : "",
                        why)));
  }

  /**
   * The exit code of the first core whose program had one other than 0, for the caller who asked
   * for it; what does not fit into 8 bits is 255.
   *
   * @param otherwise where all programs ended with 0, or what was sent did not arrive
   */
  public static int guestsCode(List<CoreResult> results, int otherwise) {
    if (otherwise == ExitCode.ENVIRONMENT) {
      return otherwise;
    }
    return results.stream()
        .mapToInt(result -> result.ending().exitCode())
        .filter(code -> code != 0)
        .map(code -> code == (code & 0xff) ? code : 0xff)
        .findFirst()
        .orElse(otherwise);
  }

  /** Says at once that a process died: the restart may take long. */
  private final class DeathTeller extends ProgressListener implements IsolateListener {
    DeathTeller(ProgressLine line) {
      super(line, FleetListener.NONE);
    }

    @Override
    public void processStarted(long pid, String image) {
      terminal.note("process %d runs the cores of %s".formatted(pid, image));
    }

    @Override
    public void processDied(ProcessDeath death) {
      terminal.note(
          "process %d of %s died: %s; cores lost: %d, started again: %d"
              .formatted(
                  death.pid(),
                  death.image(),
                  death.reason(),
                  death.cores().size(),
                  death.restarted().size()));
    }
  }

  /**
   * A system call that a program asked for in vain.
   *
   * @param call its name, with what it was made by in parentheses
   */
  private static String missing(String call, long count) {
    String said =
        "system call %s is not supported, ENOSYS %s".formatted(call, Count.grouped(count, "time"));
    return PROCESSES.contains(call.replaceFirst(" .*", ""))
        ? said
            + ": a core is one process; record the program that it would start on a core of its"
            + " own, with another --image"
        : said;
  }
}
