package dev.retstack.fleet.isolate;

import static dev.retstack.fleet.MemorySink.stream;
import static dev.retstack.fleet.isolate.Isolation.program;
import static dev.retstack.fleet.isolate.Isolation.zoo;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.fleet.MemorySink;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.isolate.Isolation.Told;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.CoreEnd;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Cores in processes of their own, real ones. */
@Timeout(180)
class IsolatedFleetTest {
  @Test
  void recordsOutputAndEndsAreThoseOfCoresInThisProcess() throws Exception {
    List<CoreSpec> cores = new ArrayList<>();
    List<ByteArrayOutputStream> outputs = new ArrayList<>();
    for (LoadedImage image : Zoo.images().subList(0, 2)) {
      for (String program : List.of("sort", "hello", "nothing")) {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        outputs.add(output);
        CoreOptions options = program(program);
        cores.add(
            new CoreSpec(
                image.elf().name() + "/" + program,
                image,
                options.withLinux(
                    options
                        .linux()
                        .withStreams(java.io.InputStream.nullInputStream(), output, output))));
      }
    }
    MemorySink sink = new MemorySink();
    Told told = new Told();
    List<CoreResult> results = IsolatedFleet.run(cores, FleetOptions.standard(), 3, sink, told);
    assertThat(results).hasSameSizeAs(cores);
    assertThat(told.deaths).isEmpty();
    assertThat(told.pids).hasSize(2);
    assertThat(sink.images).hasSize(2);
    for (int i = 0; i < cores.size(); i++) {
      CoreSpec core = cores.get(i);
      Run alone = Run.of(core.image(), core.options().linux().arguments().getLast());
      CoreResult result =
          results.stream().filter(r -> r.name().equals(core.name())).findFirst().orElseThrow();
      assertThat(stream(sink.chunks.get(core.name()))).isEqualTo(alone.records());
      assertThat(outputs.get(i).toString(StandardCharsets.UTF_8)).isEqualTo(alone.output());
      assertThat(result.ending()).isEqualTo(alone.ending());
      assertThat(result.instructions()).isEqualTo(alone.instructions());
      assertThat(result.records()).isEqualTo(alone.records().size());
    }
    assertThat(told.progress.ended()).isEqualTo(cores.size());
    assertThat(told.progress.instructions())
        .isEqualTo(results.stream().mapToLong(CoreResult::instructions).sum());
  }

  @Test
  void anInterruptedFleetEndsEveryCoreWithItsLastChunkAndLeavesNoProcess() throws Exception {
    CountDownLatch running = new CountDownLatch(2);
    Told told = new Told();
    MemorySink sink =
        new MemorySink() {
          @Override
          public void chunk(Chunk chunk) throws IOException, InterruptedException {
            super.chunk(chunk);
            if (chunk.getSequence() == 0) {
              running.countDown();
            }
          }
        };
    List<CoreSpec> cores =
        List.of(
            new CoreSpec("a", zoo(0), program("fib", "40")),
            new CoreSpec("b", zoo(1), program("fib", "40")));
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread fleet =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    IsolatedFleet.run(cores, FleetOptions.standard(), 3, sink, told);
                  } catch (Exception e) {
                    thrown.set(e);
                  }
                });
    running.await();
    fleet.interrupt();
    fleet.join();
    assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
    assertThat(told.deaths).isEmpty();
    for (String core : List.of("a", "b")) {
      List<Chunk> chunks = sink.chunks.get(core);
      assertThat(chunks.getLast().getEnd()).isEqualTo(CoreEnd.STOPPED);
      assertThat(chunks.getLast().getEndDetail()).isEqualTo("stopped by the user");
      stream(chunks);
    }
    for (long pid : told.pids.values()) {
      assertThat(ProcessHandle.of(pid).filter(ProcessHandle::isAlive)).isEqualTo(Optional.empty());
    }
  }

  /** The refusal then finds nobody, and what the child said before is still to be read. */
  @Test
  @Timeout(120)
  void aChunkIsRefusedAfterItsProcessHasEnded() throws Exception {
    Told told = new Told();
    MemorySink sink =
        new MemorySink() {
          @Override
          public void chunk(Chunk chunk) throws IOException, InterruptedException {
            if (chunk.getSequence() == 1) {
              for (long pid : told.pids.values()) {
                ProcessHandle.of(pid).ifPresent(child -> child.onExit().join());
              }
              throw new IOException("disk full");
            }
            super.chunk(chunk);
          }
        };
    CoreSpec core = new CoreSpec("a", zoo(0), program("fib", "14"));
    List<CoreResult> results =
        IsolatedFleet.run(List.of(core), FleetOptions.standard(), 3, sink, told);
    assertThat(told.deaths).isEmpty();
    assertThat(results).extracting(CoreResult::undelivered).containsExactly("disk full");
    assertThat(sink.chunks.get("a")).hasSize(1);
  }

  @Test
  void aRefusedChunkEndsItsCoreOnly() throws Exception {
    MemorySink sink =
        new MemorySink() {
          @Override
          public void chunk(Chunk chunk) throws IOException, InterruptedException {
            if (chunk.getCore().equals("a") && chunk.getSequence() == 1) {
              throw new IOException("disk full");
            }
            super.chunk(chunk);
          }
        };
    List<CoreSpec> cores =
        List.of(
            new CoreSpec("a", zoo(0), program("fib", "20")),
            new CoreSpec("b", zoo(0), program("fib", "12")));
    Told told = new Told();
    List<CoreResult> results = IsolatedFleet.run(cores, FleetOptions.standard(), 3, sink, told);
    assertThat(told.deaths).isEmpty();
    assertThat(results)
        .filteredOn(result -> result.name().equals("a"))
        .singleElement()
        .satisfies(result -> assertThat(result.undelivered()).isEqualTo("disk full"));
    assertThat(results)
        .filteredOn(CoreResult::ok)
        .extracting(CoreResult::name)
        .containsExactly("b");
    assertThat(sink.chunks.get("a")).hasSize(1);
  }

  @Test
  void whatOneProcessDidNotReadIsLeftForTheNext() throws Exception {
    GuestInput input =
        new GuestInput(new ByteArrayInputStream("abc".getBytes(StandardCharsets.UTF_8)));
    HostProcess dead = HostProcess.start();
    dead.kill();
    dead.awaitEnd();
    input.ask(dead, 0, 100);
    input.forget();
    HostProcess next = HostProcess.start();
    input.ask(next, 0, 100); // would throw where the first request were still open
    next.kill();
    assertThat(next.awaitEnd()).isEqualTo("signal 9");
  }

  @Test
  void namesOfRestartsAreKeptFree() {
    List<CoreSpec> cores = List.of(new CoreSpec("a.restart-1", zoo(0), program("fib")));
    assertThatThrownBy(
            () ->
                IsolatedFleet.run(cores, FleetOptions.standard(), 1, new MemorySink(), new Told()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("a.restart-1");
  }
}
