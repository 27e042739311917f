package dev.retstack.cli.trace;

import dev.retstack.cli.command.Shutdown;
import dev.retstack.cli.command.Terminal;
import dev.retstack.cli.fleet.FleetRun;
import dev.retstack.cli.fleet.GuestImages;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.FleetListener;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.machine.linux.LinuxOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A fleet that runs in a separate thread and follows commands until it is stopped. */
final class LiveFleet {
  /** One per convention and more; {@code mcount}, {@code __fentry__}, nops. */
  private static final List<String> IMAGES =
      List.of(
          "zoo-x86_64-fentry",
          "zoo-x86_64-mcount",
          "zoo-aarch64-mcount",
          "zoo-riscv64-mcount",
          "zoo-riscv64-patchable",
          "zoo-arm-thumb-mcount",
          "zoo-ppc64le-patchable",
          "zoo-mips-mcount",
          "zoo-s390x-fentry");

  /** Calls that continue for hours, through a table of functions. */
  private static final List<String> PROGRAM = List.of("zoo", "dispatch", "2000000000");

  private static final long SLICE_INSTRUCTIONS = 100_000;
  private static final long STOP_SECONDS = 60;

  private final CompletableFuture<Boolean> ended = new CompletableFuture<>();
  private final Thread thread;

  private LiveFleet(Runner runner) {
    thread = Thread.ofPlatform().name("fleet").start(() -> run(runner));
  }

  /** Runs the cores until it is interrupted, which ends them in order. */
  private interface Runner {
    void run() throws IOException, InterruptedException;
  }

  /** A core of each image. */
  static List<CoreSpec> cores() {
    LinuxOptions linux = LinuxOptions.of("zoo").withArguments(PROGRAM);
    return IMAGES.stream()
        .map(
            name ->
                new CoreSpec(
                    name + "-0",
                    GuestImages.load(GuestImages.resolve(name)),
                    CoreOptions.of(linux)))
        .toList();
  }

  /**
   * How a fleet runs them: in short slices, after which a core looks for commands, and on half of
   * the processors, since all else runs on them as well.
   */
  static FleetOptions options() {
    return FleetOptions.standard()
        .withThreads(Math.max(1, Runtime.getRuntime().availableProcessors() / 2))
        .withSliceInstructions(SLICE_INSTRUCTIONS)
        .withFlushInterval(Duration.ofMillis(200));
  }

  /** Starts the cores; their topics exist. */
  static LiveFleet start(
      List<CoreSpec> cores,
      FleetOptions options,
      KafkaLink link,
      Terminal terminal,
      Shutdown shutdown) {
    return new LiveFleet(
        () -> {
          try (ChunkSink sink = link.openSink()) {
            new FleetRun(terminal, shutdown)
                .run(cores, options, sink, FleetListener.NONE, link.openControl());
          }
        });
  }

  private void run(Runner runner) {
    try {
      runner.run();
      ended.complete(true);
    } catch (InterruptedException e) {
      ended.complete(true); // as asked for
    } catch (IOException | RuntimeException e) {
      ended.completeExceptionally(e);
    }
  }

  /**
   * Ends every core in order; its last chunk is sent when this returns. Of no effect where it was
   * stopped before.
   *
   * @throws IOException where the fleet had failed, or does not end
   */
  void stop() throws IOException, InterruptedException {
    thread.interrupt();
    try {
      ended.get(STOP_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new IOException("the fleet failed: " + e.getCause().getMessage(), e.getCause());
    } catch (TimeoutException e) {
      throw new IOException("the fleet has not stopped within " + STOP_SECONDS + " s", e);
    }
  }
}
