package dev.retstack.fleet.isolate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.fleet.CoreResult;
import dev.retstack.fleet.CoreSpec;
import dev.retstack.fleet.FleetOptions;
import dev.retstack.fleet.FleetProgress;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.linux.LinuxOptions;
import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.Image;
import dev.retstack.schema.codec.Chunks;
import dev.retstack.schema.codec.RecordBatch;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Cores in processes of their own, real ones, some of which are killed. */
@Timeout(180)
class IsolatedFleetTest {
  /** Keeps what it is given, and may do something at a core's first chunk. */
  private static class MemorySink implements ChunkSink {
    final Map<String, Image> images = new ConcurrentHashMap<>();
    final Map<String, List<Chunk>> chunks = new ConcurrentHashMap<>();

    @Override
    public void image(Image image) {
      assertThat(images.put(image.getBuildId(), image)).isNull();
    }

    @Override
    public void chunk(Chunk chunk) throws IOException, InterruptedException {
      chunks.computeIfAbsent(chunk.getCore(), _ -> new CopyOnWriteArrayList<>()).add(chunk);
    }

    @Override
    public void close() {}
  }

  private static final class Told implements IsolateListener {
    final Map<String, Long> pids = new ConcurrentHashMap<>();
    final List<ProcessDeath> deaths = new CopyOnWriteArrayList<>();
    volatile FleetProgress progress;

    @Override
    public void processStarted(long pid, String image) {
      pids.put(image, pid);
    }

    @Override
    public void processDied(ProcessDeath death) {
      deaths.add(death);
    }

    @Override
    public void progress(FleetProgress now) {
      progress = now;
    }
  }

  private static CoreOptions program(String... arguments) {
    List<String> argv = new ArrayList<>(List.of("zoo"));
    argv.addAll(List.of(arguments));
    return CoreOptions.of(LinuxOptions.of("zoo").withArguments(argv)).withRecordsPerChunk(1_000);
  }

  private static LoadedImage zoo(int number) {
    return Zoo.images().get(number);
  }

  /** Checks that chunks are a whole stream; returns its records. */
  private static RecordBatch stream(List<Chunk> chunks) throws Exception {
    RecordBatch all = new RecordBatch(chunks.stream().mapToInt(Chunk::getRecordCount).sum());
    for (int i = 0; i < chunks.size(); i++) {
      Chunk chunk = chunks.get(i);
      assertThat(chunk.getSequence()).isEqualTo(i);
      assertThat(chunk.getRecordsBefore()).isEqualTo(all.size());
      assertThat(chunk.getEnd() != CoreEnd.RUNNING).isEqualTo(i == chunks.size() - 1);
      RecordBatch batch = Chunks.decode(chunk);
      for (int r = 0; r < batch.size(); r++) {
        all.add(
            batch.kind[r],
            batch.time[r],
            batch.depth[r],
            batch.selfPc[r],
            batch.fromPc[r],
            batch.retP[r],
            batch.fp[r]);
      }
    }
    return all;
  }

