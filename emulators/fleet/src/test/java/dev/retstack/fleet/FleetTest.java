package dev.retstack.fleet;

import static dev.retstack.fleet.MemorySink.stream;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.progress.FleetListener;
import dev.retstack.fleet.progress.FleetProgress;
import dev.retstack.fleet.publish.FileChunkSink;
import dev.retstack.fleet.zoo.EachIsa;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.file.TraceFileReader;
import dev.retstack.unicorn.Unicorn;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FleetTest {
  private static final List<String> PROGRAMS = List.of("sort", "longjmp", "deep", "w200");

  @TempDir Path folder;

  private static CoreOptions program(String... arguments) {
    List<String> argv = new ArrayList<>(List.of("zoo"));
    argv.addAll(Arrays.asList(arguments));
    return CoreOptions.of(LinuxOptions.of("zoo").withArguments(argv)).withRecordsPerChunk(100);
  }

  /** A core per ISA and program. */
  private static List<CoreSpec> cores(String... programs) {
    List<CoreSpec> cores = new ArrayList<>();
    for (LoadedImage image : EachIsa.images()) {
      for (String program : programs) {
        cores.add(new CoreSpec(image.elf().name() + "/" + program, image, program(program)));
      }
    }
    return cores;
  }

  @Test
  void streamsAreTheSameWhateverTheThreadsSlicesAndChunkSizes() throws Exception {
    List<CoreSpec> cores = new ArrayList<>();
    Map<String, Run> alone = new HashMap<>();
    for (LoadedImage image : EachIsa.images()) {
      int turn = alone.size() % PROGRAMS.size(); // one program an image, or all
      for (String program : EachIsa.ALL ? PROGRAMS : List.of(PROGRAMS.get(turn))) {
        cores.add(new CoreSpec(image.elf().name() + "/" + program, image, program(program)));
        alone.put(cores.getLast().name(), Run.of(image, program));
      }
    }
    for (int threads : new int[] {1, 2, 5}) {
      for (int payload : new int[] {200, FleetOptions.PAYLOAD_BYTES_MAX}) {
        if (!EachIsa.ALL && threads == 2 != (payload == 200)) {
          continue; // each number of threads once
        }
        MemorySink sink = new MemorySink();
        FleetOptions options =
            FleetOptions.standard()
                .withThreads(threads)
                .withSliceInstructions(threads * 777L)
                .withPayloadBytesMax(payload);
        List<CoreResult> results = Fleet.run(cores, options, sink, FleetListener.NONE);
        assertThat(results).hasSameSizeAs(cores).allMatch(CoreResult::ok);
        assertThat(sink.images).hasSize(EachIsa.images().size());
        for (CoreSpec core : cores) {
          Run run = alone.get(core.name());
          List<Chunk> chunks = sink.chunks.get(core.name());
          assertThat(stream(chunks)).isEqualTo(run.records());
          assertThat(chunks.getLast().getLastTime()).isEqualTo(run.instructions());
          assertThat(chunks.getLast().getEndDetail()).isEqualTo("exited with code 0");
        }
      }
    }
  }

  @Test
  void moreCoresThanBuffersSendTheSameStreams() throws Exception {
    LoadedImage image = Zoo.images().getFirst();
    List<CoreSpec> cores = new ArrayList<>();
    for (int i = 0; i < 130; i++) {
      CoreOptions options = program("w200", i < 2 ? "200" : "4").withRecordsPerChunk(16_384);
      cores.add(new CoreSpec("core-" + i, image, options));
    }
    MemorySink sink = new MemorySink();
    FleetOptions options = FleetOptions.standard().withThreads(2).withSliceInstructions(60_000);
    assertThat(Fleet.run(cores, options, sink, FleetListener.NONE)).allMatch(CoreResult::ok);

    Run few = Run.of(image, "w200", "4");
    Run many = Run.of(image, "w200", "200");
    for (CoreSpec core : cores) {
      boolean big =
          core.name().length() == "core-0".length() && core.name().compareTo("core-2") < 0;
      List<Chunk> chunks = sink.chunks.get(core.name());
      assertThat(stream(chunks)).isEqualTo(big ? many.records() : few.records());
      // what a core may keep for its next slice is not sent
      assertThat(chunks.subList(0, chunks.size() - 1)).allMatch(c -> c.getRecordCount() > 2048);
      assertThat(chunks.size() > 1).isEqualTo(big);
    }
  }

  @Test
  void aRecordedTraceHoldsImagesAndWholeStreams() throws Exception {
    Path file = folder.resolve("trace.avro");
    try (FileChunkSink sink = FileChunkSink.open(file)) {
      Fleet.run(cores("fib", "deep"), FleetOptions.standard(), sink, FleetListener.NONE);
    }
    Map<String, List<Chunk>> streams = new TreeMap<>();
    List<String> images = new ArrayList<>();
    try (TraceFileReader reader = TraceFileReader.open(file)) {
      for (TraceEntry entry = reader.next(); entry != null; entry = reader.next()) {
        if (entry.getImage() != null) {
          images.add(entry.getImage().getBuildId());
        } else if (entry.getChunk() != null) {
          Chunk chunk = entry.getChunk();
          assertThat(images).contains(chunk.getImage());
          streams.computeIfAbsent(chunk.getCore(), core -> new ArrayList<>()).add(chunk);
        }
      }
      assertThat(reader.truncated()).isFalse();
    }
    assertThat(images).hasSize(EachIsa.images().size());
    assertThat(streams).hasSize(2 * EachIsa.images().size());
    for (List<Chunk> chunks : streams.values()) {
      assertThat(stream(chunks).size()).isPositive();
    }
  }

  @Test
  void aCoreThatFailsEndsAloneAndProgressAddsUp() throws Exception {
    LoadedImage image = Zoo.images().getFirst();
    CoreOptions impossible =
        program("fib").withRam(List.of(new dev.retstack.machine.memory.Ram(0x100000, 0x1000)));
    List<CoreSpec> cores =
        List.of(
            new CoreSpec("bad", image, impossible),
            new CoreSpec("unknown", image, program("nothing")),
            new CoreSpec("good", image, program("fib")));
    MemorySink sink = new MemorySink();
    AtomicReference<FleetProgress> last = new AtomicReference<>();
    List<CoreResult> results =
        Fleet.run(
            cores,
            FleetOptions.standard(),
            sink,
            new FleetListener() {
              @Override
              public void progress(FleetProgress progress) {
                last.set(progress);
              }
            });
    Map<String, CoreResult> byName = new TreeMap<>();
    results.forEach(result -> byName.put(result.name(), result));
    assertThat(byName.get("bad").ending().end()).isEqualTo(CoreEnd.FAULTED);
    assertThat(byName.get("bad").ending().detail()).contains("overlaps");
    assertThat(sink.chunks.get("bad")).singleElement().satisfies(Chunks::check);
    assertThat(byName.get("unknown").ending().exitCode()).isEqualTo(127);
    assertThat(byName.get("unknown").ok()).isFalse();
    assertThat(byName.get("good").ok()).isTrue();
    assertThat(last.get().ended()).isEqualTo(3);
    assertThat(last.get().records())
        .isEqualTo(results.stream().mapToLong(CoreResult::records).sum());
    assertThat(last.get().instructions())
        .isEqualTo(results.stream().mapToLong(CoreResult::instructions).sum());
  }

  @Test
  void aRefusedChunkEndsItsCoreAndSaysSo() throws Exception {
    int engines = Unicorn.openEngines();
    MemorySink sink =
        new MemorySink() {
          @Override
          public void chunk(Chunk chunk) throws IOException, InterruptedException {
            if (chunk.getCore().contains("aarch64") && chunk.getSequence() == 1) {
              throw new IOException("disk full");
            }
            super.chunk(chunk);
          }
        };
    List<CoreResult> results =
        Fleet.run(cores("deep"), FleetOptions.standard(), sink, FleetListener.NONE);
    for (CoreResult result : results) {
      boolean broken = result.name().contains("aarch64");
      assertThat(result.ok()).isEqualTo(!broken);
      assertThat(result.undelivered()).isEqualTo(broken ? "disk full" : "");
    }
    assertThat(sink.chunks.get("zoo-aarch64-mcount.elf/deep")).hasSize(1);
    assertThat(Unicorn.openEngines()).isEqualTo(engines);
  }

  @Test
  void anInterruptedFleetEndsEveryCoreWithItsLastChunk() throws Exception {
    int engines = Unicorn.openEngines();
    CountDownLatch running = new CountDownLatch(1);
    MemorySink sink =
        new MemorySink() {
          @Override
          public void chunk(Chunk chunk) throws IOException, InterruptedException {
            super.chunk(chunk);
            running.countDown();
          }
        };
    List<CoreSpec> cores =
        Zoo.images().stream()
            .map(image -> new CoreSpec(image.elf().name(), image, program("fib", "40")))
            .toList();
    FleetOptions options = FleetOptions.standard().withThreads(2).withSliceInstructions(10_000);
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread fleet =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    Fleet.run(cores, options, sink, FleetListener.NONE);
                  } catch (Exception e) {
                    thrown.set(e);
                  }
                });
    running.await();
    fleet.interrupt();
    fleet.join();
    assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
    assertThat(sink.chunks).hasSize(cores.size());
    for (List<Chunk> chunks : sink.chunks.values()) {
      assertThat(chunks.getLast().getEnd()).isEqualTo(CoreEnd.STOPPED);
      assertThat(chunks.getLast().getEndDetail()).isEqualTo("stopped by the user");
      stream(chunks);
    }
    assertThat(Unicorn.openEngines()).isEqualTo(engines);
  }

  @Test
  void twoCoresOfOneNameAreRefused() {
    List<CoreSpec> cores = new ArrayList<>(cores("fib"));
    cores.add(cores.getFirst());
    assertThatThrownBy(
            () -> Fleet.run(cores, FleetOptions.standard(), new MemorySink(), FleetListener.NONE))
        .hasMessage("two cores are named zoo-x86_64-fentry.elf/fib");
  }
}
