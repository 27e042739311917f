package dev.retstack.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.control.ControlChannel;
import dev.retstack.fleet.control.LocalControlChannel;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.progress.FleetListener;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Control;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.Image;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.unicorn.testing.WithoutCompiler;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** A fleet that runs in threads of its own until it is stopped, its chunks and answers kept. */
public final class RunningFleet implements AutoCloseable {
  private static final long PATIENCE_MS = 60_000;

  private final Map<String, List<Chunk>> chunks = new HashMap<>();
  private final List<ControlResult> answers = new ArrayList<>();
  private final LocalControlChannel channel = new LocalControlChannel(this::answered);
  private final CompletableFuture<List<CoreResult>> results = new CompletableFuture<>();
  private final List<CoreSpec> cores;
  private final FleetOptions options;
  private final Runner runner;
  private Thread thread;

  /** What runs the cores: in this process, or in others. */
  public interface Runner {
    List<CoreResult> run(
        List<CoreSpec> cores, FleetOptions options, ChunkSink sink, ControlChannel channel)
        throws IOException, InterruptedException;
  }

  RunningFleet(List<CoreSpec> cores, FleetOptions options) {
    this(cores, options, (c, o, sink, ch) -> Fleet.run(c, o, sink, FleetListener.NONE, ch));
  }

  public RunningFleet(List<CoreSpec> cores, FleetOptions options, Runner runner) {
    this.cores = cores;
    this.options = options;
    this.runner = runner;
  }

  /** Runs a program of the zoo that calls for hours. */
  public static CoreOptions busy() {
    return CoreOptions.of(LinuxOptions.of("zoo").withArguments(List.of("zoo", "w200", "100000000")))
        .withRecordsPerChunk(2_000);
  }

  /** Starts it; skips the test where a core wants the probe in C and there is none. */
  public RunningFleet start() {
    if (cores.stream().anyMatch(core -> core.options().probe() == ProbeKind.NATIVE)) {
      WithoutCompiler.assumeBounded();
    }
    thread = Thread.ofPlatform().start(this::run);
    return this;
  }

  private void run() {
    try {
      results.complete(runner.run(cores, options, new Sink(), channel));
    } catch (InterruptedException e) {
      results.complete(List.of());
    } catch (Throwable e) {
      results.completeExceptionally(e);
    }
  }

  private final class Sink implements ChunkSink {
    @Override
    public void image(Image image) {}

    @Override
    public void chunk(Chunk chunk) {
      synchronized (chunks) {
        chunks.computeIfAbsent(chunk.getCore(), _ -> new ArrayList<>()).add(chunk);
        chunks.notifyAll();
      }
    }

    @Override
    public void close() {}
  }

  private void answered(ControlResult answer) {
    synchronized (chunks) {
      answers.add(answer);
      chunks.notifyAll();
    }
  }

  /** Gives a command and waits until the fleet, and every core that it names, has answered. */
  public List<ControlResult> command(String target, String name, String... arguments)
      throws Exception {
    String id = name + "-" + System.nanoTime();
    send(id, target, 0, name, arguments);
    return answers(id);
  }

  public void send(String id, String target, long deadline, String name, String... arguments) {
    channel.send(
        Control.newBuilder()
            .setId(id)
            .setTarget(target)
            .setDeadline(deadline)
            .setName(name)
            .setArguments(List.of(arguments))
            .build());
  }

  /** The fleet's answer, then those of the cores. */
  public List<ControlResult> answers(String id) throws Exception {
    List<ControlResult> mine = new ArrayList<>();
    await(
        "answers to " + id,
        () -> {
          mine.clear();
          answers.stream().filter(a -> a.getCommand().equals(id)).forEach(mine::add);
          return !mine.isEmpty() && mine.size() == 1 + mine.getFirst().getCores();
        });
    return mine;
  }

  /** Waits until a core has sent so many chunks more. */
  public void awaitChunks(String core, int more) throws Exception {
    awaitChunksInAll(core, chunks(core) + more);
  }

  /** Waits until a core has sent so many chunks from its beginning on. */
  public void awaitChunksInAll(String core, int count) throws Exception {
    await("chunks of " + core, () -> chunks(core) >= count);
  }

  /** Chunks that a core has sent. */
  public int chunks(String core) {
    synchronized (chunks) {
      return chunks.getOrDefault(core, List.of()).size();
    }
  }

  /** Waits until a core has run on. */
  public void awaitProgress(String core) throws Exception {
    long time = command("core=" + core, "status").getLast().getTime();
    while (command("core=" + core, "status").getLast().getTime() == time) {
      LockSupport.parkNanos(20_000_000); // who is waited for has the processor meanwhile
    }
  }

  private void await(String what, BooleanSupplier condition) throws Exception {
    long end = System.currentTimeMillis() + PATIENCE_MS;
    synchronized (chunks) {
      while (!condition.getAsBoolean()) {
        if (results.isCompletedExceptionally()) {
          results.get(); // throws
        }
        long left = end - System.currentTimeMillis();
        assertThat(left).as("patience for %s; so far %s", what, answers).isPositive();
        chunks.wait(left);
      }
    }
  }

  public List<CoreResult> join() throws Exception {
    return results.get();
  }

  /** All records of a core, its chunks found to be one whole stream; after the fleet's end. */
  public RecordBatch stream(String core) throws Exception {
    List<Chunk> all;
    synchronized (chunks) {
      all = List.copyOf(chunks.get(core));
    }
    return MemorySink.stream(all);
  }

  /** Stops every core and waits for its last chunk. */
  @Override
  public void close() {
    thread.interrupt();
    results.orTimeout(PATIENCE_MS, TimeUnit.MILLISECONDS).join();
  }
}
