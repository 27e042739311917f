package dev.retstack.cli.demo;

import dev.retstack.cli.command.Shutdown;
import dev.retstack.cli.command.Terminal;
import dev.retstack.cli.fleet.FleetRun;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.FleetListener;
import dev.retstack.fleet.publish.ChunkSink;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A fleet that runs in a separate thread and follows commands until it is stopped. */
public final class LiveFleet {
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

  /** Starts the cores; their topics exist. */
  public static LiveFleet start(
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
  public void stop() throws IOException, InterruptedException {
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