  private static void signal(String name, long pid) {
    try {
      assertThat(new ProcessBuilder("kill", "-" + name, String.valueOf(pid)).start().waitFor())
          .isZero();
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Kills the child of a core at the first chunk of the core. */
  private static MemorySink killing(String core, String signal, Told told, LoadedImage image) {
    return new MemorySink() {
      @Override
      public void chunk(Chunk chunk) throws IOException, InterruptedException {
        super.chunk(chunk);
        if (chunk.getCore().equals(core) && chunk.getSequence() == 0) {
          long pid = told.pids.get(image.elf().name());
          Optional<ProcessHandle> process = ProcessHandle.of(pid);
          signal(signal, pid);
          process.ifPresent(p -> p.onExit().join()); // nobody reads its pipe meanwhile
        }
      }
    };
  }

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
  void aCrashEndsTheCoresOfItsImageWithALastChunkAndTheyStartAgain() throws Exception {
    LoadedImage crashing = zoo(0);
    LoadedImage other = zoo(1);
    // more chunks than a pipe holds, so that no core can end before the signal does its work
    CoreOptions fib = program("fib", "24");
    List<CoreSpec> cores =
        List.of(
            new CoreSpec("a", crashing, fib),
            new CoreSpec("b", crashing, fib),
            new CoreSpec("c", other, fib));
    Told told = new Told();
    MemorySink sink = killing("a", "SEGV", told, crashing);
    FleetOptions options = FleetOptions.standard().withSliceInstructions(20_000);
    List<CoreResult> results = IsolatedFleet.run(cores, options, 3, sink, told);

    ProcessDeath death = told.deaths.getFirst();
    assertThat(told.deaths).hasSize(1);
    assertThat(death.image()).isEqualTo(crashing.elf().name());
    assertThat(death.reason()).startsWith("signal 11 (SIGSEGV)");
    assertThat(death.cores()).contains("a").isSubsetOf("a", "b");
    assertThat(death.restarted())
        .isEqualTo(death.cores().stream().map(name -> name + ".restart-1").toList());

    RecordBatch whole = Run.of(crashing, "fib", "24").records();
    for (String core : death.cores()) {
      List<Chunk> chunks = sink.chunks.get(core);
      Chunk last = chunks.getLast();
      assertThat(last.getEnd()).isEqualTo(CoreEnd.FAULTED);
      assertThat(last.getEndDetail()).startsWith("emulator process died: signal 11 (SIGSEGV)");
      assertThat(last.getRecordCount()).isZero();
      RecordBatch came = stream(chunks);
      assertThat(came.size()).isLessThan(whole.size());
      for (int i = 0; i < came.size(); i++) {
        assertThat(came.time[i]).isEqualTo(whole.time[i]);
        assertThat(came.selfPc[i]).isEqualTo(whole.selfPc[i]);
      }
      assertThat(stream(sink.chunks.get(core + ".restart-1"))).isEqualTo(whole);
    }
    assertThat(stream(sink.chunks.get("c"))).isEqualTo(Run.of(other, "fib", "24").records());
    assertThat(sink.chunks).hasSize(3 + death.cores().size());
    assertThat(results).hasSize(3 + death.cores().size());
    assertThat(results.stream().filter(CoreResult::ok).count()).isEqualTo(3);
    assertThat(results.stream().mapToLong(CoreResult::records).sum())
        .isEqualTo(
            sink.chunks.values().stream()
                .flatMap(List::stream)
                .mapToLong(Chunk::getRecordCount)
                .sum());
  }

  /**
   * An s390x guest that sets the clock: SCK kills the process of the engine (Unicorn 2.1.4). The
   * fleet outlives it, and so do cores of other images.
   */
  @Test
  void aGuestThatKillsItsEmulatorKillsNothingElse(@TempDir Path folder) throws Exception {
    LoadedImage good = zoo(0);
    LoadedImage bad = withSckIn("run_sort", folder.resolve("bad.elf"));
    List<CoreSpec> cores =
        List.of(
            new CoreSpec(
                "bad", bad, CoreOptions.of(LinuxOptions.of("zoo")).withRecordsPerChunk(64)),
            new CoreSpec("good", good, program("sort")));
    MemorySink sink = new MemorySink();
    Told told = new Told();
    List<CoreResult> results = IsolatedFleet.run(cores, FleetOptions.standard(), 1, sink, told);
    assertThat(told.deaths).hasSize(2);
    assertThat(told.deaths)
        .allSatisfy(
            death ->
                assertThat(death.reason()).matches("signal 11 \\(SIGSEGV\\) in libunicorn\\S+"));
    assertThat(results)
        .extracting(CoreResult::name)
        .containsExactlyInAnyOrder("bad", "bad.restart-1", "good");
    assertThat(results).filteredOn(CoreResult::ok).extracting(CoreResult::name).contains("good");
    assertThat(stream(sink.chunks.get("bad")).size()).isPositive();
    assertThat(stream(sink.chunks.get("bad.restart-1"))).isEqualTo(stream(sink.chunks.get("bad")));
    assertThat(stream(sink.chunks.get("good"))).isEqualTo(Run.of(good, "sort").records());
  }

  private static LoadedImage withSckIn(String function, Path file) throws IOException {
    LoadedImage image =
        Zoo.images().stream()
            .filter(i -> i.elf().name().equals("zoo-s390x-mcount.elf"))
            .findFirst()
            .orElseThrow();
    byte[] code = new byte[32];
    image
        .elf()
        .memory(image.elf().symbol(function).orElseThrow().address(), code.length)
        .orElseThrow()
        .get(code);
    byte[] bytes = Files.readAllBytes(image.elf().file().orElseThrow());
    int at = 0;
    while (!Arrays.equals(bytes, at, at + code.length, code, 0, code.length)) {
      at++;
    }
    byte[] sck = HexFormat.of().parseHex("b204f0000700"); // sck 0(%r15); nopr
    System.arraycopy(sck, 0, bytes, at, sck.length);
    return LoadedImage.load(Files.write(file, bytes));
  }

  @Test
  void restartsAreBounded() throws Exception {
    Told told = new Told();
    MemorySink sink =
        new MemorySink() {
          @Override
          public void chunk(Chunk chunk) throws IOException, InterruptedException {
            super.chunk(chunk);
            if (chunk.getSequence() == 0 && chunk.getEnd() == CoreEnd.RUNNING) {
              signal("KILL", told.pids.get(zoo(0).elf().name()));
            }
          }
        };
    List<CoreSpec> cores = List.of(new CoreSpec("a", zoo(0), program("fib", "40")));
    List<CoreResult> results = IsolatedFleet.run(cores, FleetOptions.standard(), 2, sink, told);
    assertThat(results)
        .extracting(CoreResult::name)
        .containsExactly("a", "a.restart-1", "a.restart-2");
    assertThat(results)
        .allSatisfy(
            result ->
                assertThat(result.ending().detail()).isEqualTo("emulator process died: signal 9"));
    assertThat(told.deaths.getLast().restarted()).isEmpty();
    for (List<Chunk> chunks : sink.chunks.values()) {
      assertThat(stream(chunks).size()).isPositive();
    }
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
